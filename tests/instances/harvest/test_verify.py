"""Objectives by hand, every sentence, and random schedules judged as a plain reading of the rules judges them."""

import re

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest import HarvestSchedule, ends_ms, job_times_ms, verify

# y on a, beside a task of x.
GIVEN = [(0, 0, 0, 40), (1, 1, 0, 40), (2, 0, 10, 60)]


def refused(instance, schedule, sentence):
    with pytest.raises(VerifyError, match="^" + re.escape(sentence) + "$"):
        verify(instance, schedule)


def changed(schedule, run, **changes):
    columns = {key: getattr(schedule, key).copy() for key in schedule.__slots__}
    for key, value in changes.items():
        columns[key][run] = value
    return HarvestSchedule(**columns)


def test_the_three_objectives(trio, runs):
    schedule = runs(*GIVEN)
    assert ends_ms(trio, schedule).tolist() == [40_000, 40_000, 60_000]
    assert job_times_ms(trio, schedule).tolist() == [40_000, 50_000]
    assert verify(trio, schedule) == 40_000 + 50_000
    assert verify(trio.replace(objective="tasks"), schedule) == 40_000 + 40_000 + 50_000
    assert verify(trio.replace(objective="makespan"), schedule) == 60_000
    later = trio.replace(objective="makespan", arrival_ms=[7000, 10_000])
    assert verify(later, runs((0, 0, 7, 47), (1, 1, 7, 47), (2, 0, 10, 60))) == 60_000 - 7000


def test_the_order_of_runs_does_not_matter(trio, runs):
    assert verify(trio, runs(*GIVEN[::-1])) == 90_000


def test_a_run_may_end_exactly_when_its_vm_shrinks(trio, runs):
    both = [(0, 0, 20, 60), (1, 0, 20, 60), (2, 1, 10, 60)]
    assert verify(trio, runs(*both)) == 60_000 + 50_000
    # One of them may go on: a has 4 cores then.
    assert verify(trio, changed(runs(*both), 1, start_ms=20_001, end_ms=60_001)) == 60_001 + 50_000
    refused(
        trio,
        changed(runs(*both), [0, 1], start_ms=20_001, end_ms=60_001),
        "VM a has 4 cores at 60 s, and what runs there needs 8: it shrinks then, and run 0 (task 0 of job x) goes on; end "
        "runs by then.",
    )


def test_a_run_may_start_when_another_ends_and_when_its_vm_grows(trio, runs):
    assert verify(trio, runs((0, 1, 0, 40), (1, 1, 40, 80), (2, 0, 10, 60))) == 80_000 + 50_000
    refused(
        trio,
        runs((0, 1, 0, 40), (1, 1, 39.999, 79.999), (2, 0, 10, 60)),
        "VM b has 4 cores at 39.999 s, and what runs there needs 8: run 1 (task 1 of job x) starts then; start it later or "
        "elsewhere.",
    )
    assert verify(trio, runs((0, 1, 0, 40), (1, 0, 180, 220), (2, 0, 10, 60))) == 220_000 + 50_000
    refused(
        trio,
        runs((0, 1, 0, 40), (1, 0, 179.999, 219.999), (2, 0, 10, 60)),
        "VM a has 0 cores at 179.999 s, and what runs there needs 4: run 1 (task 1 of job x) starts then; start it later or "
        "elsewhere.",
    )


def test_an_eviction_ends_runs(trio, runs):
    assert verify(trio, runs((0, 1, 0, 40), (1, 0, 80, 120), (2, 0, 10, 60))) > 0
    refused(
        trio,
        runs((0, 1, 0, 40), (1, 0, 80.001, 120.001), (2, 0, 10, 60)),
        "VM a has 0 cores at 120 s, and what runs there needs 4: it shrinks then, and run 1 (task 1 of job x) goes on; end "
        "runs by then.",
    )


def test_a_vm_has_nothing_before_its_first_event(trio, runs):
    later = trio.replace(event_ms=[0, 60_000, 120_000, 180_000, 5000])
    refused(
        later,
        runs(*GIVEN),
        "VM b has 0 cores at 0 s, and what runs there needs 4: run 1 (task 1 of job x) starts then; start it later or "
        "elsewhere.",
    )


def test_memory_is_kept_too(trio, runs):
    wide = trio.replace(event_cores=[8, 4, 0, 8, 16])
    refused(
        wide,
        runs((0, 1, 0, 40), (1, 0, 0, 40), (2, 1, 10, 60)),
        "VM b has 2048 MiB of memory, and what runs there at 10 s needs 2560: run 2 (task 0 of job y) starts then; start it "
        "later or elsewhere.",
    )
    assert verify(wide, runs((0, 1, 0, 40), (1, 1, 0, 40), (2, 0, 10, 60))) == 90_000


