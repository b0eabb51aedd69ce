"""The restricted master of column generation: which patterns are known, and the linear program over them.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p pattern[p, c] x[p] >= counts[c]                    for each class c
                low[g] <= sum_p weight[g, type p] x[p] <= high[g]        for each group g of machine types
                x >= 0

A group limits how much of some machine types is rented: each machine type is a group, with weight 1, and so is each machine
family, with its types' prices divided by their greatest common divisor as weights. These rows bind only in branches.
They cost pricing nothing, since they only shift the price of a type. Money is in dollars here, for the solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.instances import exact
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

MICRO = 1e6


def group_weights(instance: ProvisioningInstance) -> IntArray:
    """(G, K) int64: the weight of each machine type in each group, families first, then the types themselves."""
    families = [instance.type2family == f for f in range(len(instance.families))]
    rows = [
        np.where(member, instance.price // np.gcd.reduce(instance.price[member]), 0)
        for member in families
        if member.any()
    ]
    return np.vstack((*rows, np.eye(instance.num_types, dtype=np.int64)))


class Master:
    """Patterns found so far and their linear program.

    machine_type : (P,) int64. patterns : (P, C) int64. weights : (G, K) int64. low, high : (G,) float64.
    """

    def __init__(self, instance: ProvisioningInstance, *, threads: int = 1) -> None:
        self.instance = instance
        self.weights = group_weights(instance)
        num_groups = self.weights.shape[0]
        self.low, self.high = np.full(num_groups, -np.inf), np.full(num_groups, np.inf)
        self._types: list[int] = []
        self._patterns: list[IntArray] = []
        self._left = instance.counts
        self._known: set[bytes] = set()
        self._lp = GrowingLp(
            np.concatenate((instance.counts, self.low)),
            np.concatenate((np.full(instance.num_classes, np.inf), self.high)),
            threads=threads,
        )
        self._add_slack(num_groups)

    @property
    def machine_type(self) -> IntArray:
        """(P,) int64: the machine type of each pattern."""
        return np.array(self._types, np.int64)

    @property
    def patterns(self) -> IntArray:
        """(P, C) int64: the tasks of each class in each pattern."""
        return np.array(self._patterns, np.int64).reshape(-1, self.instance.num_classes)

    @property
    def num_patterns(self) -> int:
        """Number of patterns."""
        return len(self._types)

    def pattern(self, p: int) -> IntArray:
        """(C,) int64: one pattern."""
        return self._patterns[p]

    def type_of(self, p: int) -> int:
        """Return the machine type of one pattern."""
        return self._types[p]

    def add(self, machine_type: IntArray, patterns: IntArray) -> int:
        """Add patterns that are not known yet; returns how many were new."""
        new: list[int] = []
        for i, k in enumerate(machine_type.tolist()):
            key = k.to_bytes(4, "little") + patterns[i].tobytes()
            if key not in self._known and patterns[i].any():
                self._known.add(key)
                new.append(i)
        if new:
            types, rows = machine_type[new], np.array(patterns[new])
            self._types += types.tolist()
            self._patterns += list(rows)
            columns = np.hstack((rows, self.weights[:, types].T))
            self._lp.add_columns(self.instance.price[types] / MICRO, columns.astype(np.float64))
            self._bound_columns(np.arange(len(self._types) - len(new), len(self._types)))
        return len(new)

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the groups' limits."""
        for g in np.flatnonzero((low != self.low) | (high != self.high)):
            self._lp.set_row_bounds(self.instance.num_classes + int(g), float(low[g]), float(high[g]))
        self.low, self.high = low.copy(), high.copy()

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; `x` holds the patterns only. None if the limit was hit."""
        solution = self._lp.solve(time_limit_s)
        if solution is None:
            return None
        return type(solution)(solution.objective, solution.x[self._num_slack :], solution.row_duals)

    def restrict(self, left: IntArray) -> None:
        """Ask only for `left` (C,) tasks of each class, with patterns that have at most so many."""
        for c in np.flatnonzero(left != self._left):
            self._lp.set_row_bounds(int(c), float(left[c]), np.inf)
        self._left = left.copy()
        self._bound_columns(np.arange(len(self._types)))

    def solve_integer(self, time_limit_s: float, cutoff: int) -> Provisioning | None:
        """Return the best solution of the known patterns, within the limits, cheaper than `cutoff` micro-dollars; or None.

        The patterns may cover a class too often; surplus tasks are taken off again.
        """
        types, patterns = self.machine_type, self.patterns
        lp = GrowingLp(
            np.concatenate((self.instance.counts, self.low)),
            np.concatenate((np.full(self.instance.num_classes, np.inf), self.high)),
        )
        columns = np.hstack((patterns, self.weights[:, types].T))
        lp.add_columns(self.instance.price[types] / MICRO, columns.astype(np.float64))
        found = lp.solve_integer(time_limit_s, cutoff=(cutoff - 0.5) / MICRO)
        if found is None:
            return None
        repeat = np.rint(found).astype(np.int64)
        # A solver takes a row for kept that misses a side of many tasks by a few.
        if (exact.dot(repeat, patterns) < self.instance.counts).any():
            return None
        return Provisioning.from_cover(self.instance, types, repeat, patterns)

    def _bound_columns(self, index: IntArray) -> None:
        """Forbid the patterns that hold more tasks of a class than are left."""
        patterns = np.array([self._patterns[p] for p in index.tolist()]).reshape(-1, self.instance.num_classes)
        upper = np.where((patterns <= self._left).all(axis=1), np.inf, 0.0)
        self._lp.set_column_upper(index + self._num_slack, upper)

    def _add_slack(self, num_groups: int) -> None:
        """Add columns that break a class's or a group's row at a high price: the program is never infeasible."""
        num_classes = self.instance.num_classes
        penalty = 10 * float(self.instance.price.max()) / MICRO
        ones = np.eye(num_classes + num_groups)
        columns = np.vstack((ones, -ones[num_classes:]))
        self._num_slack = columns.shape[0]
        self._lp.add_columns(np.full(self._num_slack, penalty), columns)
