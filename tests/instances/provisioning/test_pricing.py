"""Pricing against all contents of a machine, listed in plain Python."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import ProvisioningInstance, table7
from schedgap.instances.provisioning.pricing import Pricer

# From values of one unit, which pricing makes finer, to totals beyond 54 bits, which it makes coarser.
SCALES = (1, 10**9, 2**46, 2**51)


def small_instance(seed, num_resources=3, grain=1):
    """Four classes of up to three tasks, three families of up to two types; zeros, and classes barred from families.

    Every class fits the first type. Type capacities may be 0 in all resources but one.
    """
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 5, (3, 4, num_resources)) * (rng.random((3, 4, num_resources)) < 0.7)
    demand[1:][rng.random((2, 4)) < 0.3] = -1
    capacity = rng.integers(0, 9, (5, num_resources))
    capacity[np.arange(5), rng.integers(0, num_resources, 5)] += 1
    capacity[0] = np.maximum(capacity[0], demand[0].max(axis=0))
    return ProvisioningInstance(
        name=f"small-{seed}",
        resources=tuple(f"r{r}" for r in range(num_resources)),
        families=("x", "y", "z"),
        type_names=("x1", "x2", "y1", "y2", "z1"),
        type2family=[0, 0, 1, 1, 2],
        capacity=capacity * grain,
        price=rng.integers(1, 9, 5) * 1_000_000,
        demand=np.where(demand < 0, -1, demand * grain),
        counts=rng.integers(1, 4, 4),
    )


def fits(instance, k, content):
    """Whether one machine of type k may hold the content; plain integers."""
    demand = instance.demand[instance.type2family[k]].tolist()
    if any(n and row[0] < 0 for n, row in zip(content, demand, strict=True)):
        return False
    used = [sum(n * row[r] for n, row in zip(content, demand, strict=True) if n) for r in range(len(demand[0]))]
    return all(u <= c for u, c in zip(used, instance.capacity[k].tolist(), strict=True))


def best_worth(instance, k, values, counts):
    """The most that a machine of type k can hold, by trying every content."""
    contents = product(*(range(n + 1) for n in counts.tolist()))
    return max(
        sum(n * v for n, v in zip(content, values.tolist(), strict=True))
        for content in contents
        if fits(instance, k, content)
    )


def draw_values(seed, scale):
    """Four class prices, about a quarter of them 0, not all multiples of the scale."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(4) < 0.25, 0, rng.integers(0, 20, 4) * scale + rng.integers(0, 3, 4))


def check_patterns(instance, priced, values, counts):
    """Every pattern fits, is within the counts and is worth what is said; no content is worth more than `upper`."""
    best = [best_worth(instance, k, values, counts) for k in range(instance.num_types)]
    for k in range(instance.num_types):
        assert fits(instance, k, priced.pattern[k].tolist())
        assert (priced.pattern[k] <= counts).all()
        assert priced.value[k] == priced.pattern[k] @ values
        assert best[k] <= priced.upper[k]
    return np.array(best)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES[:2]), st.integers(1, 4))
def test_search_finds_the_best_content(seed, scale, num_resources):
    instance = small_instance(seed, num_resources)
    values = draw_values(seed, scale)
    priced = Pricer(instance).price(values, np.zeros(5, np.int64))
    best = check_patterns(instance, priced, values, instance.counts)
    assert priced.value.tolist() == priced.upper.tolist() == best.tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES), st.integers(1, 3))
def test_the_table_finds_the_best_content(seed, scale, num_resources):
    instance = small_instance(seed, num_resources)
    values = draw_values(seed, scale)
    pricer = Pricer(instance)
    priced = pricer.price(values, np.zeros(5, np.int64), 0)
    best = check_patterns(instance, priced, values, instance.counts)
    assert priced.value.tolist() == priced.upper.tolist() == best.tolist()
    # Every family in which a machine can hold something of worth that needs room did take its table.
    for family in pricer.families:
        assert (family.table is not None) == bool(values[family.classes].any())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES[2:]))
