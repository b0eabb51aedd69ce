from itertools import pairwise

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning import resource_bound
from schedgap.formulations.provisioning.assignment import build
from schedgap.formulations.provisioning.bounds import (
    bound_assignment_lp,
    bound_dual_feasible,
    bound_resource,
    bound_resource_prices,
    bound_type_prices,
    build_assignment_lp,
    build_dual_feasible,
    type_blocks,
)
from schedgap.formulations.provisioning.patterns.patterns import interference, patterns
from schedgap.formulations.provisioning.resource_bound import certified
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import price_step

BOUNDS = (bound_resource, bound_assignment_lp, bound_resource_prices, bound_type_prices, bound_dual_feasible)
STEPS = BOUNDS[1:]


def test_the_papers_example_by_hand(paper_example):
    # One GPU costs at least $3 (it1: 12 / 4, it2: 3 / 1): 3 GPUs, $9; a core at least $0.1 (it3, it4): 22 cores, $2.2;
    # but task 1 alone needs an it1 of $12.
    assert bound_resource(paper_example).bound == 12_000_000
    # Tasks 3 and 4 share it3 and it4, 10 cores for $1; tasks 1 and 2 take three it2 in shares, 3 GPUs and 12 cores, $9.
    assert bound_assignment_lp(paper_example).bound == 10_000_000
    # Task 1 takes 2 of 4 GPUs but 8 of 16 cores; with what it blocks the program gives 12 2/3, and every cost is a
    # multiple of $0.4.
    assert bound_dual_feasible(paper_example).bound == 12_800_000


@pytest.mark.parametrize("seed", range(25))
def test_no_bound_exceeds_the_optimum(random_instance, seed):
    instance = random_instance(seed)
    best = patterns(instance).bound
    values = [bound(instance).bound for bound in BOUNDS]
    assert max(values) <= best
    assert all(value % price_step(instance) == 0 for value in values)


@pytest.mark.parametrize("seed", range(10))
def test_price_bounds_hold_with_interference(random_instance, seed):
    instance = random_instance(seed, interference=True)
    best = interference(instance).bound
    assert max(bound(instance).bound for bound in BOUNDS) <= best


@pytest.mark.parametrize("instance", [table7(200, seed=0), distinct(60, seed=1), table7(50, seed=2, cpu="vcpu")])
def test_each_linear_program_is_at_least_the_one_before(instance):
    # They are solved to 1e-7, so each may lose a little: one step of the price.
    values = [bound(instance).bound for bound in STEPS]
    assert all(later >= earlier - price_step(instance) for earlier, later in pairwise(values))


@pytest.mark.parametrize("seed", range(6))
def test_the_aggregated_program_is_the_relaxation_of_the_ilp(random_instance, seed):
    instance = random_instance(seed)
    model, small = build(instance), build_assignment_lp(instance)
    relaxed = solve(model, relax=True).objective * model.objective_scale
    demands_something = ~(instance.demand == 0).all(axis=2).any()
    if demands_something:
        assert solve(small).objective * 1_000_000 == pytest.approx(relaxed, rel=1e-9)
    assert solve(small).objective * 1_000_000 <= relaxed * (1 + 1e-9)


def test_trial_0_of_table_4():
    # The optimum is $649.179, the relaxation over patterns $649.0005.
    instance = table7(200, seed=0)
    assert [bound(instance).bound for bound in BOUNDS] == [618_120_000] + [648_771_000] * 4


@pytest.mark.parametrize("noise", [0.0, 0.5, 3.0])
def test_any_prices_prove_a_bound(random_instance, noise):
    for seed in range(10):
        instance = random_instance(seed)
        rng = np.random.default_rng(seed)
        blocks = type_blocks(instance, blocking=True)
        prices = [rng.random(block.size.shape[0]) * 1000 * noise - 100 for block in blocks]
        bound = certified(instance, blocks, prices)
        assert 0 <= bound <= patterns(instance).bound


def test_blocking_rows_hold_for_every_content(random_instance, shapes):
    for seed in range(10):
        instance = random_instance(seed)
        blocks = type_blocks(instance, blocking=True)
        for k, content in shapes(instance):
            assert (blocks[k].size @ content <= blocks[k].capacity[:, 0]).all()


def test_bounds_are_no_solutions(paper_example):
    outcome = find_method("provisioning", "bound-type-prices").run(paper_example)
    assert (outcome.claimed_status, outcome.solution) == (Status.NO_SOLUTION, None)
    assert outcome.bound == 10_000_000


def test_no_time_gives_the_cheap_bound(paper_example):
    said = "The linear program was not solved in time. The bound is that of bound-resource."
    outcomes = [bound(paper_example, time_limit_s=0) for bound in STEPS]
    assert [(found.bound, found.details["reason"]) for found in outcomes] == [(12_000_000, said)] * 4


def test_the_exported_program_has_the_bound_as_its_optimum(paper_example):
    assert solve(build_dual_feasible(paper_example)).objective == pytest.approx(38 / 3, abs=1e-9)


def test_a_program_that_has_no_answer_leaves_the_bound_without_one(paper_example, monkeypatch):
    def fail(*_, **__):
        raise BackendError("HiGHS ended with 'Not Set'.")

    monkeypatch.setattr(resource_bound, "solve", fail)
    outcome = bound_resource_prices(paper_example)
    assert outcome.bound == bound_resource(paper_example).bound > 0
    assert outcome.details["reason"] == "HiGHS ended with 'Not Set'. The bound is that of bound-resource."
