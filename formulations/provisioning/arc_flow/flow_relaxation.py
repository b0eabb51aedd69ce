"""The linear relaxation over the paths of flow graphs, by column generation, and the arcs that a better solution may use.

Pricing is one longest path over a graph, about 1 ns an arc, so the whole trace takes a tenth of a second. All duals are
rounded to whole nano-dollars and scaled until no path is worth more than its machine costs; then, for any solution,

    cost = sum of d(machine) + worth,    d(machine) = price - shift(type) - value of its tasks >= 0,

where `worth` is what the duals say of the counts and of the limits on groups of machine types. So `worth` is a bound, and a
solution of cost at most W has only machines with d <= W - worth: arcs on no such path can go (reduced-cost fixing, de
Lima, Iori and Miyazawa, "Exact solution of network flow models with strong relaxations", Mathematical Programming 197, 2023).
The solver's duals are but a proposal: what is proven is proven in integers, which `limits` keeps within 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.column_generation.generation import Generation
from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowPricer
from schedgap.formulations.provisioning.arc_flow.kernels_flow import longest_paths, useful_arcs
from schedgap.formulations.provisioning.column_generation.relaxation import LimitedMaster
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values, limit_values, limits_worth
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.objective import price_step

if TYPE_CHECKING:
    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

NEGLIGIBLE = 1e-9
# More than any machine's price less the worth of what it holds.
LOOSE = 4 * MAX_NANO


@dataclass(frozen=True, slots=True, eq=False)
class FlowBound:
    """Feasible duals under limits on groups of machine types, and what they prove.

    bound : micro-dollars, proven for solutions within the limits. worth : nano-dollars, the same before rounding.
    values : (C,) int64 and shift : (K,) int64, nano-dollars. units : (G,) float64, how much of each group the last linear
    program rents, or None before there was one.
    """

    bound: int
    worth: int
    values: IntArray
    shift: IntArray
    units: FloatArray | None
    is_converged: bool


class FlowRelaxation(Generation):
    """Column generation over flow graphs, continued warm under changing limits. machines : of all columns so far."""

    master: LimitedMaster

    def __init__(self, instance: ProvisioningInstance, graphs: tuple[FlowGraph, ...]) -> None:
        super().__init__(LimitedMaster(instance))
        self.instance, self.weights = instance, self.master.weights
        self.pricer = FlowPricer(instance, graphs)
        self.master.add(instance.reservation_type, np.eye(instance.num_classes, dtype=np.int64))

    def solve(self, low: FloatArray, high: FloatArray, deadline: float, enough: float = np.inf) -> FlowBound:
        """Solve under limits on the groups of `LimitedMaster`; stops early once the bound exceeds `enough`, or at the deadline.

        low, high : (G,) float64, whole numbers or infinite.
        """
        self.master.limit(low, high)
        nothing = np.zeros(self.instance.num_classes, np.int64), np.zeros_like(self.instance.price)
        self.best, self.enough, self.is_converged = FlowBound(0, 0, *nothing, None, False), enough, False
        self.generate(deadline)
        return replace(self.best, is_converged=self.is_converged)

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price every path at feasible duals near the given ones, dollars; keep the best of these."""
        instance, low, high = self.instance, self.master.low, self.master.high
        values = class_values(instance, trial[: instance.num_classes])
        # What all groups together add to a price, or take off it, is cut as the class prices are.
        most = MAX_NANO // (self.weights.shape[0] * np.maximum(self.weights.max(axis=1), 1))
        limits = limit_values(trial[instance.num_classes :], most, low, high)
        target: IntArray = instance.price * NANO - np.minimum(limits, 0).astype(np.int64) @ self.weights
        for g in np.flatnonzero(limits > 0):
            # An empty machine must not be worth renting, whatever groups it is in.
            member = self.weights[g] > 0
            limits[g] = min(int(limits[g]), int((target[member] // self.weights[g, member]).min()))
            target -= limits[g] * self.weights[g]
        shift = instance.price * NANO - target
        priced = self.pricer.price(values, target + (NEGLIGIBLE * (instance.price * NANO)).astype(np.int64))
        dear = np.flatnonzero(priced.pattern.any(axis=1))
        added = self.master.add(dear, priced.pattern[dear])
        values = _scaled(values, target, priced.upper)
        worth = limits_worth(limits, low, high) + int(values.astype(object) @ instance.counts)
        step = price_step(instance)
        bound = max(0, -(-worth // (step * NANO)) * step)
        units = self.master.rented(found.x)
        if worth > self.best.worth or self.best.units is None:
            self.best = FlowBound(bound, worth, values, shift, units, False)
        else:
            self.best = replace(self.best, units=units)
        return added > 0 and self.best.bound <= self.enough, added == 0

    def useful(self, found: FlowBound, cost: int) -> tuple[BoolArray, ...]:
        """Return for each graph the arcs, (A,) bool, that solutions of at most `cost` micro-dollars may use."""
        kept = []
        price = self.instance.price * NANO - found.shift
        for graph, best, choice in self.pricer.graphs:
            value, most = found.values[graph.classes], self.instance.counts[graph.classes]
            longest_paths(value, most, graph.nodes, best, choice)
            free = int(found.values[graph.free] @ self.instance.counts[graph.free])
            before, keep = np.empty(graph.num_nodes, np.int64), np.empty(graph.num_arcs, np.bool_)
            limit = max(-LOOSE, min(cost * NANO - found.worth, LOOSE))
            useful_arcs(value, graph.nodes, best, graph.root, price[graph.types] - free, limit, before, keep)
            kept.append(keep)
        return tuple(kept)


def _scaled(values: IntArray, target: IntArray, upper: IntArray) -> IntArray:
    """Scale the class duals down until no content, worth `upper` (K,) before, is worth more than `target` (K,)."""
    over = upper > target
    if not over.any():
        return values
    share = min(int(t) * 2**40 // int(u) for t, u in zip(target[over], upper[over], strict=True))
    return np.array([int(v) * share >> 40 for v in values], np.int64)
