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

from schedgap.formulations.column_generation.master import Master
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.consolidation.kinds import Kinds
    from schedgap.instances.arrays import BoolArray, IntArray


class ClusterMaster(Master):
    """Contents found so far; duals are (C + 1 + L + G,): classes, staying, stocks, groups."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds, self.instance = kinds, kinds.instance
        self.limited = np.flatnonzero(kinds.limit[: kinds.num_types] != ANY_NUMBER)
        self.stock = kinds.limit[self.limited]
        # Row of the stock of each kind's type, -1 for none.
        place = np.full(kinds.num_types, -1)
        place[self.limited] = np.arange(self.limited.size)
        self.stock_of: IntArray = place[kinds.machine_type]
        most = np.concatenate(([np.inf], self.stock, kinds.limit[kinds.num_types :]))
        least = np.concatenate(([float(kinds.stay)], np.full(most.shape[0] - 1, -np.inf)))
        super().__init__(self.instance.price[kinds.machine_type], self.instance.counts, least, most)

    def others(self, kind: IntArray, patterns: IntArray) -> IntArray:
        """(m, 1 + L + G) int64: the tasks that stay, and one machine of the stock and of the group that are used."""
        rows = np.zeros((kind.size, self.low.shape[0]), np.int64)
        rows[:, 0] = self.kinds.staying(kind, patterns).sum(axis=1)
        which = np.flatnonzero(self.stock_of[kind] >= 0)
        rows[which, 1 + self.stock_of[kind[which]]] = 1
        which = np.flatnonzero(kind >= self.kinds.num_types)
        rows[which, 1 + self.limited.size - self.kinds.num_types + kind[which]] = 1
        return rows

    def allows(self, patterns: IntArray) -> BoolArray:
        """(m,) all: classes may be covered too often, `plan_of` takes off what is too much."""
        return np.ones(patterns.shape[0], np.bool_)

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
