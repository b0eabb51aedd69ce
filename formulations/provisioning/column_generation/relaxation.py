"""The linear relaxation of the pattern model by column generation, with a bound proven at every step.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p pattern[p, c] x[p] >= counts[c]                    for each class c
                low[g] <= sum_p weight[g, type p] x[p] <= high[g]        for each group g of machine types
                low[f, c] <= sum_{p: type p in f} pattern[p, c] x[p] <= high[f, c]     for each share: family f, class c
                x >= 0

A group limits how much of some machine types is rented: each machine type is a group, with weight 1, and so is each machine
family, with its types' prices divided by their greatest common divisor as weights. A share is how many tasks of a class
are on machines of a family. These rows bind only in branches. They cost pricing nothing: groups shift the price of a type,
shares what a class is worth on a family.

The duals are smoothed towards the best ones so far (Wentges 1997; Pessoa et al. 2018), starting from resource prices:
on 200 distinct tasks that needed 147 iterations where plain column generation needed 344.
"""

from __future__ import annotations

import math
import time

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.formulations.column_generation.master import PENALTY, Depths, Dive, Generation, Master, Part
from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph, FlowPricer
from schedgap.formulations.provisioning.column_generation.resource_prices import (
    ResourceRelaxation,
    single_resource_prices,
)
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values, limit_values, limits_worth
from schedgap.instances import exact
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO, Priced, Pricer, scaled_bound, shifted_target
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import DOLLAR

SMOOTHING = 0.85
FIRST_NODE_LIMIT = 4_000
LAST_NODE_LIMIT = 400_000
# In shares of the objective: below it the relaxation counts as solved.
CONVERGED = 1e-9
# What it costs to break a limit, in prices of the dearest machine. A branch without solutions often breaks a limit by a
# thousandth of a machine only.
LIMIT_PENALTY = 1_000.0
# Of dives: nodes of pricing, rounds of it at a step, and the part of a machine that counts as one.
DIVE_NODES, DIVE_ROUNDS, NEARLY_WHOLE = 1_000, 8, 0.85


