"""The program over ends of parts (jobs) alone: what they pay for room by prices, and no more than all room is worth.

Variables   z[p, t] whether part p has not ended by slot t, from its earliest end on
Minimise    sum over p of earliest end + sum of z[p, t] - release
Rows        z[p, t] >= z[p, t + 1];  sum over p of P(p, end of p) <= L for each row of prices
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """price : (P, H + 2) int64, what a part pays if it ends in a slot. limit : what all pay at most."""

    price: IntArray
    limit: int

    def allows(self, ends: IntArray) -> bool:
        """Whether parts may end so. ends : (P,) int64."""
        return int(self.price[np.arange(ends.shape[0]), ends].sum()) <= self.limit


def ends_program(rows: list[Row], earliest: IntArray, at: IntArray) -> LinearModel:
    """Return the program over ends. at : (P + 1,) int64, where the columns of each part begin, and end."""
    number = int(at[-1])
    owner = np.repeat(np.arange(earliest.shape[0]), np.diff(at))
    slot = np.arange(number) - at[owner] + earliest[owner]
    follows = np.flatnonzero(owner[1:] == owner[:-1])
    all_rows, each = Rows(number), np.arange(follows.shape[0])
    all_rows.add("later", (each, follows, 1.0), (each, follows + 1, -1.0), lower=np.zeros(each.shape[0]))
    for row in rows:
        saved = row.price[owner, slot] - row.price[owner, slot + 1]
        needed = int(row.price[np.arange(earliest.shape[0]), earliest].sum()) - row.limit
        all_rows.add("room", (0, np.arange(number), saved), lower=np.array([needed]))
    return all_rows.model("time-indexed-ends", np.ones(number), np.ones(number), 1)
