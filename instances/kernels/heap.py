"""A binary heap of jobs, or runs, by time, ties by number: what ends, or leaves, next.

`times` (N,) int64 and `jobs` (N,) ints hold it from index 0; the caller keeps the count. O(log N) a call.
"""

from __future__ import annotations

from typing import Any

from schedgap.instances.jit import inlined_kernel
from schedgap.instances.units import NEVER


@inlined_kernel
def heap_push(times: Any, jobs: Any, count: int, time: int, job: int) -> None:
    """Add a job to a heap of `count`."""
    i = count
    while i > 0:
        above = (i - 1) >> 1
        if times[above] < time or (times[above] == time and jobs[above] < job):
            break
        times[i] = times[above]
        jobs[i] = jobs[above]
        i = above
    times[i] = time
    jobs[i] = job


@inlined_kernel
def heap_pop(times: Any, jobs: Any, count: int) -> None:
    """Remove the first job of a heap of `count`."""
    last = count - 1
    time, job = times[last], jobs[last]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= last:
            break
        other = child + 1
        if other < last and (
            times[other] < times[child] or (times[other] == times[child] and jobs[other] < jobs[child])
        ):
            child = other
        if time < times[child] or (time == times[child] and job < jobs[child]):
            break
        times[i] = times[child]
        jobs[i] = jobs[child]
        i = child
    times[i] = time
    jobs[i] = job


@inlined_kernel
def earliest(times: Any, count: int) -> int:
    """Return the first time of a heap of `count`, `NEVER` if it is empty."""
    if count == 0:
        return NEVER
    return int(times[0])
