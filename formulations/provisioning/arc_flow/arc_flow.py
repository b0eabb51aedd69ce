"""Arc-flow: contents of machines as paths of a compressed graph, given whole to a solver (see `flow_model`).

The graph holds sizes in integers, in multiples of their greatest common divisor, and is refused where they are too fine; so
the program knows no size, only tasks. The bound is the solver's: a proof for prices up to 2^38 times their greatest common
divisor (`separable`). Beyond, and where there is no graph, the bound is the cheap one of `fallback`.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph, build_flow_graphs
from schedgap.formulations.provisioning.arc_flow.flow_model import build_flow_model
from schedgap.formulations.provisioning.arc_flow.interchangeable import merge_interchangeable
from schedgap.formulations.provisioning.bounds import cheap_bound
from schedgap.formulations.provisioning.limits import claimed, without_classes_apart, without_interference
from schedgap.formulations.trajectory import improving, whole_claims
from schedgap.formulations.trusted import proven_cost
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.objective import price_step

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel


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