def test_killed_runs_are_runs_too(trio, runs):
    lost = runs(*GIVEN, (1, 0, 0, 0.001))
    # 4 + 4 cores of a; the task is not completed by that run.
    assert verify(trio, lost) == 90_000
    # y's run may not begin before it has ended.
    refused(
        trio,
        runs(*GIVEN, (1, 0, 0, 10.001)),
        "VM a has 8 cores at 10 s, and what runs there needs 10: run 2 (task 0 of job y) starts then; start it later or "
        "elsewhere.",
    )


def test_checkpoints_save_work(trio, runs):
    x = [(0, 1, 0, 40), (1, 1, 40, 80)]
    # 50 s of work with a stop of 2 s after 10, 20, 30 and 40 s.
    assert verify(trio, runs(*x, (2, 0, 10, 68, 10))) == 80_000 + 58_000
    # Killed after 50 s, 40 s are saved: 3 s to restore, 10 s of work.
    assert verify(trio, runs(*x, (2, 0, 10, 60, 10), (2, 0, 60, 73, 10))) == 80_000 + 63_000
    # Then in parts of 4 s: two more stops. Without checkpoints: none.
    assert verify(trio, runs(*x, (2, 0, 10, 60, 10), (2, 0, 60, 77, 4))) == 80_000 + 67_000
    assert verify(trio, runs(*x, (2, 0, 10, 60, 10), (2, 0, 60, 73, 0))) == 80_000 + 63_000
    # The fourth checkpoint is not done a millisecond before 58 s: 30 s are saved, 3 + 20 + 2 s to come.
    refused(
        trio,
        runs(*x, (2, 0, 10, 57.999, 10), (2, 0, 60, 73, 10)),
        "task 0 of job y is never complete: the last of its runs, run 3, lasts 13 s and takes 25 s to complete it.",
    )
    assert verify(trio, runs(*x, (2, 0, 10, 57.999, 10), (2, 0, 60, 85, 10))) == 80_000 + 75_000
    # Nothing saved, nothing to restore.
    assert verify(trio, runs(*x, (2, 0, 10, 21, 10), (2, 0, 30, 88, 10))) == 80_000 + 78_000


def test_a_checkpoint_that_costs_nothing_is_not_taken_at_the_very_end(trio, runs):
    free = trio.replace(checkpoint_ms=[-1, 0])
    x = [(0, 1, 0, 40), (1, 1, 40, 80)]
    assert verify(free, runs(*x, (2, 0, 10, 60, 10))) == 80_000 + 50_000
    # Killed 1 ms before the end: 40 s are saved.
    assert verify(free, runs(*x, (2, 0, 10, 59.999, 10), (2, 0, 60, 73, 10))) == 80_000 + 63_000


def test_replicas_may_overlap_and_the_first_to_end_completes(trio, runs):
    wide = trio.replace(event_cores=[16, 4, 0, 8, 4])
    assert verify(wide, runs(*GIVEN, (1, 0, 0, 40))) == 90_000
    assert verify(wide, runs((0, 0, 0, 40), (2, 0, 10, 60), (1, 0, 0, 20), (1, 1, 5, 45), (1, 0, 20, 45))) == 95_000
    refused(
        wide,
        runs((0, 0, 0, 40), (2, 0, 10, 60), (1, 0, 0, 20), (1, 1, 5, 45), (1, 0, 20, 45.001)),
        "run 4 (task 1 of job x) ends at 45.001 s, after run 3 has completed the task at 45 s; no run of it goes on then.",
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            [(0, 0, 0, 40), (1, 1, 0, 40)],
            "task 0 of job y never runs; run every task to its end.",
        ),
        ([], "task 0 of job x never runs; run every task to its end."),
        (
            [(0, 0, 0, 39.999), *GIVEN[1:]],
            "task 0 of job x is never complete: the last of its runs, run 0, lasts 39.999 s and takes 40 s to complete it.",
        ),
        (
            [(0, 0, 0, 40.001), *GIVEN[1:]],
            "run 0 (task 0 of job x) lasts 40.001 s; it takes 40 s to complete the task, end it then.",
        ),
        (
            [*GIVEN[:2], (2, 0, 10, 69, 10)],
            "run 2 (task 0 of job y) lasts 59 s; it takes 58 s to complete the task, end it then.",
        ),
        (
            [*GIVEN, (2, 1, 60, 70, 10)],
            "run 3 (task 0 of job y) ends at 70 s, after run 2 has completed the task at 60 s; no run of it goes on then.",
        ),
        (
            [*GIVEN, (0, 0, 40, 41)],
            "run 3 (task 0 of job x) ends at 41 s, after run 0 has completed the task at 40 s; no run of it goes on then.",
        ),
        (
            [*GIVEN[:2], (2, 0, 10, 30), (2, 1, 29, 50, 10)],
            "run 3 (task 0 of job y) starts at 29 s, before run 2 of the same task ends at 30 s; runs of a task with "
            "checkpoints follow one another.",
        ),
        (
            [*GIVEN[:2], (2, 0, 9.5, 59.5)],
            "run 2 (task 0 of job y) starts at 9.5 s, before its job arrives at 10 s.",
        ),
        (
            [(0, 0, 0, 40, 10), *GIVEN[1:]],
            "run 0 (task 0 of job x) takes checkpoints every 10 s, and tasks of that job cannot take any; give 0.",
        ),
        (
            [*GIVEN[:2], (2, 0, 10, 60, -10)],
            "run 2 (task 0 of job y) takes checkpoints every -10000 ms; give 0 for none, or 1 to 4503599627370496.",
        ),
        ([(3, 0, 0, 40), *GIVEN], "run 0 has task 3; there are 3 tasks, numbered from 0."),
        ([(-1, 0, 0, 40), *GIVEN], "run 0 has task -1; there are 3 tasks, numbered from 0."),
        ([*GIVEN[:2], (2, 2, 10, 60)], "run 2 has VM 2; there are 2 VMs, numbered from 0."),
        ([*GIVEN[:2], (2, -1, 10, 60)], "run 2 has VM -1; there are 2 VMs, numbered from 0."),
        (
            [*GIVEN, (0, 0, 5, 5)],
            "run 3 (task 0 of job x) goes from 5000 to 5000 ms; a run lasts at least a millisecond, between 0 and "
            "4503599627370496 ms.",
        ),
        (
            [*GIVEN[:2], (2, 0, 60, 10)],
            "run 2 (task 0 of job y) goes from 60000 to 10000 ms; a run lasts at least a millisecond, between 0 and "
            "4503599627370496 ms.",
        ),
    ],
)
def test_the_first_violation_is_a_sentence(trio, runs, given, sentence):
    refused(trio, runs(*given), sentence)


