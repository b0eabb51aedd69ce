import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.arc_flow.arc_flow import arc_flow, build, build_flow_model
from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.errors import BackendError, MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.generators import table7
from schedgap.instances.provisioning.verify import price_step, verify


def too_fine():
    """A capacity of 10^9 with demands that have no common divisor."""
    return ProvisioningInstance(
        name="fine",
        resources=("a",),
        families=("f",),
        type_names=("t",),
        type2family=[0],
        capacity=[[10**9]],
        price=[1],
        demand=[[[3], [10**8 + 1]]],
        counts=[10**8, 9],
    )


def test_the_papers_example(paper_example):
    outcome = arc_flow(paper_example)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 12_800_000)
    assert verify(paper_example, outcome.solution) == 12_800_000


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("interchangeable", [True, False])
def test_equals_patterns_also_where_a_micro_dollar_is_the_step(varied_instance, seed, interchangeable):
    instance = varied_instance(seed)
    best = patterns(instance).bound
    outcome = arc_flow(instance, interchangeable=interchangeable)
    assert (outcome.status, outcome.bound, verify(instance, outcome.solution)) == (Status.OPTIMAL, best, best)


@pytest.mark.parametrize("seed", range(10))
def test_equals_brute_force(random_instance, optimum, seed):
    instance = random_instance(seed)
    assert arc_flow(instance).bound == optimum(instance)


@pytest.mark.parametrize("backend", ["scip", "cbc"])
def test_other_back_ends_find_the_same(two_families, backend):
    outcome = arc_flow(two_families, backend=backend)
    assert (outcome.status, outcome.bound, outcome.backend) == (Status.OPTIMAL, 3_300_000, backend)


def test_the_exported_model_has_the_same_optimum(two_families):
    model = build(two_families)
    assert round(solve(model).objective) * model.objective_scale == 3_300_000


def test_what_is_too_fine_has_a_reason():
    instance = too_fine()
    outcome = arc_flow(instance)
    # 10^8 x 3 + 9 (10^8 + 1) is over 10^9, so two machines: what is too fine for a graph still has a bound.
    assert (outcome.status, outcome.solution, outcome.bound) == (Status.NO_SOLUTION, None, 2)
    assert "too fine" in outcome.details["reason"]
    with pytest.raises(MethodError, match="too fine"):
        build(instance)


def test_interference_is_refused():
    instance = table7(20, interference=True)
    outcome = find_method("provisioning", "arc-flow").run(instance)
    assert outcome.status is Status.UNSUPPORTED
    assert "use the method interference" in outcome.details["reason"]
    with pytest.raises(MethodError, match="use the method interference"):
        build(instance)


@pytest.mark.parametrize("time_limit_s", [-1, 0, 1e-4, 0.01, 0.05])
def test_any_limit_gives_no_solution_or_a_verified_one(time_limit_s):
    instance = table7(100, seed=1)
    outcome = arc_flow(instance, time_limit_s=time_limit_s)
    assert (outcome.solution is None) == (outcome.status is Status.NO_SOLUTION)
    best = patterns(instance).bound
    assert outcome.bound is None or outcome.bound <= best
    assert outcome.solution is None or verify(instance, outcome.solution) >= best


@pytest.mark.parametrize("seed", range(15))
def test_flows_become_a_solution_of_the_same_or_a_lower_price(varied_instance, seed):
    instance = varied_instance(seed)
    flow = build_flow_model(instance, build_flow_graphs(instance))
    result = solve(flow.model)
    assert result.status is Status.OPTIMAL
    assert verify(instance, flow.solution(result.x)) == round(result.objective) * price_step(instance)
    assert verify(instance, flow.solution(result.x)) == patterns(instance).bound


def test_flow_that_is_lost_is_an_error_not_an_endless_loop(two_families):
    flow = build_flow_model(two_families, build_flow_graphs(two_families))
    x = np.zeros(flow.model.cost.shape[0])
    x[0] = 1
    with pytest.raises(BackendError, match="flow is lost"):
        flow.solution(x)


def test_flows_that_cover_too_little_are_no_solution(paper_example):
    """Solvers take rows for kept that miss a side of a billion tasks by some."""
    flow = build_flow_model(paper_example, build_flow_graphs(paper_example))
    assert flow.solution(np.zeros(flow.model.cost.shape[0])) is None
