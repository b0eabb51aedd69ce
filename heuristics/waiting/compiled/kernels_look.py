"""A look ahead: when and where a job will have room, given the jobs that run now and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import inner_kernel
from schedgap.instances.kernels.heap import heap_pop, heap_push
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    from schedgap.heuristics.waiting.compiled.state import Jobs, Look, Machines, Placed, Running


@inner_kernel
def look_ahead(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, look: Look, job: int, latest: int
) -> tuple[int, int, int, int, int]:
    """Return when and where a job that has no room now first has it, what is left there, and a bound.

    The ends of the `count` running jobs are visited in order without taking them from their heap: a second heap holds the
    places in the first whose parents were visited. O(L log L) for L ends up to the answer, or up to `latest`.

    Answer: time, `NEVER` if none up to `latest`; the lowest machine; cores and MiB left on it beside the job; and where
    there is none, the first end after `latest`, before which the job has no room.
    """
    free, more, touched = machines.free, look.more, look.touched
    needed_cores, needed_memory = jobs.cores[job], jobs.memory[job]
    size = free.shape[1] >> 1
    begin, where, left_cores, left_memory, bound = NEVER, -1, 0, 0, NEVER
    waiting, num_touched = 0, 0
    if count > 0:
        heap_push(look.times, look.places, 0, running.times[0], 0)
        waiting = 1
    while waiting > 0:
        end = look.times[0]
        if end > latest:
            bound = end
            break
        while waiting > 0 and look.times[0] == end:
            place = look.places[0]
            heap_pop(look.times, look.places, waiting)
            waiting -= 1
            for child in (2 * place + 1, 2 * place + 2):
                if child < count:
                    heap_push(look.times, look.places, waiting, running.times[child], child)
                    waiting += 1
            done = running.jobs[place]
            k = placed.machine[done]
            if more[0, k] == 0:
                touched[num_touched] = k
                num_touched += 1
            more[0, k] += jobs.cores[done]
            more[1, k] += jobs.memory[done]
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
