"""Arc-flow: what a machine may hold as paths of a compressed graph, machines as units of flow, given whole to a solver.

Sets        q roots, each of a machine type; e arcs of the graph, taking k[e] tasks of class c[e]
Variables   z[q] machines of the type, f[e] machines whose pattern takes arc e; whole
Minimise    sum_q price[q] z[q]
Rows        z into u + sum of f into u = sum of f out of u                     for each node u but the end
            sum_{e: c[e] = c} k[e] f[e] + counts[c] (z of types that c fits for free) >= counts[c]    for each class c

Prices count in multiples of their greatest common divisor. An arc carries at most counts[c] // k machines: some best
solution places every task exactly once.

The graph holds sizes in integers, in multiples of their greatest common divisor, and is refused where they are too fine; so
the program knows no size, only tasks. The bound is the solver's: a proof for prices up to 2^38 times their greatest common
divisor (`separable`). Beyond, and where there is no graph, the bound is the cheap one of `cheap_bound`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, Rows, improving, proven_cost, whole_claims
from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph, build_flow_graphs, merge_interchangeable
from schedgap.formulations.provisioning.bounds import cheap_bound
from schedgap.formulations.provisioning.limits import claimed, without_classes_apart, without_interference
from schedgap.instances import exact
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError, MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import price_step


@dataclass(frozen=True, slots=True, eq=False)
class FlowModel:
    """A linear model and what its variables mean: machines of the types (Z,) int64 first, then the arcs of each graph."""

    instance: ProvisioningInstance
    graphs: tuple[FlowGraph, ...]
    types: IntArray
    model: LinearModel

    def solution(self, x: FloatArray) -> Provisioning | None:
        """Take flows apart into machines; tasks covered too often are taken off. None where some are not covered.

        Solvers take a row for kept that misses a side of many tasks by a few. Raises `BackendError` if more flow enters a
        node than leaves it.
        """
        types: list[int] = []
        repeats: list[int] = []
        patterns: list[IntArray] = []
        whole, start = x.astype(np.int64), self.types.shape[0]
        machines = dict(zip(self.types.tolist(), whole[:start].tolist(), strict=True))
        for graph in self.graphs:
            flow = whole[start : start + graph.num_arcs].copy()
            start += graph.num_arcs
            for k, root in zip(graph.types.tolist(), graph.root.tolist(), strict=True):
                left = machines.get(k, 0)
                while left:
                    path = _path(graph, flow, root)
                    number = min([left, *(int(flow[e]) for e in path)])
                    if number == 0:
                        raise BackendError(f"{self.model.name}: flow is lost on the way; use another back end.")
                    flow[path] -= number
                    left -= number
                    pattern = np.zeros(self.instance.num_classes, np.int64)
                    pattern[graph.arc_class[path]] = graph.tasks[path]
                    pattern[graph.free] = self.instance.counts[graph.free]
                    types.append(k)
                    repeats.append(number)
                    patterns.append(pattern)
        matrix = np.array(patterns, np.int64).reshape(-1, self.instance.num_classes)
        if (exact.dot(np.array(repeats, np.int64), matrix) < self.instance.counts).any():
            return None
        return Provisioning.from_cover(self.instance, types, repeats, matrix)


def build_flow_model(instance: ProvisioningInstance, graphs: tuple[FlowGraph, ...]) -> FlowModel:
    """Build the model over flow graphs of all machine types."""
    step = price_step(instance)
    # Machines that hold nothing are not rented.
    rented = [(graph.root > 0) | (graph.free.size > 0) for graph in graphs]
    types = np.concatenate([graph.types[which] for graph, which in zip(graphs, rented, strict=True)])
    starts = types.shape[0] + np.cumsum([0, *(graph.num_arcs for graph in graphs)])
    rows = Rows(int(starts[-1]))
    _add_cover(rows, instance, types, graphs, starts)
    first, most = 0, [np.full(types.shape[0], np.inf)]
    for graph, which, start in zip(graphs, rented, starts[:-1], strict=True):
        root, head, arcs = graph.root[which], graph.nodes.head.astype(np.int64), start + np.arange(graph.num_arcs)
        fed, inner, machines = root > 0, head > 0, first + np.arange(root.shape[0])
        # As much flow leaves a node as enters it; node u has row u - 1, the end has none.
        rows.add(
            "node",
            (root[fed] - 1, machines[fed], 1.0),
            (graph.tail - 1, arcs, -1.0),
            (head[inner] - 1, arcs[inner], 1.0),
            lower=np.zeros(graph.num_nodes - 1),
            upper=0.0,
        )
        first += root.shape[0]
        copies = instance.counts[graph.arc_class] // np.maximum(graph.tasks, 1)
        most.append(np.where(graph.tasks > 0, copies, np.inf))
    cost = np.zeros(rows.num_variables)
    cost[: types.shape[0]] = instance.price[types] // step
    return FlowModel(instance, graphs, types, rows.model(f"arc-flow-{instance.name}", cost, np.concatenate(most), step))


def _add_cover(
    rows: Rows, instance: ProvisioningInstance, types: IntArray, graphs: tuple[FlowGraph, ...], starts: IntArray
) -> None:
    """Add the rows that every class is covered, by arcs and by machines that it fits for free."""
    free = np.zeros((instance.num_classes, instance.num_types), np.int64)
    taken = []
    for graph, start in zip(graphs, starts[:-1], strict=True):
        free[np.ix_(graph.free, graph.types)] = instance.counts[graph.free, None]
        taking = np.flatnonzero(graph.tasks > 0)
        taken.append((graph.arc_class[taking], start + taking, graph.tasks[taking]))
    c, q = np.nonzero(free[:, types])
    rows.add("class", (c, q, free[:, types][c, q]), *taken, lower=instance.counts)


def _path(graph: FlowGraph, flow: IntArray, node: int) -> list[int]:
    """Return arcs with flow from a node to the end."""
    path = []
    while node:
        first, stop = int(graph.nodes.ptr[node]), int(graph.nodes.ptr[node + 1])
        e = first + int(np.argmax(flow[first:stop] > 0))
        path.append(e)
        node = int(graph.nodes.head[e])
    return path


@model_builder("arc-flow", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `arc-flow` solves.

    Raises `MethodError` if the instance has interference, or classes that are kept apart, or its graph is too large.
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
    if interchangeable:
        prepared = merge_interchangeable(merged.instance, deadline=deadline)
    else:
        every = build_flow_graphs(merged.instance, deadline=deadline)
        prepared = every if isinstance(every, str) else (merge_equal_classes(merged.instance), every)
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
