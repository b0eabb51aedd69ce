"""Budgets of pools, and what contradicts itself in what controllers look at."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import EMPTY, UNDERUTILIZED, Budget, Disruption, Guard, Pool, Running
from schedgap.instances.provisioning.windows import Window


def test_the_least_budget_for_a_reason_counts_and_percentages_are_rounded_up():
    # Of 3 machines half is 1.5, so 2; the budget of none at all is for machines with tasks only.
    pool = Pool("p", (Budget(50, True), Budget(5, False), Budget(0, False, (UNDERUTILIZED,))))
    assert [pool.allowed(n, EMPTY) for n in (0, 1, 3, 20)] == [0, 1, 2, 5]
    assert pool.allowed(20, UNDERUTILIZED) == 0
    assert Pool("p").allowed(7, EMPTY) == 7


def test_budgets_hold_at_their_times_only():
    # 0 on 1970-01-01 from 9 to 17 o'clock, else 2 of 20.
    night = Pool("p", (Budget(0, False, window=Window("0 9 * * *", 8 * 3600)), Budget(10, True)))
    assert [night.allowed(20, EMPTY, hour * 3600) for hour in (8, 9, 16, 17, 33)] == [2, 0, 0, 2, 0]
    # Of a time that nobody knows it does not hold.
    assert night.allowed(20, EMPTY) == 2


def test_guards_count_those_that_are_away():
    """Of 10 tasks 9 are well. As the disruption controller of Kubernetes: shares are rounded up, of those that there are."""
    for guard, allowed in (
        (Guard("g", 2, False, is_least=False), 1),
        (Guard("g", 1, False, is_least=False), 0),
        # 25% of 10 are 3.
        (Guard("g", 25, True, is_least=False), 2),
        (Guard("g", 0, True, is_least=False), 0),
        (Guard("g", 7, False, is_least=True), 2),
        # 81% of 10 are 9.
        (Guard("g", 81, True, is_least=True), 0),
        (Guard("g", 12, False, is_least=True), 0),
        (Guard("g", 12, False, is_least=False), 9),
    ):
        assert guard.allows(10, 9) == allowed


@pytest.mark.parametrize(
    ("pools", "pool", "marks", "message"),
    [
        ((Pool("p"), Pool("p")), [0], [0], "pool 'p' is named 2 times"),
        ((Pool("p"),), [1], [0], "running machine 0 has pool 1; give -1 to 0"),
        ((), [-1], [16], "running machine 0 has marks 16; give 0 to 15"),
        ((Pool("p", (Budget(-1, False),)),), [0], [0], "pool 'p' has a budget of -1"),
        ((Pool("p", (Budget(1, False, ("drifted",)),)),), [0], [0], "for drifted"),
        ((Pool("p", consolidate_after_s=-2),), [0], [0], "pool 'p' has consolidate_after_s -2"),
        ((Pool("p", only_empty=True, balanced=True),), [0], [0], "and one policy"),
        ((), [-1, -1], [0], "pools, marks and quiet_s are of"),
    ],
)
def test_what_does_not_fit_together_is_refused(pools, pool, marks, message):
    with pytest.raises(InstanceError, match=message):
        Disruption(pools, np.array(pool), np.array(marks), np.zeros(0, np.int64))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"whole": [[1, 1]]}, "'whole' of the running machines has shape"),
        ({"reserved": [[1], [-1]]}, "least value -1"),
        ({"disruption": Disruption.of(3)}, "pools and marks of running machines are of 3 and 3, there are 2"),
    ],
)
def test_amounts_are_of_each_machine(more, message):
    with pytest.raises(InstanceError, match=message):
        Running.from_contents(["a", "b"], [0, 0], [[1], [1]], **more)