def test_values_beyond_54_bits_are_rounded_upwards_only(seed, scale):
    instance = small_instance(seed)
    values = draw_values(seed, scale)
    priced = Pricer(instance).price(values, np.zeros(5, np.int64))
    best = check_patterns(instance, priced, values, instance.counts)
    # Twelve tasks at most, each rounded up by less than 2**7 (12 x 20 x 2**51 has 59 bits).
    assert (priced.upper - best < 12 * 2**7).all()
    assert (best - priced.value < 12 * 2**7).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES), st.integers(0, 9), st.sampled_from([3, 4]))
def test_a_node_limit_leaves_upper_bounds_valid(seed, scale, node_limit, num_resources):
    instance = small_instance(seed, num_resources)
    values = draw_values(seed, scale)
    target = np.random.default_rng(seed).integers(-5, 60, 5) * scale
    priced = Pricer(instance).price(values, target, node_limit, use_tables=False)
    check_patterns(instance, priced, values, instance.counts)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES[:2]))
def test_a_target_hides_only_what_is_not_above_it(seed, scale):
    instance = small_instance(seed)
    values = draw_values(seed, scale)
    target = np.random.default_rng(seed).integers(-9, 90, 5) * scale
    priced = Pricer(instance).price(values, target)
    best = check_patterns(instance, priced, values, instance.counts)
    assert (priced.upper <= np.maximum(best, target)).all()
    above = best > target
    assert priced.value[above].tolist() == priced.upper[above].tolist() == best[above].tolist()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("target", [2**59, 2**60, 2**62, 2**63 - 1])
def test_a_huge_target_is_reached_by_nothing(scale, target):
    instance = small_instance(3)
    values = draw_values(3, scale)
    priced = Pricer(instance).price(values, np.full(5, target))
    check_patterns(instance, priced, values, instance.counts)
    assert (priced.upper <= target).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_fewer_tasks_may_be_offered(seed, by_table):
    instance = small_instance(seed)
    values = draw_values(seed, 1000)
    counts = np.random.default_rng(seed).integers(0, instance.counts + 1)
    node_limit = 0 if by_table else 2**62
    priced = Pricer(instance).price(values, np.zeros(5, np.int64), node_limit, counts=counts)
    best = check_patterns(instance, priced, values, counts)
    assert priced.upper.tolist() == best.tolist()


def test_prices_may_change_in_any_way_between_calls():
    # Multipliers are kept from call to call; what they were tuned for must not matter.
    instance = small_instance(8)
    pricer = Pricer(instance)
    for seed in range(12):
        values = draw_values(seed, SCALES[seed % 2] * 7 ** (seed % 5))
        priced = pricer.price(values, np.zeros(5, np.int64))
        assert priced.upper.tolist() == check_patterns(instance, priced, values, instance.counts).tolist()


@pytest.mark.parametrize("grain", [1, 1000, 999_983])
def test_the_unit_of_demands_does_not_matter(grain):
    instance = small_instance(5, grain=grain)
    values = draw_values(5, 10)
    plain = Pricer(small_instance(5)).price(values, np.zeros(5, np.int64))
    assert Pricer(instance).price(values, np.zeros(5, np.int64)).upper.tolist() == plain.upper.tolist()


def test_search_and_table_agree_on_the_papers_workloads():
    instance = table7(200, seed=1)
    rng = np.random.default_rng(1)
    for _ in range(3):
        values = (instance.reservation_price * 1000 * rng.uniform(0.3, 0.9, instance.num_classes)).astype(np.int64)
        nothing = np.zeros(instance.num_types, np.int64)
        searched, tabled = Pricer(instance).price(values, nothing), Pricer(instance).price(values, nothing, 0)
        assert searched.value.tolist() == tabled.value.tolist() == searched.upper.tolist() == tabled.upper.tolist()


def free_and_paid():
    """Eight tasks that ask for nothing and one that fills the machine."""
    return ProvisioningInstance(
        name="free",
        resources=("cpu",),
        families=("x",),
        type_names=("t",),
        type2family=[0],
        capacity=[[4000]],
        price=[1_000_000],
        demand=[[[0], [4000]]],
        counts=[8, 1],
    )