@pytest.mark.parametrize(("start", "end"), [(-1, 39_999), (-(2**63), 2**63 - 1), (2**63 - 40_001, 2**63 - 1)])
def test_moments_that_overflow(trio, runs, start, end):
    refused(
        trio,
        changed(runs(*GIVEN), 0, start_ms=start, end_ms=end),
        f"run 0 (task 0 of job x) goes from {start} to {end} ms; a run lasts at least a millisecond, between 0 and "
        "4503599627370496 ms.",
    )


def test_periods_that_overflow(trio, runs):
    refused(
        trio,
        changed(runs(*GIVEN), 2, checkpoint_every_ms=2**62),
        f"run 2 (task 0 of job y) takes checkpoints every {2**62} ms; give 0 for none, or 1 to {2**52}.",
    )


def test_memory_that_overflows(trio):
    """Nine million tasks with 2^40 MiB each would wrap around; the second is one too many."""
    large = trio.replace(task_memory_mib=[2**40, 1], memory_mib=[2**40, 2**40], event_cores=[2**31, 4, 0, 8, 4])
    schedule = HarvestSchedule([0, 1, 2], [0, 0, 0], [0, 0, 10_000], [40_000, 40_000, 60_000], [0, 0, 0])
    with pytest.raises(VerifyError, match=f"VM a has {2**40} MiB of memory, .* at 0 s needs {2**41}: run 1 "):
        verify(large, schedule)


def test_sums_beyond_64_bits(trio):
    """Objectives are Python's integers: 4096 jobs of a task each, all ending near 2^52 ms."""
    count, late = 4096, 2**52 - 2**13
    many = trio.replace(
        first_event=[0, 1, 2],
        event_ms=[0, 0],
        event_cores=[2**31, 4],
        memory_mib=[2**40, 1],
        objective="tasks",
        arrival_ms=np.zeros(count),
        cores=np.ones(count),
        task_memory_mib=np.zeros(count),
        checkpoint_ms=-np.ones(count),
        restore_ms=np.zeros(count),
        first_task=np.arange(count + 1),
        runtime_ms=np.ones(count),
        estimate_ms=np.ones(count),
        job_names=None,
    )
    zeros = np.zeros(count, np.int64)
    schedule = HarvestSchedule(np.arange(count), zeros, zeros + late, zeros + late + 1, zeros)
    assert verify(many, schedule) == count * (late + 1) > 2**63


def test_one_number_for_each_run_and_lease(trio, runs):
    schedule = runs(*GIVEN)
    columns = {key: getattr(schedule, key) for key in schedule.__slots__}
    refused(
        trio,
        HarvestSchedule(**columns | {"vm": [0, 0]}),
        "task has shape (3,) and vm has shape (2,); give one number for each run.",
    )
    refused(
        trio,
        HarvestSchedule(**columns | {"task": 0}),
        "task has shape (); give one number for each run.",
    )
    refused(
        trio,
        HarvestSchedule(**columns | {"lease_vm": [1]}),
        "lease_vm has shape (1,) and lease_start_ms has shape (0,); give one number for each lease.",
    )
