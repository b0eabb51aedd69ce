"""Lists that know the future."""

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import Future, Lists, clairvoyant_list, follow, wander
from schedgap.formulations.harvest.work_bound import alone_ends
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status, find_method


def rng():
    """Return the same numbers each time."""
    return np.random.default_rng(4)


def test_tasks_wait_for_a_time_that_is_long_enough(make):
    """The long task cannot end before VM 0 goes, and waits for 6; the short one takes the time before."""
    instance = make([[(0, 1), (4, 0), (6, 1)]], [[5], [4]])
    vm, start = Future(instance).place(np.array([0, 1]))
    assert (vm.tolist(), start.tolist()) == ([0, 0], [6, 0])


def test_of_equal_starts_the_vm_that_shrinks_first(make):
    """Both VMs are free: the short task takes the one that goes at 3, the other is left to the long one."""
    instance = make([[(0, 1)], [(0, 1), (3, 0)]], [[2], [5]])
    vm, start = Future(instance).place(np.array([0, 1]))
    assert (vm.tolist(), start.tolist()) == ([1, 0], [0, 0])


def test_memory_is_never_exceeded(make):
    """Cores for three, memory for one at a time."""
    instance = make([[(0, 3)]], [[2, 2, 2]], memory_mib=[10], task_memory_mib=[6])
    outcome = clairvoyant_list(instance)
    assert verify(instance, outcome.solution) == 6


def test_events_before_the_first_arrival(make):
    """The VM shrank at 2, and again at 9, to what it has later."""
    instance = make([[(0, 4), (2, 1), (9, 2)], [(20, 1)]], [[3, 3]], [5])
    vm, start = Future(instance).place(np.array([0, 1]))
    assert (vm.tolist(), start.tolist()) == ([0, 0], [5, 8])


def test_many_pieces(make):
    """400 tasks in gaps of one VM need more pieces than there is room for at first."""
    events = [[(2 * k, 2 + k % 2) for k in range(200)]]
    instance = make(events, [[1] * 400], objective="tasks")
    outcome = clairvoyant_list(instance)
    assert verify(instance, outcome.solution) >= outcome.bound


def test_proven_where_nobody_waits():
    instance = quick(vms=16, jobs=4, seed=1)
    outcome = clairvoyant_list(instance)
    assert outcome.status is Status.OPTIMAL
    assert verify(instance, outcome.solution) == outcome.bound


def test_changes_of_due_dates_are_never_worse_and_repeatable():
    instance = quick(vms=4, jobs=12, tasks="6-12", interarrival_min=4, seed=3)
    found = []
    for _ in range(2):
        lists = Lists(instance, 0.0, alone_ends(instance))
        follow(lists, 6, np.inf)
        listed = lists.least
        assert wander(lists, 100, np.inf, rng()) == 100
        assert lists.least < listed
        assert lists.learn(*lists.place(lists.due)) == lists.least
        found.append(lists.best)
    assert np.array_equal(found[0][2], found[1][2])
    objectives = [point.objective for point in lists.trajectory]
    assert objectives == sorted(objectives, reverse=True)


def test_without_time_there_is_no_solution(make):
    outcome = clairvoyant_list(make([[(0, 1)]], [[3], [3]]), time_limit_s=0.0)
    assert (outcome.solution, outcome.status, outcome.bound) == (None, Status.NO_SOLUTION, 6)


def test_dynamic_pools_are_not_supported(make):
    instance = make([[(0, 1)]], [[3]], allocation="random", max_leases=1)
    outcome = find_method("harvest", "clairvoyant-list").run(instance)
    assert outcome.status is Status.UNSUPPORTED
    assert outcome.details["reason"] == "chooses no leases; give an instance whose pool is fixed"


def test_parameters_out_of_range_are_refused(make):
    instance = make([[(0, 1)]], [[3], [3]])
    with pytest.raises(MethodError, match="rounds is 0; give at least 1"):
        clairvoyant_list(instance, rounds=0)
