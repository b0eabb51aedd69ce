"""The restricted master of column generation: which patterns are known, and the linear program over them.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p pattern[p, c] x[p] >= counts[c]                    for each class c
                low[g] <= sum_p weight[g, type p] x[p] <= high[g]        for each group g of machine types
                low[f, c] <= sum_{p: type p in f} pattern[p, c] x[p] <= high[f, c]     for each share: family f, class c
                x >= 0

A group limits how much of some machine types is rented: each machine type is a group, with weight 1, and so is each machine
family, with its types' prices divided by their greatest common divisor as weights. A share is how many tasks of a class
are on machines of a family. These rows bind only in branches. They cost pricing nothing: groups shift the price of a type,
shares what a class is worth on a family. Money is in dollars here, for the solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.instances import exact
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# What it costs to break a limit, or to leave a task out, in prices of the dearest machine. A branch without solutions
# often breaks a limit by a thousandth of a machine only.
LIMIT_PENALTY, TASK_PENALTY = 1_000.0, 10.0


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

    machine_type : (P,) int64. patterns : (P, C) int64. weights : (G, K) int64. low, high : (G + S,) float64, of the groups
    and then of the S = F C shares, families outermost; without `has_shares` S is 0.
    """

    def __init__(self, instance: ProvisioningInstance, *, has_shares: bool = False) -> None:
        self.instance, self.has_shares = instance, has_shares
        self.weights = group_weights(instance)
        num_limits = self.weights.shape[0] + has_shares * len(instance.families) * instance.num_classes
        self.low, self.high = np.full(num_limits, -np.inf), np.full(num_limits, np.inf)
        self._types: list[int] = []
        self._patterns: list[IntArray] = []
        self._left = instance.counts
        self._known: set[bytes] = set()
        self._lp = GrowingLp(*self._sides())
        self._add_slack(num_limits)

    def _sides(self) -> tuple[FloatArray, FloatArray]:
        most = np.full(self.instance.num_classes, np.inf)
        return np.concatenate((self.instance.counts, self.low)), np.concatenate((most, self.high))

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

    def amounts(self, machine_type: IntArray, patterns: IntArray) -> IntArray:
        """(n, G + S) int64: what one machine of each of n types and patterns adds to the groups and shares."""
        groups = self.weights[:, machine_type].T
        if not self.has_shares:
            return groups
        family = self.instance.type2family[machine_type]
        shares = np.zeros((family.shape[0], len(self.instance.families), self.instance.num_classes), np.int64)
        shares[np.arange(family.shape[0]), family] = patterns
        return np.hstack((groups, shares.reshape(family.shape[0], -1)))

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
            columns = np.hstack((rows, self.amounts(types, rows)))
            self._lp.add_columns(self.instance.price[types] / DOLLAR, columns.astype(np.float64))
            self._bound_columns(np.arange(len(self._types) - len(new), len(self._types)))
        return len(new)

    def rented(self, x: FloatArray) -> FloatArray:
        """(G + S,) float64: what the last solution, of patterns `x` (P,), adds to the groups and shares."""
        types, patterns = self.machine_type[: x.shape[0]], self.patterns[: x.shape[0]]
        used = np.flatnonzero(x)
        rented: FloatArray = x[used] @ self.amounts(types[used], patterns[used])
        rented[: self.weights.shape[0]] += self.weights @ self._empty
        return rented

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of groups and shares."""
        for g in np.flatnonzero((low != self.low) | (high != self.high)):
            self._lp.set_row_bounds(self.instance.num_classes + int(g), float(low[g]), float(high[g]))
        self.low, self.high = low.copy(), high.copy()

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; `x` holds the patterns only. None if the limit was hit."""
        solution = self._lp.solve(time_limit_s)
        if solution is None:
            return None
        self._empty = solution.x[self._num_slack - self.instance.num_types : self._num_slack]
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
        lp = GrowingLp(*self._sides())
        columns = np.hstack((patterns, self.amounts(types, patterns)))
        lp.add_columns(self.instance.price[types] / DOLLAR, columns.astype(np.float64))
        found = lp.solve_integer(time_limit_s, cutoff=(cutoff - 0.5) / DOLLAR)
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

    def _add_slack(self, num_limits: int) -> None:
        """Add columns that break a class's row or a limit at a high price, so that the program is never infeasible.

        With them empty machines: a limit from below must not be worth more than one.
        """
        num_classes = self.instance.num_classes
        ones = np.eye(num_classes + num_limits)
        columns = np.vstack((ones, -ones[num_classes:]))
        penalty = np.full(columns.shape[0], LIMIT_PENALTY)
        penalty[:num_classes] = TASK_PENALTY
        self._lp.add_columns(penalty * float(self.instance.price.max()) / DOLLAR, columns)
        num_types = self.instance.num_types
        empty = np.zeros((num_types, num_classes + num_limits))
        empty[:, num_classes : num_classes + self.weights.shape[0]] = self.weights.T
        self._lp.add_columns(self.instance.price / DOLLAR, empty)
        self._num_slack = columns.shape[0] + num_types
