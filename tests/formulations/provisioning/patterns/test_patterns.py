import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.patterns.patterns import build, enumerate_patterns, needed_patterns, patterns
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import verify


def test_the_papers_example_costs_12_8_dollars(paper_example):
    outcome = patterns(paper_example)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 12_800_000)
    assert verify(paper_example, outcome.solution) == 12_800_000


def test_two_families_share_the_tasks_at_least_cost(two_families):
    # c needs all of an x-small's memory, so two of x-large's 16 GiB: $1.9 for both; a + a fit a y-small of 4 GiB and 4
    # cores, b takes half of another: $1.4. Together $3.3; b beside the two c has no memory left.
    outcome = patterns(two_families)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 3_300_000)


@pytest.mark.parametrize("seed", range(25))
def test_equals_brute_force(random_instance, optimum, seed):
    instance = random_instance(seed)
    best = optimum(instance)
    for dominance in (True, False):
        outcome = patterns(instance, dominance=dominance)
        assert (outcome.status, outcome.bound, verify(instance, outcome.solution)) == (Status.OPTIMAL, best, best)


@pytest.mark.parametrize("backend", ["cp-sat", "scip", "cbc"])
def test_every_back_end_proves_the_same(backend):
    # Trial 0: $649.179, as HiGHS finds it.
    instance = table7(200, seed=0)
    outcome = patterns(instance, backend=backend)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 649_179_000)
    assert patterns(instance).bound == 649_179_000


def test_resnets_of_equal_demand_get_their_own_tasks_back():
    instance = table7(200, seed=1)
    outcome = patterns(instance)
    assert instance.num_classes == 10
    assert verify(instance, outcome.solution) == outcome.bound


def test_too_many_patterns_are_reported_not_tried():
    outcome = find_method("provisioning", "patterns").run(distinct(100), parameters={"max_patterns": 500})
    assert outcome.status is Status.UNSUPPORTED
    assert "more than 500 patterns for 100 task classes" in outcome.details["reason"]


def test_interference_is_refused():
    instance = table7(20, interference=True)
    assert find_method("provisioning", "patterns").run(instance).status is Status.UNSUPPORTED
    with pytest.raises(MethodError, match="use the method interference"):
        build(instance)


@pytest.mark.parametrize("time_limit_s", [0, 0.001])
def test_a_limit_gives_no_solution_or_a_verified_one(time_limit_s):
    instance = table7(200, seed=0, cpu="vcpu")
    outcome = patterns(instance, time_limit_s=time_limit_s)
    assert outcome.status is not Status.INFEASIBLE
    assert (outcome.solution is None) == (outcome.status is Status.NO_SOLUTION)
    if outcome.solution is not None:
        assert verify(instance, outcome.solution) >= outcome.bound


def test_the_exported_model_has_the_same_optimum():
    model = build(table7(200, seed=0))
    assert round(solve(model).objective) * model.objective_scale == 649_179_000
    assert np.array_equal(model.cost, np.rint(model.cost))


def all_workloads(cpu):
    """Table 7's ten workloads with more tasks of each than any machine holds."""
    return table7(2000, cpu=cpu).replace(counts=np.full(10, 1000), task2class=None)


@pytest.mark.parametrize(("cpu", "merged", "needed"), [("physical", 2066, 125), ("vcpu", 12192, 808)])
def test_numbers_of_patterns_of_table_7(cpu, merged, needed):
    instance = merge_equal_classes(all_workloads(cpu)).instance
    every = enumerate_patterns(instance, 20_000)
    assert (instance.num_classes, every.size) == (9, merged)
    assert needed_patterns(instance, every).size == needed


def test_number_of_patterns_before_merging():
    assert enumerate_patterns(all_workloads("physical"), 20_000).size == 2481


@pytest.mark.parametrize("seed", range(10))
def test_patterns_are_exactly_the_maximal_contents(random_instance, shapes, seed):
    instance = random_instance(seed)
    contents = list(shapes(instance))
    known = {(k, tuple(content)) for k, content in contents}
    maximal = {
        (k, tuple(content))
        for k, content in contents
        if not any((k, tuple(content + unit)) in known for unit in np.eye(3, dtype=int))
    }
    every = enumerate_patterns(instance, 10_000)
    found = list(zip(every.machine_type.tolist(), map(tuple, every.patterns.tolist()), strict=True))
    assert set(found) == maximal
    assert len(found) == len(maximal)


@pytest.mark.parametrize("seed", range(10))
def test_dropped_patterns_are_those_with_a_cheaper_substitute(random_instance, shapes, seed):
    instance = random_instance(seed)
    price = {}
    for k, content in shapes(instance):
        key = tuple(content)
        price[key] = min(price.get(key, (10**9, 0)), (int(instance.price[k]), k))
    every = enumerate_patterns(instance, 10_000)
    kept = set()
    for k, pattern in zip(every.machine_type.tolist(), every.patterns, strict=True):
        parts = [np.array(part) for part in price if (np.array(part) <= pattern).all()]
        splits = any(
            price[tuple(part)][0] + price[tuple(pattern - part)][0] <= instance.price[k]
            for part in parts
            if tuple(pattern - part) in price
        )
        if price[tuple(pattern)][1] == k and not splits:
            kept.add((k, tuple(pattern)))
    needed = needed_patterns(instance, every)
    assert set(zip(needed.machine_type.tolist(), map(tuple, needed.patterns.tolist()), strict=True)) == kept


def test_too_many_say_where():
    instance = all_workloads("physical")
    assert "more than 100 patterns for 10 task classes" in enumerate_patterns(instance, 100)
    assert "more than 10 search nodes" in enumerate_patterns(instance, 20_000, max_nodes=10)
