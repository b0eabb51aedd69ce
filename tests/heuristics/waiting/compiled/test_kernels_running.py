"""Jobs that start and end, against lists."""

import numpy as np


def test_machines_and_the_order_of_ends(make_trace, compiled):
    for seed in range(20):
        instance, rng = make_trace(seed, "mixed"), np.random.default_rng(seed)
        state = compiled(instance, 3)
        running, free, now = [], [[4, 8] for _ in range(3)], 0
        parts = (state.jobs, state.machines, state.running)
        for j in range(instance.num_jobs):
            cores, memory = int(instance.cores[j]), int(instance.memory_mib[j])
            k = state.find(state.machines, cores, memory, -1)
            if k >= 0:
                state.start(*parts, len(running), state.placed, j, k, now)
                running = sorted([*running, (now + int(instance.runtime_us[j]), j, k)])
                free[k] = [free[k][0] - cores, free[k][1] - memory]
                assert (state.placed.machine[j], state.placed.start[j]) == (k, now)
            elif running:
                # One at a time, or all until a moment.
                now = running[0][0] + int(rng.integers(3))
                done = [each for each in running if each[0] <= now] if j % 2 else running[:1]
                if j % 2:
                    assert state.end_all(*parts, len(running), state.placed, now) == len(running) - len(done)
                else:
                    assert state.end(*parts, len(running), state.placed) == done[0][2]
                for each in done:
                    running.remove(each)
                    where = free[each[2]]
                    free[each[2]] = [
                        where[0] + int(instance.cores[each[1]]),
                        where[1] + int(instance.memory_mib[each[1]]),
                    ]
            assert state.free() == free
            assert (
                list(zip(state.running.times, state.running.jobs, strict=True))[:1]
                == [each[:2] for each in running[:1]]
                or not running
            )
