"""A look ahead: when and where a job will have room, given the jobs that run now and nothing else."""

from __future__ import annotations

from typing import Any

from schedgap.instances.jit import inner_kernel
from schedgap.instances.kernels_heap import NEVER, heap_pop, heap_push


@inner_kernel
def look_ahead(
    times: Any, jobs: Any, running: int, machine: Any, cores: Any, memory: Any, free: Any,
    needed_cores: int, needed_memory: int, latest: int, look: Any,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Return when and where a job that has no room now first has it, what is left there, and a bound.

    The ends of the running jobs are visited in order without taking them from their heap: a second heap holds the
    places in the first whose parents were visited. O(L log L) for L ends up to the answer, or up to `latest`.

    times, jobs, running : the heap of running jobs (`kernels_heap`). look : work arrays, places' times (R + 1,) int64,
    places (R + 1,) int32, what became free (2, s) int64 zeros, machines touched (s,) int64.
    Answer: time, `NEVER` if none up to `latest`; the lowest machine; cores and MiB left on it beside the job; and where
    there is none, the first end after `latest`, before which the job has no room.
    """
    place_times, places, more, touched = look
    size = free.shape[1] >> 1
    begin, where, left_cores, left_memory, bound = NEVER, -1, 0, 0, NEVER
    waiting, num_touched = 0, 0
    if running > 0:
        heap_push(place_times, places, 0, times[0], 0)
        waiting = 1
    while waiting > 0:
        end = place_times[0]
        if end > latest:
            bound = end
            break
        while waiting > 0 and place_times[0] == end:
            place = places[0]
            heap_pop(place_times, places, waiting)
            waiting -= 1
            for child in (2 * place + 1, 2 * place + 2):
                if child < running:
                    heap_push(place_times, places, waiting, times[child], child)
                    waiting += 1
            done = jobs[place]
            k = machine[done]
            if more[0, k] == 0:
                touched[num_touched] = k
                num_touched += 1
            more[0, k] += cores[done]
            more[1, k] += memory[done]
            roomy = free[0, size + k] + more[0, k] >= needed_cores and free[1, size + k] + more[1, k] >= needed_memory
            if roomy and (where < 0 or k < where):
                begin, where = end, k
        if where >= 0:
            left_cores = free[0, size + where] + more[0, where] - needed_cores
            left_memory = free[1, size + where] + more[1, where] - needed_memory
            break
    for i in range(num_touched):
        more[0, touched[i]] = 0
        more[1, touched[i]] = 0
    return begin, where, left_cores, left_memory, bound
