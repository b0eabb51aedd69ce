"""The greedy Oracle, by hand and against the same in Python, and what wrong estimates do to it."""

import numpy as np
import pytest

import schedgap.heuristics.harvest.rules  # noqa: F401
from schedgap.heuristics import player
from schedgap.heuristics.harvest.player import Player
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import find_method

MINUTE_MS = 60_000
GUARANTEES = ("no-shrink", "no-kill")


def play(instance, decide, knows=(), **options):
    return player.play(Player(instance, frozenset(knows), **options), decide)


def oracle(instance, **parameters):
    return find_method(FAMILY, "oracle").run(instance, parameters=parameters)


def runs(schedule):
    times = (schedule.start_ms / MINUTE_MS, schedule.end_ms / MINUTE_MS)
    return list(zip(schedule.task.tolist(), schedule.vm.tolist(), *(t.tolist() for t in times), strict=True))


def in_python(instance, guarantee):
    """The rule as the documentation tells it, with the future from the instance."""

    def events(vm, now):
        places = range(instance.first_event[vm], instance.first_event[vm + 1])
        return [(int(instance.event_ms[e]), int(instance.event_cores[e])) for e in places if instance.event_ms[e] > now]

    def safe_until(observation, i, cores, held):
        size = int(observation.cores[i])
        for ms, after in events(int(observation.vm[i]), observation.now_ms):
            if guarantee == "no-shrink" and after < size:
                return ms
            ends_late = [c for vm, c, end in held if vm == observation.vm[i] and end > ms]
            if guarantee == "no-kill" and sum(ends_late) + cores > after:
                return ms
            size = after
        return np.inf

    def decide(observation):
        jobs = instance.task2job()[observation.run_task]
        # Late runs need eight times as long as they are late.
        late = np.maximum(8 * (observation.now_ms - observation.run_end_ms), 1000)
        ends = np.where(observation.run_end_ms > observation.now_ms, observation.run_end_ms, observation.now_ms + late)
        held = list(zip(observation.run_vm, instance.cores[jobs], ends, strict=True))
        free, starts = observation.free.copy(), []
        for task, job, left in zip(observation.task, observation.task_job, observation.left_ms, strict=True):
            cores, end = observation.job_cores[job], observation.now_ms + left
            fitting = [(safe_until(observation, i, cores, held), i) for i in range(free.size) if free[i] >= cores]
            fitting = [(until, i) for until, i in fitting if until >= end]
            if fitting:
                _, i = min(fitting)
                free[i] -= cores
                held.append((observation.vm[i], cores, end))
                starts.append((task, observation.vm[i]))
        return starts

    return play(instance, decide)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_same_in_python_gives_the_same_schedule(busy, guarantee):
    kills = 0
    for seed in range(40):
        instance = busy(seed, error=float(seed % 3 - 1) * 0.5)
        own, ours = in_python(instance, guarantee), oracle(instance, guarantee=guarantee)
        for key in own.solution.__slots__:
            assert getattr(own.solution, key).tolist() == getattr(ours.solution, key).tolist()
        assert verify(instance, ours.solution) > 0
        assert own.details["kills"] == ours.details["kills"]
        kills += ours.details["kills"]
        # Estimates that are not too short keep what they promise.
        assert seed % 3 == 0 or ours.details["kills"] == 0
    assert kills > 0


def test_a_task_waits_for_a_safe_place_and_leaves_the_safest_to_others(by_hand):
    # At 0 the first VM is safe until 15, the second until 40, the third for ever. 10 minutes go to the first, 30 to the
    # second, 50 to the third; 20 more fit on the second only when it is safe no longer, so they wait for the third.
    vms = [[(0, 1), (15, 0), (16, 1)], [(0, 1), (40, 0), (200, 1)], [(0, 1)]]
    instance = by_hand(vms, [(0, 1, [10, 30, 50, 20]), (30, 1, [20])])
    # After 16 the first VM is safe for ever, and is free for the fourth task of the first job.
    assert runs(oracle(instance).solution) == [
        (0, 0, 0, 10),
        (1, 1, 0, 30),
        (2, 2, 0, 50),
        (3, 0, 16, 36),
        (4, 0, 36, 56),
    ]


def test_no_kill_stays_where_a_shrink_takes_nothing(by_hand):
    # The VM shrinks from 3 cores to 2 at 5 and to 1 at 20: of three tasks of 10 minutes two are safe, and from 10 to 20 two.
    instance = by_hand([[(0, 3), (5, 2), (20, 1)]], [(0, 1, [10, 10, 10])])
    assert runs(oracle(instance, guarantee="no-kill").solution) == [(0, 0, 0, 10), (1, 0, 0, 10), (2, 0, 10, 20)]
    # A strict guarantee: between 5 and 20 there are 15 minutes without a shrink.
    assert runs(oracle(instance).solution) == [(0, 0, 5, 15), (1, 0, 5, 15), (2, 0, 20, 30)]


def test_who_believes_in_short_estimates_is_killed(by_hand):
    instance = by_hand([[(0, 1), (15, 0), (20, 1)]], [(0, 1, [20])], estimate_ms=[12 * MINUTE_MS])
    outcome = oracle(instance)
    assert runs(outcome.solution) == [(0, 0, 0, 15), (0, 0, 20, 40)]
    assert outcome.details == {"kills": 1}


def test_work_that_was_saved_shortens_what_must_be_safe(by_hand):
    # Interruptible, every minute: the estimate was short, 15 of 20 are saved, and 5 fit before the eviction at 30.
    vms = [[(0, 1), (15, 0), (20, 1), (30, 0), (50, 1)]]
    instance = by_hand(vms, [(0, 1, [20])], estimate_ms=[15 * MINUTE_MS], checkpoint_ms=[0])
    assert runs(oracle(instance).solution) == [(0, 0, 0, 15), (0, 0, 20, 25)]
