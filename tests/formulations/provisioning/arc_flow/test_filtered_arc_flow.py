import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow import filtered_arc_flow as module
from schedgap.formulations.provisioning.arc_flow.filtered_arc_flow import filtered_arc_flow
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import verify


def assert_optimal(instance):
    best = patterns(instance).bound
    outcome = filtered_arc_flow(instance)
    assert (outcome.bound, outcome.status, verify(instance, outcome.solution)) == (best, Status.OPTIMAL, best)
    bounds = [point.bound for point in outcome.trajectory]
    assert bounds == sorted(bounds)
    assert bounds[-1] == best
    found = [point.objective for point in outcome.trajectory if point.objective is not None]
    assert found == sorted(found, reverse=True)
    assert found[-1] == best


def test_the_papers_example(paper_example):
    outcome = filtered_arc_flow(paper_example)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 12_800_000)
    assert verify(paper_example, outcome.solution) == 12_800_000


# Seeds 119, 124, 168, 265: the optimum rents over eight units of the dearest family more than the relaxation does.
@pytest.mark.parametrize("seed", [*range(35), 119, 124, 168, 265])
def test_the_filter_never_cuts_off_an_optimum(varied_instance, seed):
    assert_optimal(varied_instance(seed))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("split", "window"), [(1, 2e-5), (2, 0.5), (8, 4.0)])
def test_neither_do_other_windows_and_splits(varied_instance, monkeypatch, split, window, seed):
    monkeypatch.setattr(module, "MAX_SPLIT", split)
    monkeypatch.setattr(module, "FIRST_WINDOW", window)
    assert_optimal(varied_instance(seed))


@pytest.mark.parametrize("seed", range(15))
def test_equals_brute_force(random_instance, optimum, seed):
    instance = random_instance(seed)
    outcome = filtered_arc_flow(instance)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, optimum(instance))


def test_a_unit_far_below_the_price_of_a_machine(snapshot):
    # One task; 101 and 103 cents have 1 cent as their unit, so a machine more is 101 units more than the relaxation's.
    instance = snapshot([[100], [102]], [1_010_000, 1_030_000], [[[51]]], [3])
    # Two of 51 fit l: l + s, or s + s + s.
    outcome = filtered_arc_flow(instance)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 2_040_000)


def test_tasks_that_need_nothing_share_one_cheapest_machine(snapshot):
    instance = snapshot([[1], [1]], [5, 3], [[[0], [0]], [[0], [-1]]], [10**6, 2], [0, 1])
    outcome = filtered_arc_flow(instance)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 5)
    assert verify(instance, outcome.solution) == 5


@pytest.mark.parametrize("backend", ["scip", "cbc"])
def test_other_back_ends_find_the_same(two_families, backend):
    outcome = filtered_arc_flow(two_families, backend=backend)
    assert (outcome.status, outcome.bound, outcome.backend) == (Status.OPTIMAL, 3_300_000, backend)


@pytest.mark.parametrize("seed", range(5))
def test_two_threads_find_the_same(varied_instance, seed):
    instance = varied_instance(seed)
    outcome = filtered_arc_flow(instance, threads=2)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, patterns(instance).bound)
    assert verify(instance, outcome.solution) == outcome.bound


@pytest.mark.parametrize("make", [lambda: table7(100, seed=1), lambda: distinct(12, seed=1)])
@pytest.mark.parametrize("time_limit_s", [-1, 0, 1e-4, 0.01, 0.03, 0.1])
def test_any_limit_gives_valid_bounds_and_solutions(make, time_limit_s):
    instance = make()
    outcome = filtered_arc_flow(instance, time_limit_s=time_limit_s)
    best = patterns(instance).bound
    assert (outcome.solution is None) == (outcome.status is Status.NO_SOLUTION)
    assert outcome.bound is None or 0 <= outcome.bound <= best
    assert outcome.solution is None or verify(instance, outcome.solution) >= best


def test_many_dimensions_have_a_reason_and_a_bound():
    """Ten resources with sizes of 200 to 800 of 1,000, as class P3 of the vector packing benchmarks."""
    sizes = np.random.default_rng(3).integers(200, 801, (20, 10))
    instance = ProvisioningInstance(
        name="ten",
        resources=tuple(f"r{r}" for r in range(10)),
        families=("f",),
        type_names=("t",),
        type2family=[0],
        capacity=[[1000] * 10],
        price=[1_000_000],
        demand=[sizes],
        counts=np.ones(20, np.int64),
    )
    outcome = filtered_arc_flow(instance)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)
    assert "too fine" in outcome.details["reason"]
    # At least what the scarcest resource needs.
    assert outcome.bound >= -(-sizes.sum(axis=0).max() // 1000) * 1_000_000
    assert outcome.bound <= patterns(instance).bound


@pytest.mark.parametrize("seed", range(12))
def test_a_limit_in_the_middle_of_anything(varied_instance, seed):
    instance = varied_instance(seed)
    best = patterns(instance).bound
    for time_limit_s in np.geomspace(2e-4, 2e-2, 6):
        outcome = filtered_arc_flow(instance, time_limit_s=float(time_limit_s))
        assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION)
        assert outcome.bound is None or outcome.bound <= best
        assert outcome.solution is None or verify(instance, outcome.solution) >= best


def test_interference_is_refused():
    outcome = find_method("provisioning", "filtered-arc-flow").run(table7(20, interference=True))
    assert outcome.status is Status.UNSUPPORTED
    assert "use the method interference" in outcome.details["reason"]
