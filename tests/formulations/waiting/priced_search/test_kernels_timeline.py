"""The timeline against an array with an entry a moment."""

import numpy as np

from schedgap.formulations.waiting.priced_search.kernels_timeline import Timeline, first_room, take

SPAN, CORES, MEMORY = 60, 5, 7


def empty(machines, stretches, jobs):
    width, standing = -(-SPAN // stretches), machines * stretches
    steps = standing + 2 * jobs + 2
    after = np.arange(1, steps + 1)
    after[stretches - 1 : standing : stretches] = -1
    time = np.zeros(steps, np.int64)
    time[:standing] = np.tile(np.arange(stretches) * width, machines)
    cores, memory = np.full(steps, CORES), np.full(steps, MEMORY)
    free = cores[:standing]
    return Timeline(width, stretches, time, cores, memory, after, free.copy(), free.copy(), np.array([standing]))


def test_against_an_entry_for_each_moment():
    rng = np.random.default_rng(0)
    for _ in range(40):
        stretches = int(rng.integers(1, 12))
        line, free = empty(2, stretches, 200), np.tile([[CORES], [MEMORY]], (2, 1, 3 * SPAN))
        running = []
        for _ in range(200):
            machine, earliest, runtime = int(rng.integers(2)), int(rng.integers(SPAN)), int(rng.integers(1, 20))
            latest = earliest + int(rng.integers(0, SPAN))
            cores, memory = int(rng.integers(1, CORES + 1)), int(rng.integers(0, MEMORY))
            room = (free[machine, 0] >= cores) & (free[machine, 1] >= memory)
            starts = [t for t in range(earliest, latest + 1) if room[t : t + runtime].all()]
            start = first_room(line, machine, earliest, latest, runtime, cores, memory)
            assert start == (starts[0] if starts else -1)
            if start >= 0:
                take(line, machine, start, runtime, cores, memory)
                free[machine, :, start : start + runtime] -= [[cores], [memory]]
                running.append((machine, start, runtime, cores, memory))
            if running and rng.random() < 0.4:
                machine, start, runtime, cores, memory = running.pop(int(rng.integers(len(running))))
                take(line, machine, start, runtime, -cores, -memory)
                free[machine, :, start : start + runtime] += [[cores], [memory]]
        for machine, start, runtime, cores, memory in running:
            take(line, machine, start, runtime, -cores, -memory)
        # Nothing is left but the steps that stand for ever.
        assert (line.most == CORES).all()
        assert (line.least == CORES).all()
        standing = line.after[: 2 * stretches]
        assert standing.tolist() == [-1 if k % stretches == stretches - 1 else k + 1 for k in range(2 * stretches)]
