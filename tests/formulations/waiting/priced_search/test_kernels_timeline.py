"""The timeline against an array with an entry a moment."""

import numpy as np

from schedgap.formulations.waiting.priced_search.kernels_plan import SLOTS, empty, first_room, take

SPAN, CORES, MEMORY = 60, 5, 7


def test_against_an_entry_for_each_moment():
    rng = np.random.default_rng(0)
    for _ in range(40):
        # One stretch with more steps than lie side by side, 7, 30, or one for each moment.
        most = int(rng.choice([8, 40, 200, 400]))
        line, free = empty(2, SPAN, most, CORES, MEMORY), np.tile([[CORES], [MEMORY]], (2, 1, 3 * SPAN))
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
            if len(running) == most or (running and rng.random() < 0.4):
                machine, start, runtime, cores, memory = running.pop(int(rng.integers(len(running))))
                take(line, machine, start, runtime, -cores, -memory)
                free[machine, :, start : start + runtime] += [[cores], [memory]]
        for machine, start, runtime, cores, memory in running:
            take(line, machine, start, runtime, -cores, -memory)
        # Nothing is left but the steps that stand for ever.
        assert (line.most == CORES).all()
        assert (line.least == CORES).all()
        stretches = line.stretches
        standing = line.after[: 2 * SLOTS * stretches : SLOTS].tolist()
        assert standing == [-1 if k % stretches == stretches - 1 else SLOTS * (k + 1) for k in range(2 * stretches)]
