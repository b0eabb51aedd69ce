"""Arc-flow: contents of machines as paths of a compressed graph, given whole to a solver (see `flow_model`).

The graph holds sizes in integers, in multiples of their greatest common divisor, and is refused where they are too fine; so
the program knows no size, only tasks. The bound is the solver's: a proof for prices up to 2^38 times their greatest common
divisor (`separable`). Beyond, and where there is no graph, the bound is the cheap one of `cheap_bound`.

The linear relaxation over the paths of flow graphs, by column generation, and the arcs that a better solution may use.

Pricing is one longest path over a graph, about 1 ns an arc, so the whole trace takes a tenth of a second. All duals are
rounded to whole nano-dollars and scaled until no path is worth more than its machine costs; then, for any solution,

    cost = sum of d(machine) + worth,    d(machine) = price - shift(type) - value of its tasks >= 0,

where `worth` is what the duals say of the counts and of the limits on groups of machine types. So `worth` is a bound, and a
solution of cost at most W has only machines with d <= W - worth: arcs on no such path can go (reduced-cost fixing, de
Lima, Iori and Miyazawa, "Exact solution of network flow models with strong relaxations", Mathematical Programming 197, 2023).
The solver's duals are but a proposal: what is proven is proven in integers, which `limits` keeps within 64 bits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.column_generation.generation import Generation
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import improving, proven_cost, whole_claims
from schedgap.formulations.provisioning.arc_flow.flow_graph import (
    FlowGraph,
    FlowPricer,
    build_flow_graphs,
    merge_interchangeable,
)
from schedgap.formulations.provisioning.arc_flow.flow_model import build_flow_model
from schedgap.formulations.provisioning.arc_flow.kernels_flow import longest_paths, useful_arcs
from schedgap.formulations.provisioning.bounds import cheap_bound
from schedgap.formulations.provisioning.column_generation.relaxation import LimitedMaster
from schedgap.formulations.provisioning.limits import (
    MAX_NANO,
    claimed,
    class_values,
    limit_values,
    limits_worth,
    without_classes_apart,
    without_interference,
)
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.verify import price_step

if TYPE_CHECKING:
    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


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


@model_builder("arc-flow", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `arc-flow` solves.

    Raises
    ------
    MethodError
        if the instance has interference, or classes that are kept apart, or its graph is too large.
    """
    merged = merge_equal_classes(instance).instance
    graphs = without_interference(instance) or without_classes_apart(instance) or build_flow_graphs(merged)
    if isinstance(graphs, str):
        raise MethodError(f"{instance.name}: {graphs}.")
    return build_flow_model(merged, graphs).model


@method("arc-flow", family=FAMILY, supports=without_interference, exact=True, choices=UNBOUNDED_MIP_CHOICES)
def arc_flow(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    interchangeable: bool = True,
) -> Outcome:
    """Solve the compressed arc-flow formulation (Brandao and Pedroso, 2016) whole.

    interchangeable : first merge classes whose difference in one resource decides nothing (exact).
    """
    start = time.perf_counter()
    deadline = start + (math.inf if time_limit_s is None else time_limit_s)
    merged = merge_equal_classes(instance)
    prepared = prepare(merged.instance, interchangeable, deadline)
    if isinstance(prepared, str):
        bound, build_s = cheap_bound(merged.instance, deadline), time.perf_counter() - start
        return Outcome(bound=bound, status=Status.NO_SOLUTION, build_s=build_s, details={"reason": prepared})
    small, graphs = prepared
    flow = build_flow_model(small.instance, graphs)
    build_s = time.perf_counter() - start
    left = None if time_limit_s is None else max(0.0, deadline - time.perf_counter())
    result = solve(flow.model, backend, time_limit_s=left, threads=threads)
    start = time.perf_counter()
    step = price_step(instance)
    bound = cheap_bound(merged.instance, deadline) if result.bound is None else proven_cost(result.bound) * step
    found = None if result.x is None else flow.solution(result.x)
    solution = None if found is None else merged.restore(small.restore(found))
    details: dict[str, float | str] = {} if result.unproven is None else {"reason": result.unproven}
    details |= {
        "classes": small.instance.num_classes,
        "vertices": sum(graph.num_nodes for graph in graphs),
        "arcs": sum(graph.num_arcs for graph in graphs),
        "states": sum(graph.num_states for graph in graphs),
        **result.details,
    }
    return Outcome(
        solution,
        bound,
        claimed(instance, solution, bound),
        build_s,
        result.solve_s,
        time.perf_counter() - start,
        improving(whole_claims(result.trajectory, after_s=build_s, unit=step)),
        backend,
        details,
    )


def prepare(
    instance: ProvisioningInstance, interchangeable: bool, deadline: float
) -> tuple[Merged, tuple[FlowGraph, ...]] | str:
    """Return the instance to solve, as merged classes, with its graphs; or the reason why there are none."""
    if interchangeable:
        return merge_interchangeable(instance, deadline=deadline)
    graphs = build_flow_graphs(instance, deadline=deadline)
    if isinstance(graphs, str):
        return graphs
    return merge_equal_classes(instance), graphs
