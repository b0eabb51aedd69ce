from functools import partial

import numpy as np
import pytest

from schedgap.heuristics.harvest.slacksched import state
from schedgap.heuristics.harvest.slacksched.slacksched import slacksched
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest import HarvestInstance, quick, verify

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
slacksched_literal = partial(slacksched, rule="literal")
slacksched_no_delay = partial(slacksched, rule="no-delay")
slacksched_heartbeat = partial(slacksched, rule="heartbeat")
slacksched_shrinks = partial(slacksched, span="shrink")
longest_first_matching = partial(slacksched, order="longest-first")
METHODS = [slacksched, slacksched_literal, slacksched_no_delay, slacksched_heartbeat, slacksched_shrinks]


def pool(vms, jobs, **changes):
    """Make an instance of VMs, each a list of (minute, cores), and jobs, each (minute, cores, minutes of its tasks).

    Minutes are since the end of a day of history.
    """
    events = [(DAY + round(minute * MINUTE), cores) for vm in vms for minute, cores in vm]
    runtime = [round(minutes * MINUTE) for _, _, tasks in jobs for minutes in tasks]
    fields = {
        "name": "by-hand",
        "objective": "jobs",
        "kills": "oldest",
        "allocation": "fixed",
        "max_leases": 0,
        "base_price": 0,
        "extra_price": 0,
        "first_event": np.cumsum([0, *map(len, vms)]),
        "event_ms": [ms for ms, _ in events],
        "event_cores": [cores for _, cores in events],
        "min_cores": np.ones(len(vms)),
        "memory_mib": np.full(len(vms), 1024),
        "leased": np.ones(len(vms), bool),
        "buffer": np.zeros(len(vms), bool),
        "arrival_ms": [DAY + minute * MINUTE for minute, _, _ in jobs],
        "cores": [cores for _, cores, _ in jobs],
        "task_memory_mib": np.full(len(jobs), 1),
        "checkpoint_ms": np.full(len(jobs), -1),
        "restore_ms": np.zeros(len(jobs)),
        "first_task": np.cumsum([0, *(len(tasks) for _, _, tasks in jobs)]),
        "runtime_ms": runtime,
        "estimate_ms": runtime,
    }
    return HarvestInstance(**(fields | changes))


CALM = [(-1440, 2)]
# Changes every two minutes: to six cores at minute 0, then to four, to two, and again.
WILD = [(2 * k - 600, (6, 4, 2)[k % 3]) for k in range(501)]


def starts(instance, method, **parameters):
    """Return (task, VM, minute of its start) of every run, in order of start."""
    outcome = method(instance, **parameters)
    verify(instance, outcome.solution)
    runs = outcome.solution
    return [
        (int(task), int(vm), (int(start) - DAY) / MINUTE)
        for task, vm, start in zip(runs.task, runs.vm, runs.start_ms, strict=True)
    ]


@pytest.mark.parametrize("method", [slacksched, slacksched_literal, slacksched_shrinks])
def test_tasks_wait_for_the_vm_that_stays(method):
    # All gaps are two minutes, with a shrink after each growth and every other shrink: ten minutes are hardly ever done on
    # the wild VM, so all wait for the calm one.
    instance = pool([WILD, CALM], [(0, 2, [10, 10, 10])])
    assert starts(instance, method) == [(0, 1, 0), (1, 1, 10), (2, 1, 20)]


def test_without_delay_tasks_start_anywhere():
    instance = pool([WILD, CALM], [(0, 2, [10, 10])])
    # The wild VM always keeps the two cores of the second task.
    assert starts(instance, slacksched_no_delay) == [(0, 1, 0), (1, 0, 0)]


def test_short_tasks_do_not_wait():
    # Half a minute fits between two changes: the first is a minute off.
    instance = pool([WILD, CALM], [(1, 2, [10, 0.5])])
    assert starts(instance, slacksched) == [(0, 1, 1), (1, 0, 1)]


def test_tasks_with_free_checkpoints_wait_for_nothing():
    # A minute of work is the most that they lose.
    instance = pool([WILD, CALM], [(0, 2, [10, 10, 10])], checkpoint_ms=[0])
    assert {start for _, _, start in starts(instance, slacksched)[:3]} == {0}
    # An hour of work is as much as all.
    rare = starts(instance, slacksched, interruptible_every_s=3600)
    assert rare == [(0, 1, 0), (1, 1, 10), (2, 1, 20)]


def test_waiting_tasks_hold_their_place():
    # Both calm VMs are busy, for 10 and 12 minutes. The third task waits for the first VM, the fourth sees it taken until 15
    # and waits for the second one; the fifth, which is the shortest, for the first again.
    instance = pool([CALM, CALM], [(0, 2, [10, 12, 5, 4, 1])])
    assert starts(instance, slacksched) == [(0, 0, 0), (1, 1, 0), (2, 0, 10), (3, 1, 12), (4, 0, 15)]


def test_nobody_waits_long_for_late_runs():
    # The third task waits for the first, which is estimated at ten minutes and takes an hour. At 13 it is late by three minutes
    # and taken to need 24 more: the third one had better take the second VM from the fourth, from minute 30 on.
    instance = pool([CALM, CALM], [(0, 2, [60, 30, 10, 10])], estimate_ms=[m * MINUTE for m in (10, 30, 10, 10)])
    assert starts(instance, slacksched) == [(0, 0, 0), (1, 1, 0), (2, 1, 30), (3, 1, 40)]


