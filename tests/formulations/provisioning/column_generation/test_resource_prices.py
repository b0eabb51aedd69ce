from math import inf

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.branching import Branching
from schedgap.formulations.provisioning.column_generation.relaxation import group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import (
    ResourceRelaxation,
    single_resource_prices,
)
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import price_step

NANO = 1000
FAR = 10**15


def solve(instance, low=None, high=None):
    """Return prices of the classes and of the groups, dollars, without limits unless given as {group: amount}."""
    weights = group_weights(instance)
    lows, highs = np.full(weights.shape[0], -np.inf), np.full(weights.shape[0], np.inf)
    for g, amount in (low or {}).items():
        lows[g] = amount
    for g, amount in (high or {}).items():
        highs[g] = amount
    relaxation = ResourceRelaxation(instance, weights)
    relaxation.limit(lows, highs)
    relaxation.solve(None)
    duals = relaxation.duals
    # What is proven in integers is what the prices say, but for less than a micro-dollar of rounding and one step of prices.
    limits = sum(duals[instance.num_classes + g] * amount for g, amount in (low or {}).items())
    limits += sum(min(0, duals[instance.num_classes + g]) * amount for g, amount in (high or {}).items())
    worth = instance.counts @ duals[: instance.num_classes] + limits
    assert worth * 1e6 - 1 <= relaxation.bound <= worth * 1e6 + price_step(instance)
    return duals[: instance.num_classes], duals[instance.num_classes :]


@pytest.mark.parametrize("seed", range(25))
def test_no_content_is_worth_more_than_its_machine(random_instance, shapes, optimum, seed):
    instance = random_instance(seed)
    single = single_resource_prices(instance)
    several, groups = solve(instance)
    assert (single >= 0).all() and (several >= 0).all()
    assert not groups.any()
    for k, content in shapes(instance):
        assert content @ single <= instance.price[k] * NANO
        assert content @ several <= instance.price[k] / 1e6 * (1 + 1e-7)
    best = optimum(instance)
    assert instance.counts @ single <= best * NANO
    # All resources together are worth at least as much as the best of them.
    assert instance.counts @ single / 1e9 <= instance.counts @ several * (1 + 1e-7) <= best / 1e6 * (1 + 2e-7)


def test_one_resource_by_hand(paper_example):
    # A GPU: 12 / 4 or 3 / 1, $3; three of them $9. A core: 0.1 on it3 and it4; 22 cores, $2.2. RAM: 0.8 / 32 = 0.025 a
    # GiB; 66 GiB, $1.65.
    assert single_resource_prices(paper_example).tolist() == [6_000_000_000, 3_000_000_000, 0, 0]


def test_all_resources_by_hand(paper_example):
    # A core $0.1 (it3, it4) and a GPU $2.6 (it1: 10.4 + 1.6; it2: 2.6 + 0.4): 3 x 2.6 + 22 x 0.1 = $10.
    several, _ = solve(paper_example)
    assert paper_example.counts @ several == pytest.approx(10.0, abs=1e-9)


def test_values_are_rounded_down_once(snapshot):
    # $1 for 3 cores: a task of 3 is worth the machine, one of 1 core a third of it less a third of a nano-dollar.
    instance = snapshot([[3000]], [1_000_000], [[[3000], [1000]]], [1, 1])
    assert single_resource_prices(instance).tolist() == [1_000_000_000, 333_333_333]


def test_a_class_costs_what_its_cheapest_family_asks(two_families):
    # cpu: $1.9 / 8 on x and $0.7 / 4 on y, a: 2 cores of y; b: 2 of y, c: 3 of x. 0.35 x 2 + 0.35 + 0.7125 x 2 = 2.475.
    # ram: $1.9 / 16 GiB on x, 0.7 / 4 on y. a: 2 GiB of x for 0.2375, as b, c: 8 for 0.95. 2.6125 in all.
    assert single_resource_prices(two_families).tolist() == [237_500_000, 237_500_000, 950_000_000]


