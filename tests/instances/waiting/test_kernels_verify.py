"""The first overload against a sum over all jobs at every start."""

import numpy as np

from schedgap.instances.waiting.kernels_verify import first_overlap, first_overload


def plain(machine, start, end, cores, memory, most):
    order = np.argsort(start, kind="stable")
    for i, job in enumerate(order):
        before = order[: i + 1]
        here = before[(machine[before] == machine[job]) & (end[before] > start[job])]
        if cores[here].sum() > most[0] or memory[here].sum() > most[1]:
            return int(job)
    return -1


def test_the_first_overload():
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        jobs, machines = int(rng.integers(1, 14)), int(rng.integers(1, 4))
        machine, start = rng.integers(0, machines, jobs), rng.integers(0, 15, jobs)
        end, by_start = start + rng.integers(1, 6, jobs), np.argsort(start, kind="stable")
        cores, memory = rng.integers(1, 4, jobs), rng.integers(0, 4, jobs)
        used, running = np.zeros((2, machines), np.int64), np.empty((2, jobs), np.int64)
        job = first_overload(machine, start, end, by_start, cores, memory, 5, 6, *used, *running)
        assert job == plain(machine, start, end, cores, memory, (5, 6))
        ones = np.ones(jobs, np.int64)
        overlap = first_overlap(machine, start, end, by_start, np.zeros(machines, np.int64))
        assert overlap == plain(machine, start, end, ones, ones, (1, 1))
        found += job >= 0
    assert 20 < found < 180
