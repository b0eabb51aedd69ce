"""Whole tasks to the lowest share, against a slow and plain way to do the same."""

from fractions import Fraction

import numpy as np
import pytest

from schedgap.heuristics.fairness import lowest_share_first as whole
from schedgap.heuristics.fairness.lowest_share_first import (
    ORDERS,
    TIES,
    Machines,
    class_order,
    lowest_share_first,
    most_whole_tasks,
    too_many_tasks,
    user_rank,
)
from schedgap.instances.fairness import (
    FAIR,
    NOTIONS,
    TASK,
    UNLIMITED,
    FairnessInstance,
    alice_bob,
    micro,
    random_users,
    shares_of,
    tasks_per_class,
    verify,
)
from schedgap.instances.fairness.shares import exact_fitting, exact_scale, exact_values, value_and_scale


def plainly(instance, order, rank):
    """Return the number of tasks on each machine, (N, M), placed one at a time after looking at all users and machines."""
    fits, value = exact_fitting(instance), exact_values(instance)
    scale = [exact_scale(instance, i, fits[i], value[i]) for i in range(instance.num_users)]
    first = np.concatenate(([0], np.cumsum(instance.machine_count)))
    left = np.repeat(instance.capacity, instance.machine_count, axis=0)
    tasks = np.zeros((instance.num_users, left.shape[0]), int)
    share = [Fraction(0)] * instance.num_users

    def machine_for(i):
        if instance.tasks[i] != UNLIMITED and tasks[i].sum() >= instance.tasks[i]:
            return None
        machines = [m for k in order[i] if k >= 0 for m in range(first[k], first[k + 1])]
        return next((m for m in machines if (instance.demand[i] <= left[m]).all()), None)

    while True:
        turn = sorted(range(instance.num_users), key=lambda i: (share[i], rank[i]))
        chosen = next(((i, machine_for(i)) for i in turn if machine_for(i) is not None), None)
        if chosen is None:
            return tasks
        i, m = chosen
        left[m] -= instance.demand[i]
        tasks[i, m] += 1
        share[i] += value[i][np.searchsorted(first, m, side="right") - 1] / scale[i]


def on_machines(instance, allocation):
    first = np.concatenate(([0], np.cumsum(instance.machine_count)))
    tasks = np.zeros((instance.num_users, first[-1]), int)
    np.add.at(tasks, (allocation.user, first[allocation.machine_class] + allocation.copy), allocation.amount // TASK)
    return tasks


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ties", TIES)
def test_against_the_plain_way(order, ties):
    for seed in range(4):
        instance = random_users(8, classes=4, machines=8, resources=2, limited=seed % 2 == 1, seed=seed)
        found = lowest_share_first(instance, order=order, ties=ties)
        expected = plainly(instance, class_order(instance, order), user_rank(instance, ties))
        assert on_machines(instance, found).tolist() == expected.tolist()
        assert verify(instance, found) >= FAIR


@pytest.mark.parametrize("notion", ["drf", "tsf"])
def test_equal_shares_are_equal_whatever_they_are_added_up_from(notion):
    """At 12 of 14 cores each has 6/14, three times 2/14 and six times 1/14: the one who is listed first goes on."""
    instance = FairnessInstance(
        name="tie",
        notion=notion,
        resources=("cpu",),
        machine_names=("one",),
        machine_count=[1],
        capacity=[[14_000]],
        demand=[[2000], [1000]],
        weight=[1000, 1000],
        performance=[[1000], [1000]],
        allowed=np.ones((2, 1), bool),
        tasks=[UNLIMITED, UNLIMITED],
    )
    assert tasks_per_class(instance, lowest_share_first(instance)).ravel().tolist() == [4, 6]


def test_illustrative_example():
    """Figure 1, c and d: Alice and Bob take their own machines first and Alice ends with machine 2.

    As listed, Bob takes half of machine 2 before he looks at his own: 2/8 and 6/8.
    """
    assert shares_of(alice_bob(), lowest_share_first(alice_bob())).tolist() == [4 / 8, 4 / 8]
    assert shares_of(alice_bob(), lowest_share_first(alice_bob(), order="fastest")).tolist() == [4 / 8, 4 / 8]
    assert shares_of(alice_bob(), lowest_share_first(alice_bob(), order="index")).tolist() == [2 / 8, 6 / 8]


@pytest.mark.parametrize("notion", NOTIONS)
def test_micro_benchmark(notion):
    """All have a quarter within a slot under Eunomia, 20 tasks each under the others, and Job 4 then 60 / 150."""
    found = lowest_share_first(micro(), notion=notion)
    if notion == "eunomia":
        assert np.abs(shares_of(micro(), found) - 0.25).max() <= 3 / 150
    else:
        assert tasks_per_class(micro(), found).sum(axis=1).tolist() == [20] * 4
        assert shares_of(micro(), found)[3] == 0.4


def test_a_task_that_fits_few_machines_whole():
    """Job 1's tasks need five cores, which only the second type has now."""
    capacity = micro().capacity.copy()
    capacity[1, 0] = 5000
    instance = micro().replace(capacity=capacity, demand=[[5000, 1024]] + [[1000, 1024]] * 3)
    found = lowest_share_first(instance)
    assert set(found.machine_class[found.user == 0]) <= {1}
    assert class_order(instance, "index")[0].tolist() == [1, -1, -1, -1]


def test_who_can_use_the_least_goes_first():
    assert user_rank(micro(), "constrained").tolist() == [1, 2, 3, 0]
    assert user_rank(micro(), "index").tolist() == [0, 1, 2, 3]


def test_orders():
    """Job 4 wants a whole type-4 class, three others a quarter of each: type 4 is worth the most."""
    assert class_order(micro(), "scarce")[0].tolist() == [0, 1, 2, 3]
    assert class_order(micro(), "fastest")[0].tolist() == [3, 2, 1, 0]
    assert class_order(micro(), "index")[3].tolist() == [3, -1, -1, -1]


def test_too_many_tasks():
    assert too_many_tasks(micro()) is None
    assert most_whole_tasks(micro()) >= 80
    large = micro().replace(capacity=[[10**9, 10**9]] * 4)
    assert "placed one at a time; use equal-split" in too_many_tasks(large)
    assert too_many_tasks(large.replace(tasks=[10] * 4)) is None


def test_kernel_says_when_its_arrays_are_full(monkeypatch):
    monkeypatch.setattr(whole, "most_whole_tasks", lambda instance: 79)
    with pytest.raises(AssertionError):
        Machines(micro()).place(*value_and_scale(micro()), class_order(micro(), "index"), user_rank(micro(), "index"))


def test_numbers_of_tasks_do_not_wrap():
    """Users who say that they have 2^62 tasks each, and classes with room for 2^60 of each of two resources."""
    many = micro().replace(tasks=np.full(4, 2**62))
    assert most_whole_tasks(many) == most_whole_tasks(micro())
    wide = micro().replace(
        machine_count=[2**20] * 4, capacity=np.full((4, 2), 2**40), demand=np.ones((4, 2), int), tasks=[1] * 4
    )
    assert most_whole_tasks(wide) == 4
    assert most_whole_tasks(wide.replace(tasks=[9_000_000] * 4)) == 36_000_000
