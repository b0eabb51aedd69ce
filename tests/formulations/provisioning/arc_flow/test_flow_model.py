import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.arc_flow.flow_model import GroupLimits, build_flow_model
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status
from schedgap.instances.provisioning import table7
from schedgap.instances.provisioning.verify import price_step, verify


@pytest.mark.parametrize("seed", range(15))
def test_flows_become_a_solution_of_the_same_or_a_lower_price(varied_instance, seed):
    instance = varied_instance(seed)
    flow = build_flow_model(instance, build_flow_graphs(instance))
    result = solve(flow.model)
    assert result.status is Status.OPTIMAL
    assert verify(instance, flow.solution(result.x)) == round(result.objective) * price_step(instance)
    assert verify(instance, flow.solution(result.x)) == patterns(instance).bound


def test_large_machines_first_costs_no_more():
    instance = table7(40, seed=3, cpu="vcpu")
    graphs = build_flow_graphs(instance)
    free, capped = (build_flow_model(instance, graphs, large_first=large) for large in (False, True))
    assert (capped.model.upper < free.model.upper).sum() > 5
    found = solve(capped.model)
    assert found.objective == solve(free.model).objective
    machines = capped.solution(found.x)
    used = np.bincount(machines.machine_type, weights=machines.repeat, minlength=instance.num_types)
    # Eight GPUs are one p3.16xlarge.
    names = instance.type_names
    assert used[names.index("p3.8xlarge")] <= 1 and used[names.index("p3.2xlarge")] <= 3


def test_limits_on_groups_of_types(two_families):
    graphs = build_flow_graphs(two_families)
    weights = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    free = np.full(3, np.inf)
    # No x-large: two x-small for c, then a, a, b on two y-small: 2 + 1.4.
    without = GroupLimits(weights, -free, np.array([np.inf, 0, np.inf]))
    assert round(solve(build_flow_model(two_families, graphs, limits=without).model).objective) == 34
    # No y-small: b takes all four cores of an x-small; a, a its own: x-large for c, c, and 1.9 for the rest: 3.8.
    only_x = GroupLimits(weights, -free, np.array([np.inf, np.inf, 0]))
    assert round(solve(build_flow_model(two_families, graphs, limits=only_x).model).objective) == 38
    # Three y-small at least: one more than needed.
    three = GroupLimits(weights, np.array([-np.inf, -np.inf, 3]), free)
    assert round(solve(build_flow_model(two_families, graphs, limits=three).model).objective) == 40


def test_without_arcs_there_is_nothing(two_families):
    graphs = build_flow_graphs(two_families)
    kept = tuple(np.zeros(graph.num_arcs, np.bool_) for graph in graphs)
    flow = build_flow_model(two_families, graphs, kept)
    assert flow.model.matrix.shape == (3, 0)
    assert solve(flow.model).status is Status.INFEASIBLE


def test_flow_that_is_lost_is_an_error_not_an_endless_loop(two_families):
    flow = build_flow_model(two_families, build_flow_graphs(two_families))
    x = np.zeros(flow.model.cost.shape[0])
    x[0] = 1
    with pytest.raises(BackendError, match="flow is lost"):
        flow.solution(x)


def test_a_solution_as_values_of_the_variables(two_families):
    graphs = build_flow_graphs(two_families)
    flow = build_flow_model(two_families, graphs)
    best = patterns(two_families).solution
    x = flow.values(best)
    rows = flow.model.matrix @ x
    assert (rows >= flow.model.row_lower).all() and (rows <= flow.model.row_upper).all()
    assert x @ flow.model.cost * price_step(two_families) == verify(two_families, flow.solution(x)) == 3_300_000
    nothing = tuple(np.zeros(graph.num_arcs, np.bool_) for graph in graphs)
    assert build_flow_model(two_families, graphs, nothing).values(best) is None


def test_flows_that_cover_too_little_are_no_solution(paper_example):
    """Solvers take rows for kept that miss a side of a billion tasks by some."""
    graphs = build_flow_graphs(paper_example)
    flow = build_flow_model(paper_example, graphs)
    assert flow.solution(np.zeros(flow.model.cost.shape[0])) is None
