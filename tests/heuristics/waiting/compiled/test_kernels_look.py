"""The look ahead against letting the jobs end one after the other."""

import numba

from schedgap.heuristics.waiting.compiled.kernels_machines import look_ahead
from schedgap.instances.units import NEVER


@numba.njit
def look(jobs, machines, running, count, placed, work, job, latest):
    return look_ahead(jobs, machines, running, count, placed, work, job, latest)


def plain(instance, free, running, job, latest):
    cores, memory = int(instance.cores[job]), int(instance.memory_mib[job])
    free = [list(each) for each in free]
    for end in sorted({each[0] for each in running}):
        if end > latest:
            return NEVER, -1, 0, 0, end
        for _, j, k in (each for each in running if each[0] == end):
            free[k] = [free[k][0] + int(instance.cores[j]), free[k][1] + int(instance.memory_mib[j])]
        roomy = [k for k, (c, m) in enumerate(free) if c >= cores and m >= memory]
        if roomy:
            k = roomy[0]
            return end, k, free[k][0] - cores, free[k][1] - memory, NEVER
    return NEVER, -1, 0, 0, NEVER


def test_when_and_where_a_job_has_room(make_trace, compiled):
    looks = 0
    for seed in range(60):
        instance = make_trace(seed, "mixed")
        state, running = compiled(instance, 2), []
        for j in range(instance.num_jobs):
            cores, memory = int(instance.cores[j]), int(instance.memory_mib[j])
            k = state.find(state.machines, cores, memory, -1)
            if k >= 0:
                state.start(state.jobs, state.machines, state.running, len(running), state.placed, j, k, 0)
                running.append((int(instance.runtime_us[j]), j, k))
                continue
            for latest in (0, 2, 5, 50):
                parts = (state.jobs, state.machines, state.running, len(running), state.placed, state.look)
                assert look(*parts, j, latest) == plain(instance, state.free(), running, j, latest)
                assert not state.look.more.any()
                looks += 1
    assert looks > 200
