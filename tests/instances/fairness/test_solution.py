"""Allocations made of floating-point numbers are feasible, whatever the numbers, and as near as can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness import (
    TASK,
    FairnessAllocation,
    alice_bob,
    allocation_of,
    random_users,
    tasks_per_class,
)
from schedgap.instances.fairness.model import shown_tasks
from schedgap.instances.fairness.verify import check_feasible


def test_exact_amounts_stay_as_they_are():
    allocation = allocation_of(alice_bob(), [[2, 1.5, 0], [0, 0.5, 2]])
    assert allocation.user.tolist() == [0, 0, 1, 1]
    assert allocation.machine_class.tolist() == [0, 1, 1, 2]
    assert allocation.amount.tolist() == [2 * TASK, 3 * TASK // 2, TASK // 2, 2 * TASK]
    assert (allocation.copy == -1).all()


def test_thirds_fit_to_the_unit(make):
    """Three users of 2/3 tasks of 1 core round to 666,666,666,667 units each, one unit too many on 2 cores."""
    instance = make([1], [[2]], [[1], [1], [1]])
    allocation = allocation_of(instance, np.full((3, 1), 2 / 3))
    assert sorted(allocation.amount.tolist()) == [666_666_666_666, 666_666_666_667, 666_666_666_667]
    check_feasible(instance, allocation)


def test_too_much_shrinks_by_a_common_factor(make):
    """3 + 1 tasks on 2 cores: a half of each. The user of the second resource alone keeps what it has."""
    instance = make([1], [[2, 9]], [[1, 0], [1, 0], [0, 1]])
    assert (
        pytest.approx(np.array([[4 / 3, 2 / 3, 5]]))
        == tasks_per_class(instance, allocation_of(instance, [[2], [1], [5]])).T
    )


def test_limited_tasks(make):
    """3 of 4 tasks, in the proportion that was asked for."""
    instance = make([1, 1], [[4], [4]], [[1]], tasks=[3])
    assert tasks_per_class(instance, allocation_of(instance, [[3, 1]])).tolist() == [[2.25, 0.75]]


def test_noise_where_nothing_fits_takes_nothing_from_others(make):
    """User 1 demands what class 1 lacks: a rounding error there must not cost user 0 its tasks."""
    instance = make([1, 1], [[4, 4], [4, 0]], [[1, 0], [1, 1]])
    tasks = tasks_per_class(instance, allocation_of(instance, [[0, 4], [4, 1e-9]]))
    assert tasks.tolist() == [[0, 4], [4, 0]]


def test_what_is_negative_or_forbidden_is_left_out():
    tasks = tasks_per_class(alice_bob(), allocation_of(alice_bob(), [[-1e-9, 1, 2], [1, 1, -3]]))
    assert tasks.tolist() == [[0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("tasks", [[[0, np.nan, 0]] * 2, [[np.inf, 0, 0]] * 2, [[1, 1, 1]]])
def test_numbers_that_are_none(tasks):
    with pytest.raises(SolutionError, match=r"alice-bob: tasks have shape .*; give \(2, 3\) finite ones"):
        allocation_of(alice_bob(), tasks)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    limited=st.booleans(),
    scale=st.floats(1e-13, 1e6),
    resources=st.integers(1, 3),
    sparse=st.booleans(),
)
def test_never_infeasible(seed, limited, scale, resources, sparse):
    """From far below to far above what fits; and what fits already loses no more than roundings."""
    instance = random_users(7, classes=3, machines=5, resources=resources, limited=limited, seed=seed)
    rng = np.random.default_rng(seed)
    tasks = rng.random((7, 3)) * scale * (rng.random((7, 3)) < 0.5 if sparse else 1)
    allocation = allocation_of(instance, tasks)
    check_feasible(instance, allocation)
    again = allocation_of(instance, tasks_per_class(instance, allocation))
    check_feasible(instance, again)
    assert tasks_per_class(instance, again) == pytest.approx(tasks_per_class(instance, allocation), rel=1e-9, abs=1e-10)


def test_exact_decimals():
    assert [shown_tasks(amount) for amount in (0, 1, TASK, 5 * TASK // 2, 10 * TASK)] == [
        "0",
        "0.000000000001",
        "1",
        "2.5",
        "10",
    ]


def test_entries_of_one_user_and_class_add_up():
    allocation = FairnessAllocation([0, 0], [1, 1], [TASK, TASK // 2], [-1, 0])
    assert tasks_per_class(alice_bob(), allocation).tolist() == [[0, 1.5, 0], [0, 0, 0]]
    assert tasks_per_class(alice_bob(), FairnessAllocation([], [], [], [])).tolist() == [[0, 0, 0]] * 2
