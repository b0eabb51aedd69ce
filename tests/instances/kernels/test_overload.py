"""The first overload against a sum over all tasks at every start."""

import numpy as np

from schedgap.instances.kernels.overload import first_overlap, first_overload


def plain(machine, start, end, task2job, demand, capacity):
    order = np.argsort(start, kind="stable")
    for i, task in enumerate(order):
        before = order[: i + 1]
        here = before[(machine[before] == machine[task]) & (end[before] > start[task])]
        over = demand[task2job[here]].sum(axis=0) > capacity[machine[task]]
        if over.any():
            return int(task), int(np.argmax(over))
    return -1, -1


def test_the_first_overload():
    found = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        jobs, tasks, machines = int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(1, 4))
        machine, start = rng.integers(0, machines, tasks), rng.integers(0, 12, tasks)
        end, task2job = start + rng.integers(1, 6, tasks), rng.integers(0, jobs, tasks)
        demand, capacity = rng.integers(0, 4, (jobs, 2)), rng.integers(3, 8, (machines, 2))
        expected = plain(machine, start, end, task2job, demand, capacity)
        by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
        answer = first_overload(machine, start, end, by_start, by_end, demand[task2job], capacity.copy())
        assert answer == expected
        overlap = first_overlap(machine, start, end, by_start, np.zeros(machines, np.int64))
        one = np.ones((jobs, 1), np.int64), np.ones((machines, 1), np.int64)
        assert overlap == plain(machine, start, end, task2job, *one)[0]
        found.add(answer[1])
    assert found == {-1, 0, 1}
