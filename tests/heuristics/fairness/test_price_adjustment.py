"""The fair point without a linear program, approximately."""

import numpy as np
import pytest

from schedgap.heuristics.fairness import price_adjustment
from schedgap.heuristics.fairness.lowest_share_first import equal_split
from schedgap.heuristics.fairness.price_adjustment import has_limits
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness import FAIR, NOTIONS, alice_bob, micro, random_users, shares_of, verify

approximate = price_adjustment.price_adjustment


@pytest.mark.parametrize("notion", NOTIONS)
def test_papers_examples(notion):
    """Alice and Bob, and the micro-benchmark; all users compete, so that in every notion all have the same share."""
    for instance in (alice_bob(notion=notion), micro(notion=notion)):
        found = approximate(instance)
        assert verify(instance, found) == FAIR
        shares = shares_of(instance, found)
        assert shares == pytest.approx(np.full(shares.shape, shares.max()), rel=1e-6)


def test_who_prefers_what():
    """Alice is fast on machine 1 and Bob on machine 2: an equal division of both would give each less than all of its own.

    10 / 11 of all progress, and 5.5 / 11 if each had half of both.
    """
    instance = alice_bob().replace(
        machine_names=("one", "two"),
        machine_count=[1, 1],
        capacity=[[2000, 2048]] * 2,
        performance=[[10_000, 1000], [1000, 10_000]],
        allowed=np.ones((2, 2), bool),
    )
    assert shares_of(instance, approximate(instance)) == pytest.approx([10 / 11] * 2, rel=1e-3)
    assert shares_of(instance, equal_split(instance)) == pytest.approx([5.5 / 11] * 2, rel=1e-6)


def test_levels_and_weights():
    """Job 4 weighs three times as much and has all of type 4, 60 / 450; the others have the rest, 30 / 150 each."""
    instance = micro().replace(weight=[1000, 1000, 1000, 3000])
    found = approximate(instance)
    assert verify(instance, found) <= FAIR * 1.001
    assert shares_of(instance, found) == pytest.approx([30 / 150] * 3 + [60 / 450], rel=1e-3)


@pytest.mark.parametrize("kind", ["mixed", "interval"])
@pytest.mark.parametrize("speeds", ["machine", "user"])
@pytest.mark.parametrize("resources", [1, 2])
def test_is_within_two_percent(kind, speeds, resources):
    instance = random_users(40, classes=8, machines=60, resources=resources, kind=kind, speeds=speeds, seed=3)
    assert verify(instance, approximate(instance)) < 1.02 * FAIR


def test_resources_that_only_some_need():
    """Of 3 cores and 1 GiB user a runs 1 task of all the memory, of weight 4; user b needs none and goes on to 2 of 3."""
    instance = micro().replace(
        machine_names=("pool",),
        machine_count=[1],
        capacity=[[3000, 1024]],
        demand=[[1000, 1024], [1000, 0]],
        weight=[4000, 1000],
        performance=[[1000], [1000]],
        allowed=np.ones((2, 1), bool),
        tasks=[-1, -1],
        user_names=("a", "b"),
    )
    assert shares_of(instance, approximate(instance)) == pytest.approx([1 / 4, 2 / 3], rel=1e-6)


def test_refuses_limits_that_are_met():
    assert has_limits(micro()) is None
    assert has_limits(micro().replace(tasks=[80, 80, 80, 20])) is None
    assert "user job-4 with 19 tasks, fewer than fit" in has_limits(micro().replace(tasks=[80, 80, 80, 19]))


def test_needs_a_sweep():
    with pytest.raises(MethodError, match="8 rounds of 0 sweeps and 6 at the end; give at least one sweep"):
        approximate(micro(), sweeps=0)
    assert verify(micro(), approximate(micro(), rounds=0)) == FAIR
