"""Algorithm 1 as printed: where it stalls, and where it is wrong."""

import numpy as np
import pytest

from schedgap.formulations.fairness.progressive_filling import (
    Filling,
    NoOptimumError,
    Point,
    progressive_filling,
    progressive_filling_literal,
    saturated_as_printed,
)
from schedgap.instances.fairness import FAIR, UNLIMITED, FairnessInstance, alice_bob, micro, shares_of, verify
from schedgap.instances.method import Status


@pytest.fixture
def two_speeds():
    """Two users without constraints on two slots, one twice as fast; each could have half of both."""
    return FairnessInstance(
        name="two-speeds",
        notion="eunomia",
        resources=("slot",),
        machine_names=("slow", "fast"),
        machine_count=[1, 1],
        capacity=[[1000], [1000]],
        demand=[[1000], [1000]],
        weight=[1000, 1000],
        performance=[[1000, 2000], [1000, 2000]],
        allowed=np.ones((2, 2), bool),
        tasks=[UNLIMITED, UNLIMITED],
    )


def saturated(instance, tasks):
    """Who is still active after the test of a round that ended with these tasks, at the level 1/2."""
    filling = Filling(instance, "highs", None)
    tasks = np.array(tasks)
    point = Point(tasks, (tasks * filling.model.gain).sum(axis=1), 0.5)
    x = np.zeros(2)
    active = saturated_as_printed(filling, [0, 1], x, point, "i", 1e-9)
    assert x.tolist() == tasks.sum(axis=1).tolist()
    return active


def test_keeping_numbers_of_tasks_is_wrong(two_speeds):
    """User 0 has 1 slow and 1/4 fast, user 1 has 3/4 fast: 3/2 of progress each, of 3.

    User 0's 5/4 tasks can be exchanged for fast ones, user 1's cannot: only user 1 is called saturated, and loses half.
    """
    assert saturated(two_speeds, [[1, 0.25], [0, 0.75]]) == [0]
    outcome = progressive_filling_literal(two_speeds)
    shares = shares_of(two_speeds, outcome.solution)
    assert sorted(shares.tolist()) == pytest.approx([1 / 4, 3 / 4], rel=1e-9)
    assert verify(two_speeds, outcome.solution) == 2 * FAIR


def test_nobody_is_saturated_in_the_middle(two_speeds):
    """With half of each machine, either user could have all the fast one for its task: the loop has no end."""
    assert saturated(two_speeds, [[0.5, 0.5], [0.5, 0.5]]) == [0, 1]


def test_stalls_on_the_papers_own_micro_benchmark():
    """Job 4 is saturated; then nobody is. The shares happen to be right."""
    outcome = progressive_filling_literal(micro())
    assert outcome.details["stalled_in_round"] == outcome.details["rounds"] == 2
    assert outcome.details["left_active"] == 3
    assert outcome.claimed_status is Status.FEASIBLE
    assert outcome.bound is None
    assert outcome.solution.certificate is None
    assert shares_of(micro(), outcome.solution).tolist() == pytest.approx([0.25] * 4, rel=1e-9)


@pytest.mark.parametrize("notion", ["eunomia", "tsf"])
def test_is_right_on_the_illustrative_example(notion):
    instance = alice_bob(notion=notion)
    outcome = progressive_filling_literal(instance)
    assert outcome.details["left_active"] == 0
    assert verify(instance, outcome.solution) == FAIR


def test_testing_the_wrong_user_is_wrong():
    """Line 21 with j: on the micro-benchmark Job 3 ends with half of its share."""
    outcome = progressive_filling_literal(micro(), tested="j")
    assert verify(micro(), outcome.solution) == 2 * FAIR


def test_tasks_are_shares_where_machines_are_equal(small_instance):
    """For TSF's shares, of numbers of tasks, the printed algorithm is TSF's own, and right."""
    for seed in range(15):
        instance = small_instance(seed, notion="tsf", limited=False)
        found = shares_of(instance, progressive_filling_literal(instance).solution)
        fair = shares_of(instance, progressive_filling(instance).solution)
        assert found == pytest.approx(fair, rel=1e-8)


def test_how_often_it_fails(small_instance):
    """One resource, unlimited tasks: it stalls or ends elsewhere on most instances of several users and speeds."""
    failed = 0
    for seed in range(30):
        instance = small_instance(seed, users=4, classes=4, resources=1, limited=False, notion="eunomia")
        outcome = progressive_filling_literal(instance)
        found = shares_of(instance, outcome.solution)
        fair = shares_of(instance, progressive_filling(instance).solution)
        failed += "stalled_in_round" in outcome.details or not np.allclose(found, fair, rtol=1e-6)
    assert failed > 15


def test_no_time():
    assert progressive_filling_literal(micro(), time_limit_s=0.0).claimed_status is Status.NO_SOLUTION


def test_a_program_without_an_optimum_ends_the_run(two_speeds, monkeypatch):
    """The back end refuses the third program: the first round's allocation is what there is."""
    solved = Filling.solve

    def refuse(self, *arguments):
        if self.count == 2:
            raise NoOptimumError("no optimum")
        return solved(self, *arguments)

    monkeypatch.setattr(Filling, "solve", refuse)
    outcome = progressive_filling_literal(two_speeds)
    assert outcome.details["no_optimum_in_round"] == 1
    assert verify(two_speeds, outcome.solution) >= FAIR
    assert outcome.bound is None
