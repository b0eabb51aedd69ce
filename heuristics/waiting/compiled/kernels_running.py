"""Jobs that start and end on machines: parts of the simulators' loops. `count` is how many jobs run before the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.waiting.compiled.kernels_machines import change_free
from schedgap.instances.jit import inlined_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push

if TYPE_CHECKING:
    from schedgap.heuristics.waiting.compiled.state import Jobs, Machines, Placed, Running


@inlined_kernel
def start_job(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, j: int, k: int, now: int, end: int
) -> None:
    """Start a job on a machine with room for it, which it holds until `end`."""
    placed.machine[j] = k
    placed.start[j] = now
    change_free(machines, k, -jobs.cores[j], -jobs.memory[j])
    heap_push(running.times, running.jobs, count, end, j)


@inlined_kernel
def end_job(jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed) -> int:
    """Let the first of the running jobs end, and return its machine."""
    done = running.jobs[0]
    heap_pop(running.times, running.jobs, count)
    k = placed.machine[done]
    change_free(machines, k, jobs.cores[done], jobs.memory[done])
    return int(k)


@inlined_kernel
def end_jobs(jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, now: int) -> int:
    """Let all jobs end that do so by a moment, and return how many still run."""
    while earliest(running.times, count) <= now:
        end_job(jobs, machines, running, count, placed)
        count -= 1
    return count
