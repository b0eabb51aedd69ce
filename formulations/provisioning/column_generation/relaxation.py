"""The linear relaxation of the pattern model by column generation, with a bound proven at every step.

The duals are smoothed towards the best ones so far (Wentges 1997; Pessoa et al. 2018), starting from resource prices:
on 200 distinct tasks that needed 147 iterations where plain column generation needed 344.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.arc_flow.flow_pricer import FlowPricer
from schedgap.formulations.provisioning.column_generation.master import Master
from schedgap.formulations.provisioning.column_generation.resource_prices import (
    ResourceRelaxation,
    single_resource_prices,
)
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values, limit_values, limits_worth
from schedgap.instances.provisioning.dual_bound import NANO, scaled_bound, shifted_target
from schedgap.instances.provisioning.pricing import Priced, Pricer
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

SMOOTHING = 0.85
FIRST_NODE_LIMIT = 4_000
LAST_NODE_LIMIT = 400_000
# In shares of the objective: below it the relaxation counts as solved.
CONVERGED = 1e-9


class Relaxation:
    """Column generation that can be continued: under other limits on groups and shares, or a later deadline.

    master : the patterns and their linear program. bound : micro-dollars, proven under the master's present limits at
    any time. proof : (C,) int64, nano-dollars, the class prices behind `bound`, which `dual_bound` proves anew without
    limits. objective, x : of the last restricted master, dollars and (P,), or None. The instance has no interference.
    pricer : `FlowPricer` where there are flow graphs of the instance: exact at once, so that nothing need be smoothed.
    """

    def __init__(
        self, instance: ProvisioningInstance, graphs: tuple[FlowGraph, ...] = (), *, has_shares: bool = False
    ) -> None:
        self.instance = instance
        self.master = Master(instance, has_shares=has_shares)
        self.pricer: Pricer | FlowPricer = FlowPricer(instance, graphs) if graphs else Pricer(instance)
        self.is_quick = bool(graphs)
        self.smoothing = 0.0 if self.is_quick else SMOOTHING
        self.num_classes, self.num_groups = instance.num_classes, self.master.weights.shape[0]
        self.bound = 0
        self.duals = np.zeros(self.num_classes + self.master.low.shape[0])
        # The class prices behind `bound`; where a machine's content is worth more than its price, the bound scales them.
        self.proof = np.zeros(self.num_classes, np.int64)
        self.objective: float | None = None
        self.x: FloatArray | None = None
        self.is_converged = False
        self.iterations = 0
        self.node_limit = FIRST_NODE_LIMIT
        self.resources: ResourceRelaxation | None = None
        self._is_centred = False

    def start(self, deadline: float | None = None) -> None:
        """Take a first bound and centre from resource prices, and as first patterns each class alone."""
        self.master.add(self.instance.reservation_type, np.eye(self.num_classes, dtype=np.int64))
        self.proof = single_resource_prices(self.instance)
        worth = int(self.proof.astype(object) @ self.instance.counts)
        self.bound = scaled_bound(self.instance, worth, self.instance.price * NANO)
        self.duals[: self.num_classes] = self.proof / (DOLLAR * NANO)
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
            shares = np.zeros(self.duals.shape[0] - self.resources.duals.shape[0])
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
        return None if self.x is None else self.master.rented(self.x)

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of groups and shares; the bound starts anew."""
        self.master.limit(low, high)
        self.bound, self.is_converged, self.x = 0, False, None
        self._is_centred = False

    def solve(self, deadline: float | None, cutoff: int | None = None, known: int = 0) -> None:
        """Generate columns until the relaxation is solved, the bound reaches `cutoff`, or the deadline has passed.

        Ends as well once the relaxation cannot prove more than `known`, micro-dollars.
        """
        if self.master.num_patterns == 0:
            self.start(deadline)
        elif not self._is_centred:
            self._recentre(deadline)
        use_tables = False
        smoothing = self.smoothing
        while cutoff is None or self.bound < cutoff:
            left = _seconds(deadline)
            solution = self.master.solve(left) if left > 0 else None
            if solution is None:
                return
            self.objective, self.x = solution.objective, solution.x
            self.iterations += 1
            if self.objective * DOLLAR < known:
                return
            if self.bound >= self.objective * DOLLAR * (1 - CONVERGED):
                self.is_converged = True
                return
            lp_duals = solution.row_duals
            trial = smoothing * self.duals + (1 - smoothing) * lp_duals
            before = self.bound
            priced, is_complete = self._price(trial, self.node_limit, use_tables)
            added = self.add(priced, lp_duals)
            if added:
                smoothing = self.smoothing
            elif smoothing > 0 and self.bound > before:
                continue
            elif smoothing > 0:
                smoothing = smoothing - 0.3 if smoothing > 0.5 else 0.0
            elif not use_tables and not is_complete:
                use_tables, smoothing = True, self.smoothing
            elif not is_complete and self.node_limit < LAST_NODE_LIMIT:
                self.node_limit *= 10
            else:
                self.is_converged = is_complete
                return

    def tighten(self, amounts: FloatArray, deadline: float | None) -> bool:
        """Return False: contents are priced exactly already."""
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
            self.bound, self.duals = bound, duals
            self.proof = values
        return priced, bool((priced.upper <= np.maximum(priced.value, target)).all())

    def effective(self, duals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what duals, dollars, make of a task's worth, (C,) or (F, C), and by how much types, (K,), are cheaper."""
        values, limits = duals[: self.num_classes], duals[self.num_classes :]
        shares = limits[self.num_groups :].reshape(-1, self.num_classes)
        return values + shares if shares.any() else values, limits[: self.num_groups] @ self.master.weights

    def add(self, priced: Priced, lp_duals: FloatArray) -> int:
        """Add the patterns that would improve the restricted master; returns how many were new."""
        values, shift = self.effective(lp_duals)
        price = self.instance.price / DOLLAR
        if values.ndim == 1:
            reduced = price - shift - priced.pattern @ values
        else:
            reduced = price - shift - (priced.pattern * values[self.instance.type2family]).sum(axis=1)
        good = np.flatnonzero((reduced < -1e-9 * price) & priced.pattern.any(axis=1))
        return self.master.add(good, priced.pattern[good])


def _seconds(deadline: float | None) -> float:
    return math.inf if deadline is None else deadline - time.perf_counter()
