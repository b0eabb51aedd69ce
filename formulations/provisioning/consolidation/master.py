"""The restricted master of a cluster's repacking: contents of kinds of machines, and the linear program over them.

    minimise    sum_p price[kind p] x[p]                                    x[p] >= 0: machines with content p
    subject to  sum_p content[p, c] x[p] >= counts[c]                       for each class c            dual u
                sum_p stay[p] x[p] >= stay                                  tasks that stay             dual m
                sum_{p of group g} x[p] <= size[g]                          running machines alike
                sum_{p of type k} x[p] <= stock[k]                          where there is a stock      dual -s

For any u, m, s >= 0, every plan costs at least

    sum_c counts[c] u[c] + m stay - sum_k stock[k] s[k] + sum_j limit[j] min(0, price[j] + s[type j] - worth[j])

where worth[j] is the most that a content of kind j is worth at u, and at u + m for tasks that stay. Kinds without a limit
need price >= worth: all duals are scaled down until it is so. Whole numbers and fractions of them throughout.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.consolidation.kinds import Kinds
    from schedgap.instances.arrays import FloatArray, IntArray


class Master:
    """Contents found so far and their linear program; duals are (C + 1 + L,): classes, staying, stocks."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds, self.instance = kinds, kinds.instance
        self.num_classes = self.instance.num_classes
        self.limited = np.flatnonzero(kinds.limit[: kinds.num_types] != ANY_NUMBER)
        self.stock = kinds.limit[self.limited]
        # Row of the stock of each kind's type, -1 for none.
        place = np.full(kinds.num_types, -1)
        place[self.limited] = np.arange(self.limited.size)
        self.stock_of: IntArray = place[kinds.machine_type]
        self.sizes = kinds.limit[kinds.num_types :]
        self._kind: list[int] = []
        self._content: list[IntArray] = []
        self._known: set[bytes] = set()
        self._lp = GrowingLp(*self._sides())
        slack = np.zeros((self.num_classes + 1, self.num_rows))
        slack[np.arange(self.num_classes + 1), np.arange(self.num_classes + 1)] = 1.0
        # Leaving a task out, or moving one too many, costs more than any machine.
        self._lp.add_columns(np.full(slack.shape[0], 10 * float(self.instance.price.max()) / DOLLAR), slack)
        self._num_slack = slack.shape[0]

    @property
    def num_rows(self) -> int:
        """Rows: classes, staying, stocks, groups."""
        return self.num_classes + 1 + self.limited.size + self.sizes.size

    @property
    def kind(self) -> IntArray:
        """(P,) int64: the kind of each content."""
        return np.array(self._kind, np.int64)

    @property
    def content(self) -> IntArray:
        """(P, C) int64: the tasks of each class in each content."""
        return np.array(self._content, np.int64).reshape(-1, self.num_classes)

    def _sides(self) -> tuple[FloatArray, FloatArray]:
        low = np.concatenate(
            (self.instance.counts, [self.kinds.stay], np.full(self.num_rows - self.num_classes - 1, -np.inf))
        )
        high = np.concatenate((np.full(self.num_classes + 1, np.inf), self.stock, self.sizes))
        return low.astype(np.float64), high.astype(np.float64)

    def columns(self, kind: IntArray, content: IntArray) -> FloatArray:
        """(P, rows) float64: the columns of contents (P, C) of kinds (P,)."""
        columns = np.zeros((kind.size, self.num_rows))
        columns[:, : self.num_classes] = content
        columns[:, self.num_classes] = self.kinds.staying(kind, content).sum(axis=1)
        which = np.flatnonzero(self.stock_of[kind] >= 0)
        columns[which, self.num_classes + 1 + self.stock_of[kind[which]]] = 1.0
        which = np.flatnonzero(kind >= self.kinds.num_types)
        first = self.num_classes + 1 + self.limited.size - self.kinds.num_types
        columns[which, first + kind[which]] = 1.0
        return columns

    def add(self, kind: IntArray, content: IntArray) -> int:
        """Add contents that are not known yet; returns how many were new."""
        new = []
        for i, j in enumerate(kind.tolist()):
            key = j.to_bytes(8, "little") + content[i].tobytes()
            if key not in self._known and content[i].any():
                self._known.add(key)
                new.append(i)
        if new:
            self._kind += kind[new].tolist()
            self._content += list(content[new])
            self._lp.add_columns(self.price(kind[new]), self.columns(kind[new], content[new]))
        return len(new)

    def price(self, kind: IntArray) -> FloatArray:
        """(P,) float64, dollars per hour: what a machine of each kind (P,) costs."""
        return np.asarray(self.instance.price[self.kinds.machine_type[kind]] / DOLLAR, np.float64)

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; None at the limit. `x` holds the contents only."""
        found = self._lp.solve(time_limit_s)
        return None if found is None else type(found)(found.objective, found.x[self._num_slack :], found.row_duals)

    def solve_integer(self, time_limit_s: float, cutoff: int | None, threads: int) -> IntArray | None:
        """Return machines (P,) of the best plan of the known contents, cheaper than `cutoff` micro-dollars; or None."""
        kind, content = self.kind, self.content
        if kind.size == 0:
            return None
        lp = GrowingLp(*self._sides())
        lp.add_columns(self.price(kind), self.columns(kind, content))
        most = math.inf if cutoff is None else (cutoff - 0.5) / DOLLAR
        found = lp.solve_integer(time_limit_s, cutoff=most, threads=threads)
        return None if found is None else np.rint(found).astype(np.int64)

    def proven(self, values: IntArray, stay: int, stocks: IntArray, worth: IntArray) -> int:
        """Return the bound, micro-dollars, that duals in nano-dollars prove.

        values : (C,) of the classes. stay : for a task that stays. stocks : (L,), what a machine of a limited type costs
        beyond its price. worth : (J,), the most that a content of each kind is worth.
        """
        kinds = self.kinds
        price = [int(p) * NANO for p in self.instance.price[kinds.machine_type]]
        extra = [0 if row < 0 else int(stocks[row]) for row in self.stock_of]
        free = [j for j in range(kinds.num_types) if kinds.limit[j] == ANY_NUMBER and int(worth[j]) > price[j]]
        share = min((Fraction(price[j], int(worth[j])) for j in free), default=Fraction(1))
        total = int(values.astype(object) @ self.instance.counts) + stay * kinds.stay
        total -= sum(int(s) * int(n) for s, n in zip(stocks, self.stock, strict=True))
        bound = share * total
        for j, limit in enumerate(kinds.limit.tolist()):
            if limit != ANY_NUMBER:
                bound += limit * min(Fraction(0), price[j] + share * (extra[j] - int(worth[j])))
        step = price_step(self.instance) * NANO
        return max(0, math.ceil(bound / step)) * price_step(self.instance)
