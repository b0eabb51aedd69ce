"""What an instance refuses, in one sentence each, and what it is made of."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest import HarvestInstance

GIVEN = {
    "name": "two",
    "objective": "jobs",
    "kills": "oldest",
    "allocation": "fixed",
    "max_leases": 0,
    "base_price": 0,
    "extra_price": 0,
    # VM a: 4 cores, 8 from 10 s, evicted at 20 s, 4 from 30 s. VM b: 2 cores from 5 s.
    "first_event": [0, 4, 5],
    "event_ms": [0, 10_000, 20_000, 30_000, 5_000],
    "event_cores": [4, 8, 0, 4, 2],
    "min_cores": [4, 2],
    "memory_mib": [4096, 2048],
    "leased": [True, True],
    "buffer": [False, False],
    "arrival_ms": [1_000, 2_000],
    "cores": [4, 2],
    "task_memory_mib": [1024, 0],
    "checkpoint_ms": [-1, 0],
    "restore_ms": [0, 500],
    "first_task": [0, 2, 3],
    "runtime_ms": [3_000, 4_000, 5_000],
    "estimate_ms": [3_000, 4_000, 6_000],
    "vm_names": ("a", "b"),
    "job_names": ("x", "y"),
}
POOL = {"allocation": "random", "max_leases": 2, "leased": [True, False]}


def made(**changes):
    return HarvestInstance(**{**GIVEN, **changes})


def test_what_it_is_made_of():
    instance = made()
    assert (instance.num_vms, instance.num_jobs, instance.num_tasks, instance.is_fixed) == (2, 2, 3, True)
    assert instance.task2job().tolist() == [0, 0, 1]
    assert instance.event2vm().tolist() == [0, 0, 0, 0, 1]
    assert (instance.vm_name(1), instance.job_name(0)) == ("b", "x")
    assert (made(vm_names=None).vm_name(1), made(job_names=None).job_name(0)) == ("vm-1", "job-0")
    with pytest.raises(ValueError, match="read-only"):
        instance.runtime_ms[0] = 1
    assert not made(**POOL).is_fixed


@pytest.mark.parametrize(
    "changes",
    [
        {"objective": "tasks"},
        {"kills": "newest"},
        POOL,
        {"base_price": 1},
        {"extra_price": 1},
        {"estimate_ms": [3_000, 4_000, 5_000]},
        {"event_cores": [4, 9, 0, 4, 2]},
        {"restore_ms": [0, 0]},
        {"job_names": None},
        {"vm_names": ("a", "c")},
    ],
)
def test_what_differs_has_another_digest(changes):
    assert made().replace(**changes).digest != made().digest


def test_names_and_notes_do_not_matter_to_the_digest():
    assert made(name="other", notes=("seen",)).digest == made().digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "cost"}, "two: objective is 'cost'; choose one of jobs, tasks, makespan."),
        ({"kills": "all"}, "two: kills is 'all'; choose one of oldest, newest."),
        ({"allocation": "best"}, "two: allocation is 'best'; choose one of fixed, random, balancing, packing."),
        ({"memory_mib": [1]}, "two: memory_mib has shape (1,), expected (2,)."),
        ({"job_names": ("x",)}, "two: 1 names for 2 jobs; give one each."),
        ({"vm_names": ("a", "a")}, "two: VM 'a' is given twice; rename one."),
        (
            {"first_event": [0, 4, 4]},
            "two: first_event goes from 0 to 4; let it go from 0 to 5, the number of events.",
        ),
        ({"first_event": [0, 5, 5]}, "two: VM b has 0 events; give at least one."),
        ({"first_task": [0, 0, 3]}, "two: job x has 0 tasks; give at least one."),
        (
            {"event_cores": [4, -8, 0, 4, 2]},
            "two: event_cores of VM a, event 1, is -8; give 0 to 2147483648 (in integer units).",
        ),
        (
            {"runtime_ms": [3_000, 0, 5_000]},
            "two: runtime_ms of job x, task 1, is 0; give 1 to 4503599627370496 (in integer units).",
        ),
        ({"cores": [0, 2]}, "two: cores of job x is 0; give 1 to 2147483648 (in integer units)."),
        (
            {"checkpoint_ms": [-2, 0]},
            "two: checkpoint_ms of job x is -2; give -1 to 4503599627370496 (in integer units).",
        ),
        ({"base_price": -1}, "two: base_price is -1; give 0 to 1000000000000 (in integer units)."),
        (
            {"event_ms": [0, 10_000, 9_000, 30_000, 5_000]},
            "two: VM a has an event at 9000 ms after one at 10000 ms; give its events in order of time, one a moment.",
        ),
        (
            {"event_cores": [4, 3, 0, 4, 2]},
            "two: VM a has 3 cores from 10000 ms on, fewer than its minimum size of 4; give 0, which is an eviction.",
        ),
        (
            {"event_cores": [4, 4, 0, 4, 2]},
            "two: VM a has 4 cores before its event at 10000 ms and as many after it; leave out what changes nothing.",
        ),
        (
            {"event_cores": [4, 8, 0, 4, 0]},
            "two: VM b has 0 cores before its event at 5000 ms and as many after it; leave out what changes nothing.",
        ),
        (
            {"leased": [True, False]},
            "two: the pool is fixed, with max_leases 0, 1 of 2 VMs leased and 0 on buffer servers; let it be 0, all and "
            "none.",
        ),
        (
            {**POOL, "leased": [False, False]},
            "two: 0 VMs are leased at the start and max_leases is 2; lease at least one, and not more than that.",
        ),
        (
            {**POOL, "leased": [False, True]},
            "two: VM b is leased at the start, when it has no cores; lease another.",
        ),
        (
            {"arrival_ms": [3_000, 2_000]},
            "two: job y arrives at 2000 ms, before job x at 3000 ms; give the jobs in order of arrival.",
        ),
        (
            {"cores": [6, 2]},
            "two: tasks of job x need 6 cores and 1024 MiB, and no VM has that after its last event (the most cores then "
            "are 4); end the trace at a moment when one has, or drop the job.",
        ),
        (
            {"task_memory_mib": [1024, 8192]},
            "two: tasks of job y need 2 cores and 8192 MiB, and no VM has that after its last event (the most cores then "
            "are 4); end the trace at a moment when one has, or drop the job.",
        ),
        ({"runtime_ms": [2**51, 2**51, 1]}, "two: its times add up to more than 4503599627370496 milliseconds."),
        ({"estimate_ms": [1, 2**52, 1]}, "two: its times add up to more than 4503599627370496 milliseconds."),
        ({"restore_ms": [0, 2**52]}, "two: its times add up to more than 4503599627370496 milliseconds."),
        (
            {"checkpoint_ms": [-1, 2**30], "estimate_ms": [1, 1, 2**23]},
            "two: its times add up to more than 4503599627370496 milliseconds.",
        ),
        (
            {**POOL, "runtime_ms": [10**6 * 3_600_000, 1, 1]},
            "two: its times add up to more than 1000000 hours, at each of which a chosen pool is looked at; give shorter times, "
            "or a fixed pool.",
        ),
        ({"base_price": 1.5}, "two: base_price: expected a whole number, got 1.5."),
        (
            {"checkpoint_ms": [2**41, 0]},
            "two: its times add up to more than 4503599627370496 milliseconds.",
        ),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(InstanceError) as refused:
        made(**changes)
    assert str(refused.value) == message


@pytest.mark.parametrize(("key", "what"), [("arrival_ms", "jobs"), ("min_cores", "VMs")])
def test_nothing_is_no_instance(key, what):
    jobs = ("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms")
    vms = ("min_cores", "memory_mib", "leased", "buffer")
    empty = {name: [] for name in (jobs if key in jobs else vms)}
    firsts = {"first_task" if key in jobs else "first_event": [0]}
    with pytest.raises(InstanceError, match=f"^two: there are no {what}; give at least one"):
        made(**empty, **firsts, vm_names=None, job_names=None)


def test_events_may_be_at_the_same_moment_on_different_vms():
    assert np.array_equal(made(event_ms=[0, 10_000, 20_000, 30_000, 10_000]).first_event, [0, 4, 5])


def test_whole_numbers_of_numpy_are_pythons():
    """They wrap, and a digest would tell them apart."""
    given = made(**POOL, base_price=7, extra_price=3)
    wide = made(**{**POOL, "max_leases": np.int8(2)}, base_price=np.int64(7), extra_price=np.uint8(3))
    assert wide.digest == given.digest
    assert {type(value) for value in (wide.max_leases, wide.base_price, wide.extra_price)} == {int}