def test_a_limit_is_priced_where_it_binds(two_families):
    # Groups: family x, family y, then the types. Without y the classes' prices rise, and the limit has a negative price.
    free, _ = solve(two_families)
    several, groups = solve(two_families, high={4: 0})
    assert two_families.counts @ several > two_families.counts @ free + 0.01
    assert groups[4] < 0
    # Six x-large at least, at $1.9 each: each but those needed anyway adds its price.
    several, groups = solve(two_families, low={3: 6})
    assert two_families.counts @ several + 6 * groups[3] == pytest.approx(6 * 1.9, abs=1e-9)
    assert groups[3] > 0


def test_impossible_limits_have_finite_prices(two_families):
    several, groups = solve(two_families, high={0: 0, 1: 0})
    assert np.isfinite(several).all() and np.isfinite(groups).all()


@pytest.mark.parametrize("instance", [table7(80, seed=1), distinct(50, seed=1)])
def test_more_resources_prove_more(instance):
    assert instance.counts @ single_resource_prices(instance) / 1e9 < instance.counts @ solve(instance)[0]


def cut(instance):
    """Return the bound when whole machines of the fluid have been tightened until nothing more was cut, and how often."""
    tree = Branching(relaxed := ResourceRelaxation(instance, group_weights(instance)))
    while tree.bound is not None and not tree.is_stuck:
        tree.step(inf, FAR)
    return tree.bound, relaxed.num_cuts


def test_three_tasks_of_two_cores_need_three_machines_of_three(snapshot):
    # As a fluid six cores fill two machines; but one holds one task.
    instance = snapshot([[3000]], [1_000_000], [[[2000]]], [3])
    fluid = ResourceRelaxation(instance, group_weights(instance))
    fluid.solve(None)
    assert fluid.bound == 2_000_000
    assert fluid.tighten(np.array([2.0, 2.0]), None)
    assert not fluid.tighten(np.array([2.0, 2.0]), None)
    fluid.limit(np.full(2, -np.inf), np.full(2, np.inf))
    fluid.solve(None)
    assert (fluid.bound, fluid.amounts.tolist()) == (3_000_000, pytest.approx([3, 3]))


def test_cuts_never_pass_the_optimum(random_instance, optimum):
    number = higher = 0
    for seed in range(20):
        instance = random_instance(seed)
        bound, cuts = cut(instance)
        fluid = ResourceRelaxation(instance, group_weights(instance))
        fluid.solve(None)
        assert fluid.bound <= bound <= optimum(instance)
        number += cuts > 0
        higher += bound > fluid.bound
    assert number > 5 and higher > 5


def test_what_some_tasks_need_of_machines_that_are_given(two_families):
    relaxation = ResourceRelaxation(two_families, group_weights(two_families))
    relaxation.solve(None)
    bound, counts = relaxation.bound, two_families.counts
    many = relaxation.needed(counts, np.full(two_families.num_types, 50), None)
    assert many.price * 1e6 == pytest.approx(bound, abs=price_step(two_families))
    assert counts @ many.values == pytest.approx(many.price)
    assert many.shares.sum(axis=0) == pytest.approx(counts)
    assert many.number @ two_families.price / 1e6 == pytest.approx(many.price)
    # No more than all; nothing for no tasks; far more than there is where machines do not do.
    assert relaxation.needed(counts - np.eye(3, dtype=np.int64)[0], many.number.round() + 50, None).price < many.price
    assert relaxation.needed(counts * 0, np.full(two_families.num_types, 50), None).price == 0
    assert relaxation.needed(counts, np.zeros(two_families.num_types, np.int64), None).price > 10 * many.price
    assert relaxation.needed(counts, many.number, 0.0) is None
    # All tasks count again.
    relaxation.limit(np.full(relaxation.num_groups, -np.inf), np.full(relaxation.num_groups, np.inf))
    relaxation.solve(None)
    assert relaxation.bound == bound
