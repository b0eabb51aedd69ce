"""The log of what came and went, against a plain version of it on random plays."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.upkeep import Log, looked_up


class Plain:
    """What is on each machine and since when, in dicts."""

    def __init__(self):
        self.content, self.since_s, self.at, self.moved_s = {}, {}, {}, {}

    def note(self, now_s, place):
        """place : machine to set of tasks, all machines that there are."""
        for machine, tasks in place.items():
            if self.content.get(machine) != tasks:
                self.since_s[machine] = now_s
        at = {task: machine for machine, tasks in place.items() for task in tasks}
        for task, machine in self.at.items():
            if task in at and at[task] != machine:
                self.moved_s[task] = now_s
        # A machine that went and a task that ended are forgotten.
        self.content, self.at = dict(place), at
        self.since_s = {machine: self.since_s[machine] for machine in place}
        self.moved_s = {task: since for task, since in self.moved_s.items() if task in at}


@pytest.mark.parametrize("seed", range(20))
def test_since_when_machines_are_quiet_and_tasks_where_they_are(seed, make_observation):
    rng, memory, plain = np.random.default_rng(seed), {}, Plain()
    machines, tasks = list(range(3)), {}
    for now_s in range(0, 6000, 300):
        tasks = {task: machine for task, machine in tasks.items() if rng.random() < 0.8}
        first = max(tasks, default=0) + now_s // 300 * 10
        tasks |= {first + i: int(rng.choice(machines)) for i in range(1, int(rng.integers(2, 5)))}
        for task in tasks:
            tasks[task] = int(rng.choice(machines)) if rng.random() < 0.2 else tasks[task]
        numbers = np.array(sorted(tasks), np.int64)
        place = [machines.index(tasks[task]) for task in numbers.tolist()]
        given = make_observation([(1,)], [(0, m) for m in place], [0] * len(machines), now_s=now_s, memory=memory)
        log = Log.of(replace(given, task=numbers, machine=np.array(machines)), None)
        plain.note(now_s, {m: {task for task, on in tasks.items() if on == m} for m in machines})
        assert log.since_s.tolist() == [plain.since_s[m] for m in machines]
        assert log.moved_s.tolist() == [plain.moved_s.get(task, -1) for task in numbers.tolist()]
        # An empty machine goes, and another comes.
        gone = [m for m in machines if m not in tasks.values()]
        machines = [m for m in machines if m not in gone[:1]] + [max(machines) + 1] * (rng.random() < 0.4)


def test_looking_up_in_ascending_keys():
    keys, values = np.array([2, 5, 9]), np.array([20, 50, 90])
    assert looked_up(keys, values, np.array([9, 1, 5, 10, 2])).tolist() == [90, -1, 50, -1, 20]
    assert looked_up(keys[:0], values[:0], np.array([3])).tolist() == [-1]