@pytest.mark.parametrize("method", [slacksched, longest_first_matching])
def test_late_runs_are_as_late_as_they_are_however_often_they_are_looked_at(method):
    # A run that is estimated at ten minutes takes two hours. Whoever waits for it looks again every 30 s; at 22 it is late by
    # 12 minutes and taken to need 96 more, and the wild VM, which grows then, is expected to have done five minutes earlier.
    instance = pool([CALM, WILD], [(0, 2, [120]), (11, 2, [5])], estimate_ms=[10 * MINUTE, 5 * MINUTE])
    assert starts(instance, method)[1] == (1, 1, 22)


def test_reservation_keeps_smaller_tasks_out():
    # The task of four cores waits for the ten minutes' task and holds what is free until then.
    instance = pool([[(-1440, 4)]], [(0, 2, [10]), (1, 4, [10]), (2, 2, [5])])
    assert starts(instance, slacksched) == [(0, 0, 0), (1, 0, 10), (2, 0, 20)]
    assert starts(instance, slacksched_literal) == [(0, 0, 0), (2, 0, 2), (1, 0, 10)]


def test_growth_serves_who_waits_elsewhere():
    # At minute 1 the second VM grows; the two tasks that wait for the first until 60 and 120 go there at once.
    instance = pool([CALM, [(-1440, 1), (1, 5)]], [(0, 2, [60, 60, 60])])
    assert starts(instance, slacksched) == [(0, 0, 0), (1, 1, 1), (2, 1, 1)]


def test_heartbeat_takes_the_shortest_first_and_minds_its_threshold():
    instance = pool([WILD, CALM], [(0, 2, [10, 5])])
    # 5 minutes are likeliest on both VMs, and too unlikely on the wild one; then 10 minutes wait for the calm one.
    assert starts(instance, slacksched_heartbeat) == [(1, 1, 0), (0, 1, 5)]
    # Without a threshold the wild VM, which asks first, takes both, and kills the older one when two cores are left.
    assert starts(instance, slacksched_heartbeat, threshold=0.0) == [(1, 0, 0), (0, 0, 0), (1, 1, 4)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_schedules_verify(method, seed):
    instance = quick(
        12, 6, "5-20", seed=seed, cores="1,2,4", load=0.5, error=(-0.5, 0.0, 0.5)[seed % 3], interruptible=0.3
    )
    outcome = method(instance)
    verify(instance, outcome.solution)
    again = method(instance)
    assert np.array_equal(again.solution.start_ms, outcome.solution.start_ms)
    assert np.array_equal(again.solution.vm, outcome.solution.vm)


@pytest.mark.parametrize("survival", ["ecdf", "kaplan-meier"])
@pytest.mark.parametrize("reconsider_s", [0.0, 1.0, 600.0])
def test_every_way_to_reconsider_completes_all(survival, reconsider_s):
    instance = quick(12, 6, "5-20", seed=7, cores="1,2,4", load=0.8)
    outcome = slacksched(instance, reconsider_s=reconsider_s, survival=survival)
    verify(instance, outcome.solution)


def test_memory_binds():
    # Each VM has memory for one task.
    instance = pool([[(-1440, 8)], [(-1440, 8)]], [(0, 2, [10, 10, 10])], task_memory_mib=[600])
    assert starts(instance, slacksched) == [(0, 0, 0), (1, 1, 0), (2, 0, 10)]


def test_only_the_first_have_plans(monkeypatch):
    # The calm VM is busy for an hour, and two tasks wait for it, since ten minutes are hardly ever done on the wild one. The
    # last task would be done there at once.
    instance = pool([WILD, CALM], [(0, 2, [60, 10, 10, 0.5])])
    assert (3, 0, 0) in starts(instance, slacksched)
    # As many tasks have plans as there are VMs: its turn comes when one of them has started.
    monkeypatch.setattr(state, "LEAST_PLANNED", 0)
    assert (3, 0, 60) in starts(instance, slacksched)


def test_tasks_that_fit_nowhere_keep_nobody_waiting():
    # The VM is large enough for the first hundred tasks after a day only.
    instance = pool([[(-1440, 2), (1440, 8)]], [(0, 8, [1] * 100), (0, 2, [1])])
    assert starts(instance, slacksched)[0] == (100, 0, 0)


@pytest.mark.parametrize("method", [slacksched, slacksched_literal, slacksched_heartbeat])
def test_demands_that_are_forgotten_change_nothing(monkeypatch, method):
    instance = quick(24, 8, "20-40", seed=4, cores="1,2,4", load=0.9)
    assert len(set(instance.cores)) == 3
    plain = method(instance).solution
    monkeypatch.setattr(state, "MOST_DEMANDS", 1)
    forgetful = method(instance).solution
    for field in ("task", "vm", "start_ms", "end_ms"):
        assert np.array_equal(getattr(forgetful, field), getattr(plain, field))


def test_bad_parameters_say_what_to_give():
    instance = pool([CALM], [(0, 2, [1])])
    with pytest.raises(MethodError, match="reconsider_s is -1; give seconds"):
        slacksched(instance, reconsider_s=-1)
    with pytest.raises(MethodError, match="threshold is 2; give a probability, 0 to 1"):
        slacksched_heartbeat(instance, threshold=2)


def test_a_century_is_too_long_to_look_at_every_half_minute():
    instance = pool([CALM], [(0, 2, [10, 2**46 / MINUTE])])
    assert "2.35e+09 times, every 30 s until all is done, more than 1e+08" in slacksched(instance).details["reason"]
    assert starts(instance, slacksched, reconsider_s=0.0) == [(0, 0, 0), (1, 0, 10)]
