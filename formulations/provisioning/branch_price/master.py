"""The restricted master of a node: known contents, the linear program over them, and its cuts.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p content[p, i] x[p] >= counts[i]                                  for each item i
                sum_p floor(numerators[q] @ content[p] / divisor[q]) x[p] <= most[q]   for each cut q
                x >= 0

Money is in dollars here, for the solver.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.formulations.provisioning.branch_price.pricing import Cut
    from schedgap.formulations.provisioning.branch_price.program import Program
    from schedgap.instances.arrays import FloatArray, IntArray

MICRO = 1e6


class Master:
    """Contents found so far, (P, n) int64, their types, (P,) int64, and the linear program over them."""

    def __init__(self, program: Program, *, threads: int = 1) -> None:
        self.program, self.threads = program, threads
        self.cuts: list[Cut] = []
        self.left = program.counts
        self._contents: list[IntArray] = []
        self._types: list[int] = []
        self._known: set[bytes] = set()
        self._build()

    def _build(self) -> None:
        """Make the linear program anew; its first columns cover an item each, at more than any machine's price."""
        num, instance = self.program.num_items, self.program.instance
        most = np.array([cut.most for cut in self.cuts], np.float64)
        self._lp = GrowingLp(
            np.concatenate((self.left.astype(np.float64), np.full(most.shape[0], -np.inf))),
            np.concatenate((np.full(num, np.inf), most)),
            threads=self.threads,
        )
        slack = np.hstack((np.eye(num), np.zeros((num, most.shape[0]))))
        self._lp.add_columns(np.full(num, 10 * float(instance.price.max()) / MICRO), slack)
        self._add_columns(0)

    def _add_columns(self, first: int) -> None:
        contents = np.array(self._contents[first:], np.int64).reshape(-1, self.program.num_items)
        if contents.shape[0] == 0:
            return
        parts = [contents @ cut.numerators // cut.divisor for cut in self.cuts]
        columns = np.column_stack((contents, *parts)).astype(np.float64)
        upper = np.where((contents <= self.left).all(axis=1), np.inf, 0.0)
        self._lp.add_columns(self.program.instance.price[self._types[first:]] / MICRO, columns, upper)

    @property
    def num_contents(self) -> int:
        """Number of contents."""
        return len(self._types)

    @property
    def contents(self) -> IntArray:
        """(P, n) int64: how many of each item."""
        return np.array(self._contents, np.int64).reshape(-1, self.program.num_items)

    @property
    def types(self) -> IntArray:
        """(P,) int64: the machine type of each content."""
        return np.array(self._types, np.int64)

    def machine(self, p: int) -> tuple[int, IntArray]:
        """Return the type of a known content, and the content."""
        return self._types[p], self._contents[p]

    def add(self, machines: Iterable[tuple[int, IntArray]]) -> int:
        """Add contents that are not known yet; returns how many were new."""
        before = len(self._types)
        for k, content in machines:
            key = k.to_bytes(4, "little") + content.tobytes()
            if key not in self._known and content.any():
                self._known.add(key)
                self._types.append(k)
                self._contents.append(content)
        self._add_columns(before)
        return len(self._types) - before

    def cut(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        self.cuts += cuts
        self._build()

    def restrict(self, left: IntArray) -> None:
        """Ask only for `left` (n,) of each item, by contents that have at most so many."""
        for i in np.flatnonzero(left != self.left):
            self._lp.set_row_bounds(int(i), float(left[i]), np.inf)
        self.left = left.copy()
        upper = np.where((self.contents <= left).all(axis=1), np.inf, 0.0)
        self._lp.set_column_upper(np.arange(upper.shape[0]) + self.program.num_items, upper)

    def relax_cuts(self, used: FloatArray | None) -> None:
        """Leave the cuts (Q,) so much less than their most, or their most again for None."""
        for q, cut in enumerate(self.cuts):
            most = cut.most - (0.0 if used is None else float(used[q]))
            self._lp.set_row_bounds(self.program.num_items + q, -np.inf, most)

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; `x` holds the contents only. None if the limit was hit."""
        found = self._lp.solve(time_limit_s)
        if found is None:
            return None
        return type(found)(found.objective, found.x[self.program.num_items :], found.row_duals)


def rounded_up(dollars: float, step: int) -> int:
    """Return micro-dollars: an amount near `dollars` rounded up to whole steps, with a solver's tolerance taken off."""
    return math.ceil(dollars * MICRO / step - 1e-6) * step
