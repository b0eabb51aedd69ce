"""How early tasks end if all VMs are there for them."""

import pytest

from schedgap.formulations.harvest.work_bound import alone_ends, bound_alone, kinds, segments_of
from schedgap.instances.harvest.model import HarvestSchedule
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status

TIMES = [[(0, 2), (4, 0), (6, 1), (9, 4), (20, 0)], [(3, 1), (5, 0), (30, 2)]]


def test_segments(make):
    """One core: on VM 0 until 4 and from 6 to 20, on VM 1 from 3 to 5 and from 30 on; two cores: not from 6 to 9."""
    instance = make(TIMES, [[1]])
    found = segments_of(instance, 1, 0)
    assert [*zip(found.vm.tolist(), found.begin.tolist(), found.end.tolist(), strict=True)] == [
        (0, 0, 4),
        (1, 3, 5),
        (0, 6, 20),
        (1, 30, 1 << 62),
    ]
    assert segments_of(instance, 2, 0).begin.tolist() == [0, 9, 30]


@pytest.mark.parametrize(
    ("arrival", "runtime", "end"),
    [(0, 4, 4), (0, 5, 11), (1, 2, 3), (3, 2, 5), (3, 3, 9), (7, 13, 20), (7, 14, 44), (40, 9, 49)],
)
def test_first_window_that_is_long_enough(make, arrival, runtime, end):
    assert alone_ends(make(TIMES, [[runtime]], [arrival])).tolist() == [end]


def test_memory_counts(make):
    """VM 0 is too small for the second job's tasks, which wait for VM 1."""
    instance = make(TIMES, [[2], [2]], memory_mib=[10, 20], task_memory_mib=[10, 11])
    assert alone_ends(instance).tolist() == [2, 5]


def test_needs_that_no_vm_tells_apart_are_one(make):
    """3 and 4 cores fit on the same VMs."""
    needs, which = kinds(make([[(0, 2), (5, 4)]], [[1], [1], [1]], cores=[3, 4, 1]))
    assert needs.tolist() == [[2, 100], [4, 100]]
    assert which.tolist() == [1, 1, 0]


def test_checkpoints_join_windows(make):
    """8 ms of work and 1 of restoring: 0 to 5 on both VMs, and from 6 on; a single run would have to wait for 6.

    A naive bound by single runs, 14, is wrong: with a checkpoint after 4 the rest is done by 10. With 3 to stand still
    for the checkpoint it takes 9 + 3, until 13.
    """
    instance = make(TIMES, [[8]], checkpoint_ms=[0], restore_ms=[1])
    assert alone_ends(instance).tolist() == [10]
    found = HarvestSchedule([0, 0], [0, 0], [0, 6], [4, 11], [4, 0])
    assert verify(instance, found) == 11
    assert alone_ends(instance.replace(checkpoint_ms=[3])).tolist() == [13]
    assert alone_ends(instance.replace(checkpoint_ms=[5])).tolist() == [14]
    assert alone_ends(instance.replace(checkpoint_ms=[-1])).tolist() == [14]


@pytest.mark.parametrize(("objective", "bound"), [("jobs", 11 + 2), ("tasks", 4 + 11 + 2), ("makespan", 11)])
def test_objectives(make, objective, bound):
    outcome = bound_alone(make(TIMES, [[4, 5], [2]], [0, 1], objective=objective))
    assert (outcome.bound, outcome.status, outcome.solution) == (bound, Status.NO_SOLUTION, None)


def test_never_above_the_optimum(optima):
    bounds = [(bound_alone(instance).bound, best) for instance, best in optima]
    assert all(bound <= best for bound, best in bounds)
    assert sum(bound == best for bound, best in bounds) > 30
