import time

import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.formulations.provisioning.patterns.patterns import build
from schedgap.instances.provisioning import ProvisioningInstance, merge_equal_classes
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.pricing import dual_bound
from schedgap.instances.provisioning.verify import price_step


def solved(instance, time_limit_s=None):
    relaxation = Relaxation(instance)
    relaxation.solve(None if time_limit_s is None else time.perf_counter() + time_limit_s)
    return relaxation


def check_patterns(instance, machine_type, patterns):
    for k, pattern in zip(machine_type, patterns, strict=True):
        demand = instance.demand[instance.type2family[k]]
        assert (demand[pattern > 0] >= 0).all()
        assert (pattern @ demand <= instance.capacity[k]).all()
        assert (pattern <= instance.counts).all()


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_is_below_the_optimum_and_anyone_can_check_it(random_instance, optimum, seed):
    instance = random_instance(seed)
    relaxed = solved(instance)
    assert relaxed.is_converged
    assert relaxed.bound <= dual_bound(instance, relaxed.proof) <= optimum(instance)
    check_patterns(instance, relaxed.master.kind, relaxed.master.patterns)
    assert (relaxed.found.x @ relaxed.master.patterns >= instance.counts - 1e-6).all()


@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_relaxation_over_all_patterns(random_instance, seed):
    instance = merge_equal_classes(random_instance(seed)).instance
    model = build(instance)
    all_patterns = solve(model, relax=True).objective * model.objective_scale
    step = price_step(instance)
    assert solved(instance).bound == -(-(all_patterns * (1 - 1e-9)) // step) * step


def test_the_papers_example_is_tight(paper_example):
    # it1 with three tasks and it3 with one: the relaxation is whole.
    relaxed = solved(paper_example)
    assert (relaxed.bound, relaxed.is_converged) == (12_800_000, True)
    assert relaxed.found.objective == pytest.approx(12.8, abs=1e-9)


def test_trial_0_of_table_4():
    # 649.0005 over all patterns, as the bound of the pattern model's relaxation; prices are multiples of $0.00525.
    instance = merge_equal_classes(table7(200, seed=0)).instance
    relaxed = solved(instance)
    assert 649_000_000 < relaxed.bound <= 649_179_000
    assert relaxed.bound == dual_bound(instance, relaxed.proof)


@pytest.mark.parametrize("time_limit_s", [0.0, 0.01])
def test_a_limit_leaves_a_proven_bound(time_limit_s):
    instance = distinct(22, seed=2)
    relaxed = solved(instance, time_limit_s)
    assert 0 < relaxed.bound <= solved(instance).bound
    assert relaxed.bound <= dual_bound(instance, relaxed.proof)


def test_it_can_be_continued_and_stops_at_a_cutoff():
    instance = distinct(15, seed=1)
    whole = solved(instance)
    relaxation = Relaxation(instance)
    relaxation.solve(time.perf_counter() - 1)
    first = relaxation.bound
    relaxation.solve(None, cutoff=first)
    assert (relaxation.iterations, relaxation.bound) == (0, first)
    relaxation.solve(None)
    assert (relaxation.bound, relaxation.is_converged) == (whole.bound, True)


def test_limits_raise_the_bound_and_fall_away_again(two_families):
    # $3.3 with one y-small less: a and a move beside each other on an x-small at best. Six machines cost at least $4.2.
    relaxation = Relaxation(two_families)
    relaxation.solve(None)
    free = relaxation.bound
    low, high = relaxation.master.low.copy(), relaxation.master.high.copy()
    types = relaxation.num_groups - two_families.num_types
    # No y-small: a a b c c need 4 + 4 + 6 cores and 22 GiB of x, at least $1.9 for 16 GiB.
    without = high.copy()
    without[types + 2] = 0
    relaxation.limit(low, without)
    relaxation.solve(None)
    assert free < relaxation.bound <= 3_800_000
    # Three x-large at least, at $1.9.
    many = low.copy()
    many[types + 1] = 3
    relaxation.limit(many, high)
    relaxation.solve(None)
    assert relaxation.bound >= 5_700_000
    relaxation.limit(low, high)
    relaxation.solve(None)
    assert relaxation.bound == free


def prices_without_a_common_divisor():
    """A family that nobody uses, with prices of some $100 and no common divisor but a micro-dollar."""
    return ProvisioningInstance(
        name="coprime",
        resources=("cpu",),
        families=("x", "y"),
        type_names=("x", "y1", "y2"),
        type2family=[0, 1, 1],
        capacity=[[1000], [1000], [2000]],
        price=[1_000_000, 98_000_001, 98_000_002],
        demand=[[[1000]], [[-1]]],
        counts=[2],
    )


@pytest.mark.parametrize("amount", [1, 2, 98_000_001])
def test_a_limit_on_an_unused_family_does_not_overflow(amount):
    # A limit's dual may reach ten times the highest price: 980e9 nano-dollars x 98e6 units of weight need 67 bits.
    instance = prices_without_a_common_divisor()
    relaxation = Relaxation(instance)
    relaxation.start()
    low = relaxation.master.low.copy()
    low[1] = amount
    relaxation.limit(low, relaxation.master.high)
    relaxation.solve(None)
    # Two x at $1, and one y1 is enough: a unit of weight is a micro-dollar.
    assert relaxation.bound == 2_000_000 + amount


def test_it_ends_where_no_more_can_be_proven_than_is_known():
    instance = distinct(30, seed=1)
    full, early = Relaxation(instance), Relaxation(instance)
    full.solve(None)
    early.solve(None, known=10**15)
    assert (early.iterations, early.is_converged) == (1, False)
    again = Relaxation(instance)
    again.solve(None, known=full.bound - price_step(instance))
    assert (again.bound, again.iterations) == (full.bound, full.iterations)
