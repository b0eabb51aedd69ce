"""Random schedules, judged by `verify` and by a plain way."""

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest import HarvestSchedule, quick, verify
from schedgap.instances.harvest.simulator.simulator import Simulator

# y on a, beside a task of x.
GIVEN = [(0, 0, 0, 40), (1, 1, 0, 40), (2, 0, 10, 60)]


def plain_end(instance, schedule, task):
    """Follow the runs of a task a step at a time; its end, or None if a rule is broken."""
    job = int(instance.task2job()[task])
    runs = [r for r in range(schedule.num_runs) if schedule.task[r] == task]
    runs.sort(key=lambda r: (schedule.start_ms[r], schedule.end_ms[r]))
    runtime, stop = int(instance.runtime_ms[task]), int(instance.checkpoint_ms[job])
    if not runs or any(schedule.checkpoint_every_ms[r] and stop < 0 for r in runs):
        return None
    saves = any(schedule.checkpoint_every_ms[r] for r in runs)
    saved, ends, before = 0, [], -1
    for r in runs:
        start, end, every = (int(getattr(schedule, k)[r]) for k in ("start_ms", "end_ms", "checkpoint_every_ms"))
        if start < instance.arrival_ms[job] or end <= start or (saves and start < before):
            return None
        before, now, done = end, start + (int(instance.restore_ms[job]) if saved else 0), saved
        while now < end:
            step = min(every or runtime, runtime - done)
            if now + step > end:
                now = end + 1
            elif done + step == runtime:
                ends.append(now + step)
                if now + step != end:
                    return None
                now = end
            else:
                now, done = now + step + stop, done + step
                if now <= end:
                    saved = done
    if not ends or max(int(schedule.end_ms[r]) for r in runs) > min(ends) or (saves and len(ends) > 1):
        return None
    return min(ends)


def plain_verdict(instance, schedule):
    """Judge a schedule of a fixed pool in the plainest way; the objective `jobs`, or None."""
    ends = [plain_end(instance, schedule, task) for task in range(instance.num_tasks)]
    if None in ends:
        return None
    job = instance.task2job()
    moments = np.unique(np.concatenate((schedule.start_ms, instance.event_ms)))
    for t in moments.tolist():
        for v in range(instance.num_vms):
            here = (schedule.vm == v) & (schedule.start_ms <= t) & (schedule.end_ms > t)
            events = range(instance.first_event[v], instance.first_event[v + 1])
            size = [0, *(int(instance.event_cores[e]) for e in events if instance.event_ms[e] <= t)][-1]
            needs = job[schedule.task[here]]
            if instance.cores[needs].sum() > size or instance.task_memory_mib[needs].sum() > instance.memory_mib[v]:
                return None
    return sum(
        max(ends[instance.first_task[j] : instance.first_task[j + 1]]) - int(instance.arrival_ms[j])
        for j in range(instance.num_jobs)
    )


def mutated(schedule, rng, num_vms):
    """Change one thing a little."""
    run = int(rng.integers(schedule.num_runs))
    columns = {key: getattr(schedule, key).copy() for key in schedule.__slots__}
    kind = rng.integers(6)
    if kind == 0:
        shift = int(rng.choice([-1000, -1, 1, 1000, 600_000]))
        columns["start_ms"][run] += shift
        columns["end_ms"][run] += shift
    elif kind == 1:
        columns["end_ms"][run] += int(rng.choice([-1, 1]))
    elif kind == 2:
        columns["vm"][run] = rng.integers(num_vms)
    elif kind == 3:
        columns["checkpoint_every_ms"][run] = int(rng.choice([0, 60_000, 3_600_000]))
    elif kind == 4:
        columns["task"][run] = columns["task"][rng.integers(schedule.num_runs)]
    return HarvestSchedule(**columns)


@pytest.mark.parametrize("checkpoint_s", [-1.0, 0.0, 30.0])
def test_random_schedules_are_judged_as_the_plain_way_judges_them(checkpoint_s):
    verdicts = []
    for seed in range(12):
        instance = quick(
            3, 3, "2-4", seed=seed, most_cores=8, history_h=1.0, stability=0.3, checkpoint_s=checkpoint_s, restore_s=5.0
        )
        simulator = Simulator(instance, seed=seed)
        assert simulator.run_plain(every_ms=300_000)
        rng = np.random.default_rng(seed)
        for _ in range(6):
            schedule = mutated(simulator.schedule(), rng, instance.num_vms)
            expected = plain_verdict(instance, schedule)
            verdicts.append(expected is not None)
            if expected is None:
                with pytest.raises(VerifyError):
                    verify(instance, schedule)
            else:
                assert verify(instance, schedule) == expected
    assert 10 < sum(verdicts) < 62