def test_tasks_without_demand_share_a_machine_at_once():
    priced = Pricer(free_and_paid()).price(np.array([3, 5]), np.array([0]))
    assert (priced.value[0], priced.upper[0], priced.pattern[0].tolist()) == (29, 29, [8, 1])
    # 24 is base; a target of 29 leaves nothing of interest, but what is free is still there.
    priced = Pricer(free_and_paid()).price(np.array([3, 5]), np.array([29]))
    assert (priced.value[0], priced.upper[0], priced.pattern[0].tolist()) == (24, 29, [8, 0])


@pytest.mark.parametrize("values", [[2**59, 0], [2**61, 2**61], [0, 2**62], [2**59 - 1, 8]])
def test_worth_beyond_62_bits_is_refused(values):
    # 8 x 2**61 = 2**64 would wrap to 0, an upper bound of nothing.
    with pytest.raises(InstanceError, match="beyond 62 bits"):
        Pricer(free_and_paid()).price(np.array(values), np.array([0]))


def test_worth_just_within_62_bits_is_priced():
    values = np.array([0, 2**62 - 2**10])
    priced = Pricer(free_and_paid()).price(values, np.array([0]))
    assert priced.value[0] == values[1] <= priced.upper[0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SCALES), st.sampled_from([0, 10**6]))
def test_each_family_may_have_values_and_counts_of_its_own(seed, scale, node_limit):
    instance = small_instance(seed)
    rng = np.random.default_rng([1, seed])
    values = np.stack([draw_values(seed + f, scale) for f in range(3)])
    counts = rng.integers(0, instance.counts + 1, (3, 4))
    together = Pricer(instance).price(values, np.zeros(5, np.int64), node_limit, counts=counts)
    for k, f in enumerate(instance.type2family.tolist()):
        best = best_worth(instance, k, values[f], counts[f])
        assert fits(instance, k, together.pattern[k].tolist())
        assert (together.pattern[k] <= counts[f]).all()
        assert together.value[k] == together.pattern[k] @ values[f] <= best <= together.upper[k]
        alone = Pricer(instance).price(values[f], np.zeros(5, np.int64), node_limit, counts=counts[f])
        assert together.upper[k] == alone.upper[k]


@pytest.mark.parametrize("seed", range(5))
def test_no_more_of_a_class_than_may_share_a_machine(seed):
    """Against all contents; a class that asks for nothing, too."""
    instance = small_instance(seed)
    demand = instance.demand.copy()
    demand[:, 3] = np.where(demand[:, 3] < 0, -1, 0)
    limited = instance.replace(demand=demand, counts=[3, 3, 3, 3], per_machine=[1, 2, -1, 2])
    values = np.array([5, 4, 3, 2])
    priced = Pricer(limited).price(values, np.zeros(5, np.int64))
    for k in range(5):
        row = demand[instance.type2family[k]]
        ranges = [range(n + 1 if asked[0] >= 0 else 1) for n, asked in zip([1, 2, 3, 2], row, strict=True)]
        fitting = (x for x in product(*ranges) if (np.array(x) @ np.maximum(row, 0) <= instance.capacity[k]).all())
        assert priced.value[k] == priced.upper[k] == max(int(np.array(x) @ values) for x in fitting)


def test_the_search_grows_with_resources_no_faster_than_they_do():
    """Thirty resources, where two shares of each would be 2^30 samples; six have 2^6, as they had."""
    for resources, samples in ((2, 9), (6, 64), (7, 16), (30, 16)):
        rng = np.random.default_rng(resources)
        instance = small_instance(1, resources)
        demand = np.where(instance.demand < 0, -1, rng.integers(1, 5, instance.demand.shape))
        instance = instance.replace(demand=demand, capacity=np.full((5, resources), 9))
        pricer = Pricer(instance)
        assert {family.samples.shape for family in pricer.families} == {(samples, resources)}
        priced = pricer.price(np.array([5, 4, 3, 2]), np.zeros(5, np.int64))
        assert (priced.value == priced.upper).all()