def group_weights(instance: ProvisioningInstance) -> IntArray:
    """(G, K) int64: the weight of each machine type in each group, families first, then the types themselves."""
    families = [instance.type2family == f for f in range(len(instance.families))]
    rows = [
        np.where(member, instance.price // np.gcd.reduce(instance.price[member]), 0)
        for member in families
        if member.any()
    ]
    return np.vstack((*rows, np.eye(instance.num_types, dtype=np.int64)))


class LimitedMaster(Master):
    """Patterns found so far, under limits on groups and shares.

    weights : (G, K) int64. low, high : (G + S,) float64, of the groups and then of the S = F C shares, families outermost;
    without `has_shares` S is 0.
    """

    def __init__(self, instance: ProvisioningInstance, *, has_shares: bool = False) -> None:
        self.instance, self.has_shares = instance, has_shares
        self.weights = group_weights(instance)
        no_limit = np.full(self.weights.shape[0] + has_shares * len(instance.families) * instance.num_classes, np.inf)
        super().__init__(instance.price, instance.counts, -no_limit, no_limit)

    def others(self, kind: IntArray, patterns: IntArray) -> IntArray:
        """(m, G + S) int64: what machines of these types with these patterns add to the groups and shares."""
        groups = self.weights[:, kind].T
        if not self.has_shares:
            return groups
        family = self.instance.type2family[kind]
        shares = np.zeros((family.shape[0], len(self.instance.families), self.instance.num_classes), np.int64)
        shares[np.arange(family.shape[0]), family] = patterns
        return np.hstack((groups, shares.reshape(family.shape[0], self.low.shape[0] - groups.shape[1])))

    def covers(self) -> tuple[FloatArray, FloatArray]:
        """Return columns that break a class's row or a limit, on either side, at a high price.

        With them empty machines: a limit from below must not be worth more than one.
        """
        num_classes, num_types = self.instance.num_classes, self.instance.num_types
        ones = np.eye(num_classes + self.low.shape[0])
        penalty = np.full(ones.shape[0] + self.low.shape[0], LIMIT_PENALTY)
        penalty[:num_classes] = PENALTY
        empty = np.zeros((num_types, ones.shape[0]))
        empty[:, num_classes : num_classes + self.weights.shape[0]] = self.weights.T
        cost = np.concatenate((penalty * float(self.price.max()), self.price.astype(np.float64))) / DOLLAR
        return cost, np.vstack((ones, -ones[num_classes:], empty))

    def rented(self, x: FloatArray) -> FloatArray:
        """(G + S,) float64: what the last solution, of patterns `x` (P,), adds to the groups and shares."""
        used = np.flatnonzero(x)
        rented: FloatArray = x[used] @ self.others(self.kind[used], self.patterns[used])
        rented[: self.weights.shape[0]] += self.weights @ self.slack[-self.instance.num_types :]
        return rented

    def best_solution(self, time_limit_s: float, cutoff: int) -> Provisioning | None:
        """Return the best solution of the known patterns, within the limits, cheaper than `cutoff` micro-dollars; or None.

        The patterns may cover a class too often; surplus tasks are taken off again.
        """
        repeat = self.solve_integer(time_limit_s, cutoff)
        if repeat is None or (exact.dot(repeat, self.patterns) < self.instance.counts).any():
            return None
        return Provisioning.from_cover(self.instance, self.kind, repeat, self.patterns)


class Relaxation(Generation):
    """Column generation that can be continued: under other limits on groups and shares, or a later deadline.

    master : the patterns and their linear program. bound : micro-dollars, proven under the master's present limits at
    any time. proof : (C,) int64, nano-dollars, the class prices behind `bound`, which `dual_bound` proves anew without
    limits. The instance has no interference.
    pricer : `FlowPricer` where there are flow graphs of the instance: exact at once, so that nothing need be smoothed.
    """

    master: LimitedMaster

    def __init__(
        self, instance: ProvisioningInstance, graphs: tuple[FlowGraph, ...] = (), *, has_shares: bool = False
    ) -> None:
        super().__init__(LimitedMaster(instance, has_shares=has_shares))
        self.instance = instance
        self.pricer: Pricer | FlowPricer = FlowPricer(instance, graphs) if graphs else Pricer(instance)
        self.is_quick = bool(graphs)
        self.smoothing = 0.0 if self.is_quick else SMOOTHING
        self.num_classes, self.num_groups = instance.num_classes, self.master.weights.shape[0]
        self.bound = 0
        self.centre = np.zeros(self.num_classes + self.master.low.shape[0])
        # The class prices behind `bound`; where a machine's pattern is worth more than its price, the bound scales them.
        self.proof = np.zeros(self.num_classes, np.int64)
        self.node_limit = FIRST_NODE_LIMIT
        self.resources: ResourceRelaxation | None = None
        self._is_centred = self._use_tables = False
        self._cutoff: int | None = None
        self._known = 0

    def start(self, deadline: float | None = None) -> None:
        """Take a first bound and centre from resource prices, and as first patterns each class alone."""
        self.master.add(self.instance.reservation_type, np.eye(self.num_classes, dtype=np.int64))
        self.proof = single_resource_prices(self.instance)
        worth = int(self.proof.astype(object) @ self.instance.counts)
        self.bound = scaled_bound(self.instance, worth, self.instance.price * NANO)
        self.centre[: self.num_classes] = self.proof / (DOLLAR * NANO)
        if _seconds(deadline) > 0 and not self.is_quick:
            self.resources = ResourceRelaxation(self.instance, self.master.weights)
            self._recentre(deadline)

    def _recentre(self, deadline: float | None) -> None:
        """Try the resource prices under the present limits as centre; they are kept if their bound is the best."""
        self._is_centred = True
        if self.resources is None:
            return
        self.resources.limit(self.low[: self.num_groups], self.high[: self.num_groups])
        self.resources.solve(deadline)
        if self.resources.duals is not None:
            shares = np.zeros(self.centre.shape[0] - self.resources.duals.shape[0])
            self._price(np.concatenate((self.resources.duals, shares)), FIRST_NODE_LIMIT, use_tables=False)

    @property
    def low(self) -> FloatArray:
        """(G + S,) float64: the least of each group and share."""
        return self.master.low

    @property
    def high(self) -> FloatArray:
        """(G + S,) float64: the most of each group and share."""
        return self.master.high

    @property
    def weights(self) -> IntArray:
        """(G, K) int64: the weight of each type in each group."""
        return self.master.weights

    @property
    def amounts(self) -> FloatArray | None:
        """(G + S,) float64: what the last solution of the restricted master has of each group and share, or None."""
        return None if self.found is None else self.master.rented(self.found.x)

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of groups and shares; the bound starts anew."""
        self.master.limit(low, high)
        self.bound, self.is_converged, self.found = 0, False, None
        self._is_centred = False

    def solve(self, deadline: float | None, cutoff: int | None = None, known: int = 0) -> None:
        """Generate columns until the relaxation is solved, the bound reaches `cutoff`, or the deadline has passed.

        Ends as well once the relaxation cannot prove more than `known`, micro-dollars.
        """
        if self.master.num_columns == 0:
            self.start(deadline)
        elif not self._is_centred:
            self._recentre(deadline)
        self._cutoff, self._known, self._use_tables, self.share = cutoff, known, False, self.smoothing
        self.generate(math.inf if deadline is None else deadline)

    @property
    def is_open(self) -> bool:
        """Whether the bound is below the cutoff."""
        return self._cutoff is None or self.bound < self._cutoff

    def ended(self, found: LpSolution) -> bool | None:
        """End where the relaxation cannot prove more than is known, and where it is solved."""
        if found.objective * DOLLAR < self._known:
            return False
        return True if self.bound >= found.objective * DOLLAR * (1 - CONVERGED) else None

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price all types; smoothing begins anew with each new pattern."""
        before = self.bound
        priced, is_complete = self._price(trial, self.node_limit, self._use_tables)
        added = self.add(priced, found.row_duals)
        if added:
            self.share = self.smoothing
        return added > 0 or (self.share > 0 and self.bound > before), is_complete

    def longer(self) -> bool:
        """Use tables at first, then search ten times as many nodes."""
        if not self._use_tables:
            self._use_tables, self.share = True, self.smoothing
        elif self.node_limit < LAST_NODE_LIMIT:
            self.node_limit *= 10
        else:
            return False
        return True

    def tighten(self, amounts: FloatArray, deadline: float | None) -> bool:
        """Return False: patterns are priced exactly already."""
        return False

    def _price(self, duals: FloatArray, node_limit: int, use_tables: bool) -> tuple[Priced, bool]:
        """Price all types at `duals`, dollars; keep the duals and the bound if the bound is the best so far.

        Returns what was priced, and whether every type was searched to the end.
        """
        values = class_values(self.instance, duals[: self.num_classes])
        # What a class is worth on a family is cut as class prices are.
        most = np.full(duals.shape[0] - self.num_classes, MAX_NANO)
        most[self.num_groups :] //= self.instance.num_tasks
        limits = limit_values(duals[self.num_classes :], most, self.low, self.high)
        groups, shares = limits[: self.num_groups], limits[self.num_groups :]
        # A dual times a family's weight may go beyond 64 bits.
        shift = groups.astype(object) @ self.master.weights.astype(object)
        target = shifted_target(self.instance, shift)
        worths = np.maximum(values + shares.reshape(-1, self.num_classes), 0) if shares.any() else values
        priced = self.pricer.price(worths, target, node_limit, use_tables=use_tables)
        worth = limits_worth(limits, self.low, self.high) + int(values.astype(object) @ self.instance.counts)
        bound = scaled_bound(self.instance, worth, priced.upper + shift)
        if bound > self.bound:
            self.bound, self.centre = bound, duals
            self.proof = values
        return priced, bool((priced.upper <= np.maximum(priced.value, target)).all())

    def add(self, priced: Priced, duals: FloatArray) -> int:
        """Add the patterns that would improve the restricted master; returns how many were new."""
        good = self.master.improving(np.arange(self.instance.num_types), priced.pattern, duals)
        return self.master.add(good, priced.pattern[good])

    def restrict(self, left: IntArray, cutoff: int) -> None:
        """Ask the master only for `left` (C,) tasks of each class."""
        self.master.restrict(left)

    def near(self, left: IntArray, fixed: list[Part], deadline: float, cutoff: int) -> LpSolution | None:
        """Solve the master for what is left, with a few rounds of quick pricing; None above the cutoff."""
        found = None
        for _ in range(DIVE_ROUNDS):
            left_s = deadline - time.perf_counter()
            found = self.master.solve(left_s) if left_s > 0 else None
            if found is None:
                return None
            values, limits = found.row_duals[: self.num_classes], found.row_duals[self.num_classes :]
            shares = limits[self.num_groups :].reshape(-1, self.num_classes)
            shift = limits[: self.num_groups] @ self.weights
            most = MAX_NANO // NANO
            target = np.clip(self.instance.price - shift * DOLLAR, -most, most).astype(np.int64) * NANO
            worths = class_values(self.instance, values + shares if shares.any() else values)
            priced = self.pricer.price(worths, target, DIVE_NODES, use_tables=False, counts=left)
            if not self.add(priced, found.row_duals):
                break
        return found if found is not None and found.objective * DOLLAR < cutoff else None

    def dive(self, deadline: float, cutoff: int | None) -> Provisioning | None:
        """Return a solution cheaper than `cutoff` micro-dollars, or None. The master keeps the columns it was given.

        Patterns with more tasks than are left are forbidden, so nothing is covered twice.
        """
        parts = Dive(self, deadline, cutoff, NEARLY_WHOLE).run(Depths(0, 0))
        if not parts:
            return None
        types, patterns, repeats = zip(*parts, strict=True)
        return Provisioning.from_patterns(list(types), list(repeats), np.array(patterns))


def _seconds(deadline: float | None) -> float:
    return math.inf if deadline is None else deadline - time.perf_counter()
