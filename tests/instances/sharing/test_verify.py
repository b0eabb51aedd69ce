import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.sharing import SharingSchedule, ends_ms, random_jobs, verify
from schedgap.instances.sharing.simulator.simulator import Simulator

# a: two tasks on fast for 2 s, one on machine 0 for 4 s. b: on machine 1 from 1 s, and again from 4 s.
MACHINE, START = [2, 2, 0, 1, 1], [0, 0, 0, 1000, 4000]


def changed(task, machine=None, start_ms=None):
    machines, starts = list(MACHINE), list(START)
    machines[task] = machines[task] if machine is None else machine
    starts[task] = starts[task] if start_ms is None else start_ms
    return SharingSchedule(machines, starts)


def test_the_objective_is_the_sum_of_completion_delays(pair):
    schedule = SharingSchedule(MACHINE, START)
    assert ends_ms(pair, schedule).tolist() == [2000, 2000, 4000, 4000, 7000]
    # a ends at 4 s, b at 7 s, 6 s after it came.
    assert verify(pair, schedule) == 4000 + 6000


def test_a_task_that_ends_makes_room_at_that_moment_and_tasks_need_no_order(pair):
    assert verify(pair, changed(0, start_ms=2000)) == 4000 + 6000
    # Machine 0 has two cores: b may follow a's task there, not a moment earlier.
    assert verify(pair, changed(4, machine=0, start_ms=4000)) == 4000 + 6000
    with pytest.raises(
        VerifyError, match=r"^machine 0 is over its cpu when task 1 of job b starts, at 3\.999 s: 3 cpu used"
    ):
        verify(pair, changed(4, machine=0, start_ms=3999))


def test_work_is_rounded_up_to_milliseconds(pair):
    instance = pair.replace(performance=[[1000, 3000], [1000, 0]])
    # 4000 / 3 = 1333.3 ms
    assert ends_ms(instance, SharingSchedule(MACHINE, START))[0] == 1334


@pytest.mark.parametrize(
    ("task", "machine", "start_ms", "sentence"),
    [
        (2, 3, None, r"task 2 of job a runs on machine 3; there are 3\."),
        (2, -1, None, r"task 2 of job a runs on machine -1; there are 3\."),
        (3, 2, None, r"task 0 of job b runs on machine 2 of class fast, where it has no performance\."),
        (3, None, 999, r"task 0 of job b starts at 0\.999 s, before its job arrives at 1 s\."),
        (0, None, -1, r"task 0 of job a starts at -0\.001 s, before its job arrives at 0 s\."),
        (0, None, 2**52 + 1, r"task 0 of job a starts at 4503599627370497 ms; a task starts by 4503599627370496 ms\."),
        (
            4,
            None,
            3999,
            r"machine 1 is over its cpu when task 1 of job b starts, at 3\.999 s: 4 cpu used, it has 2 cpu\.",
        ),
        (
            2,
            2,
            None,
            r"machine 2 is over its ram_gib when task 2 of job a starts, at 0 s: 3 ram_gib used, it has 2 ram_gib\.",
        ),
    ],
)
def test_the_first_violation_is_a_sentence(pair, task, machine, start_ms, sentence):
    with pytest.raises(VerifyError, match="^" + sentence + "$"):
        verify(pair, changed(task, machine, start_ms))


def test_places_that_are_forbidden_or_too_small(pair):
    forbidden = pair.replace(allowed=[[True, False], [True, True]])
    with pytest.raises(
        VerifyError, match=r"task 0 of job a runs on machine 2 of class fast, which its constraints forbid\."
    ):
        verify(forbidden, SharingSchedule(MACHINE, START))
    small = pair.replace(capacity=[[2000, 4096], [4000, 512]])
    with pytest.raises(VerifyError, match=r"and needs 1 ram_gib, of which that has 0\.5 ram_gib\."):
        verify(small, SharingSchedule(MACHINE, START))


def test_one_entry_a_task(pair):
    with pytest.raises(VerifyError, match=r"^machine has shape \(4,\); the instance has 5 tasks, give one each\.$"):
        verify(pair, SharingSchedule(MACHINE[:-1], START))
    with pytest.raises(VerifyError, match=r"^start_ms has shape \(5, 1\)"):
        verify(pair, SharingSchedule(MACHINE, np.array(START)[:, None]))


def plain(instance, schedule):
    """Return the first moment and task at which a machine is over its capacity, looked for in the plainest way."""
    ends, job = ends_ms(instance, schedule), instance.task2job()
    capacity = np.repeat(instance.capacity, instance.machine_count, axis=0)
    for t in np.unique(schedule.start_ms):
        runs = (schedule.start_ms <= t) & (ends > t)
        for m in range(instance.num_machines):
            here = runs & (schedule.machine == m)
            if (instance.demand[job[here]].sum(axis=0) > capacity[m]).any():
                return int(t)
    return None


def test_random_schedules_are_judged_as_the_plain_way_judges_them():
    verdicts = []
    for seed in range(150):
        instance = random_jobs(5, seed=seed, most_tasks=4)
        simulator = Simulator(instance)
        simulator.run()
        schedule = simulator.schedule()
        rng = np.random.default_rng(seed)
        start = schedule.start_ms.copy()
        late = int(rng.integers(instance.num_tasks))
        start[late] = max(start[late] - 1000 * rng.integers(4), instance.arrival_ms[instance.task2job()[late]])
        moved = SharingSchedule(schedule.machine, start)
        over = plain(instance, moved)
        verdicts.append(over is None)
        if over is None:
            assert verify(instance, moved) > 0
        else:
            with pytest.raises(VerifyError, match=f"starts, at {over / 1000:g} s"):
                verify(instance, moved)
    assert 20 < sum(verdicts) < 130
