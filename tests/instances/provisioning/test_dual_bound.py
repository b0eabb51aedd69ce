"""Bounds from class prices against optima found by trying all ways to rent and fill machines."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import ProvisioningInstance, table7
from schedgap.instances.provisioning.pricing import Pricer, dual_bound

DOLLAR = 10**9  # nano-dollars
# it1 holds tau1, tau2 and tau4 for $12, it3 tau3 for $0.8. No content of it1 is worth more than $12: tau1, tau2 and tau4
# fill its 16 cores and are worth 8.6 + 3 + 0.4; with tau3 (6 cores) go tau1 ($9.4) or tau2 and tau4.
TABLE3_DUALS = np.array([86, 30, 8, 4]) * DOLLAR // 10


def small_instance(seed):
    """Three classes of up to two tasks on two families with three types."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 5, (2, 3, 2))
    demand[1, rng.integers(0, 3)] = -1
    capacity = rng.integers(1, 9, (3, 2))
    capacity[0] = np.maximum(capacity[0], demand[0].max(axis=0))
    return ProvisioningInstance(
        name=f"small-{seed}",
        resources=("cpu", "gpu"),
        families=("x", "y"),
        type_names=("x1", "x2", "y1"),
        type2family=[0, 0, 1],
        capacity=capacity,
        price=rng.integers(1, 40, 3) * 50_000,
        demand=demand,
        counts=rng.integers(1, 3, 3),
    )


def contents(instance):
    """Every (type, content) that fits, the empty machine too."""
    for k, content in product(range(instance.num_types), product(*(range(n + 1) for n in instance.counts.tolist()))):
        number = np.array(content)
        demand = instance.demand[instance.type2family[k]]
        if (demand[number > 0] >= 0).all() and (number @ demand <= instance.capacity[k]).all():
            yield k, content


def optimum(instance):
    """The least price, by adding machines one at a time."""
    machines = list(contents(instance))
    start = tuple(instance.counts.tolist())
    paid = {start: 0}
    ready = [(0, start)]
    while ready:
        ready.sort()
        cost, left = ready.pop(0)
        if cost > paid[left]:
            continue
        if not any(left):
            return cost
        for k, content in machines:
            if all(n <= m for n, m in zip(content, left, strict=True)):
                state = tuple(m - n for n, m in zip(content, left, strict=True))
                total = cost + int(instance.price[k])
                if total < paid.get(state, 2**62):
                    paid[state] = total
                    ready.append((total, state))
    return None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 10**5, 10**9, 10**13]), st.sampled_from([0, 2, 2**62]))
def test_any_duals_bound_from_below(seed, scale, node_limit):
    instance = small_instance(seed)
    duals = np.random.default_rng(seed).integers(0, 3 * scale + 1, 3)
    bound = dual_bound(instance, duals, node_limit=node_limit)
    assert 0 <= bound <= optimum(instance)
    assert bound % np.gcd.reduce(instance.price) == 0


def test_the_papers_example_is_proven_by_hand(paper_example):
    assert dual_bound(paper_example, TABLE3_DUALS) == 12_800_000
    # Twice the prices: it1, it2, it3 and it4 all hold twice their price, so all is halved again.
    assert dual_bound(paper_example, 2 * TABLE3_DUALS) == 12_800_000
    # A task 3 for $1.6 on a machine of $0.8: halved, 13.6 / 2 = 6.8.
    assert dual_bound(paper_example, np.array([86, 30, 16, 4]) * DOLLAR // 10) == 6_800_000
    assert dual_bound(paper_example, np.zeros(4, np.int64)) == 0


def test_the_bound_is_rounded_up_to_a_possible_price(paper_example):
    # $12.600000001 is claimed; prices are multiples of $0.2, so the next is $12.8.
    duals = TABLE3_DUALS - np.array([DOLLAR // 5 - 1, 0, 0, 0])
    assert dual_bound(paper_example, duals) == 12_800_000
    assert dual_bound(paper_example, duals - np.array([1, 0, 0, 0])) == 12_600_000


def test_a_pricer_can_be_used_again(paper_example):
    pricer = Pricer(paper_example)
    assert [dual_bound(paper_example, TABLE3_DUALS // n, pricer=pricer) for n in (1, 2, 1)] == [
        12_800_000,
        6_400_000,
        12_800_000,
    ]


def test_a_node_limit_only_weakens():
    instance = table7(50, seed=0)
    duals = instance.reservation_price * 700
    exact = dual_bound(instance, duals)
    assert 0 < dual_bound(instance, duals, node_limit=1) <= exact


@pytest.mark.parametrize(
    ("duals", "message"),
    [([-1, 0, 0, 0], "none negative"), ([1, 1, 1], "expected 4 duals"), ([[1, 1, 1, 1]], "expected 4 duals")],
)
def test_wrong_duals_are_refused(paper_example, duals, message):
    with pytest.raises(InstanceError, match=message):
        dual_bound(paper_example, np.array(duals))


def test_worth_beyond_62_bits_is_refused(paper_example):
    with pytest.raises(InstanceError, match="beyond 62 bits"):
        dual_bound(paper_example, np.full(4, 2**62))


def test_interference_is_refused():
    instance = table7(5, interference=True)
    with pytest.raises(InstanceError, match="does not price interference"):
        dual_bound(instance, np.zeros(instance.num_classes, np.int64))
