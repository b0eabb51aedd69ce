"""Conservative backfilling: for each job is reserved, when it comes, the first gap that holds it for all its runtime.

Runtimes are known, so reservations hold to the microsecond, a job's wait is known at its arrival, and nobody who comes
later can delay it. So, as in `kernels_fcfs`, one pass over the jobs does; but a job may overtake others through gaps
that they leave.

What is free on a machine is a step function of time, kept as a sorted row of times from which on so many cores and MiB
are free; steps of the past are dropped. A search goes through the rows in machine order and each row once, up to the
best gap so far or the job's last time to start: O(s + steps visited) a job, O(steps) for a reservation. State: 24 bytes a
step, 2 steps a job that runs or has a reservation.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.kernels_machines import BEST
from schedgap.heuristics.waiting.compiled.state import RENTED, Jobs, Placed, Profiles, Waits
from schedgap.instances.jit import inlined_kernel, inner_kernel, lean_kernel
from schedgap.instances.units import NEVER

DONE, TOO_NARROW = 0, -1


@inner_kernel
def first_gap(
    times: Any, free: Any, head: int, tail: int, now: int, runtime: int, cores: int, memory: int, latest: int
) -> int:
    """Return the step from which on a row has room for the job's runtime, -1 if there is none until `latest`."""
    i = head
    while True:
        while free[i, 0] < cores or free[i, 1] < memory:
            i += 1
        begin = max(now, times[i])
        if begin > latest:
            return -1
        found, end = i, begin + runtime
        i += 1
        while i < tail and times[i] < end and free[i, 0] >= cores and free[i, 1] >= memory:
            i += 1
        if i == tail or times[i] >= end:
            return found


@inner_kernel
def add_step(times: Any, free: Any, head: int, tail: int, time: int) -> int:
    """Make sure that a row has a step at a time not before its first; return the new tail."""
    i = tail
    while i > head and times[i - 1] >= time:
        i -= 1
    if i < tail and times[i] == time:
        return tail
    for n in range(tail, i, -1):
        times[n] = times[n - 1]
        free[n, 0] = free[n - 1, 0]
        free[n, 1] = free[n - 1, 1]
    times[i] = time
    free[i, 0] = free[i - 1, 0]
    free[i, 1] = free[i - 1, 1]
    return tail + 1


@inlined_kernel
def find_gap(jobs: Jobs, profiles: Profiles, fit: int, j: int, latest: int) -> tuple[int, int, int]:
    """Return the machine with the first gap for a job, its step and its time; machine -1 if there is none until `latest`.

    Of machines with a gap at the same time it is the first, or the one with the fewest cores free when the gap starts.
    """
    now, runtime, cores, memory = jobs.submit[j], jobs.runtime[j], jobs.cores[j], jobs.memory[j]
    begin, chosen, step, left = NEVER, -1, -1, 0
    times, free, head, tail = profiles
    for k in range(tail.shape[0]):
        while head[k] + 1 < tail[k] and times[k, head[k] + 1] <= now:
            head[k] += 1
        i = first_gap(times[k], free[k], head[k], tail[k], now, runtime, cores, memory, latest)
        if i < 0:
            continue
        gap = max(now, times[k, i])
        if gap < begin or free[k, i, 0] < left:
            begin, chosen, step, left = gap, k, i, free[k, i, 0]
            if fit == BEST:
                latest = begin
            elif begin == now:
                break
            else:
                latest = begin - 1
    return chosen, step, begin


@inlined_kernel
def reserve(jobs: Jobs, profiles: Profiles, j: int, k: int, step: int, begin: int) -> int:
    """Take a job's cores and MiB from a machine for its runtime; `TOO_NARROW` if the row has too few columns."""
    row, steps, head, tail = profiles.times[k], profiles.free[k], profiles.head, profiles.tail
    if tail[k] + 2 > row.shape[0]:
        shift = head[k]
        if shift * 4 < row.shape[0]:
            return TOO_NARROW
        for n in range(shift, tail[k]):
            row[n - shift] = row[n]
            steps[n - shift, 0] = steps[n, 0]
            steps[n - shift, 1] = steps[n, 1]
        head[k] = 0
        tail[k] -= shift
        step -= shift
    end = begin + jobs.runtime[j]
    tail[k] = add_step(row, steps, head[k], tail[k], begin)
    tail[k] = add_step(row, steps, head[k], tail[k], end)
    while row[step] < begin:
        step += 1
    while step < tail[k] and row[step] < end:
        steps[step, 0] -= jobs.cores[j]
        steps[step, 1] -= jobs.memory[j]
        step += 1
    return DONE


@lean_kernel
def serve_by_reservation(jobs: Jobs, waits: Waits, fit: int, profiles: Profiles, placed: Placed) -> int:
    """Write where each job runs and when it starts; return `DONE`, or `TOO_NARROW` if a row has too few columns."""
    limit_step = 1 if waits.limit.shape[0] > 1 else 0
    mistaken_step = 1 if waits.mistaken.shape[0] > 1 else 0
    for j in range(jobs.submit.shape[0]):
        now, most = jobs.submit[j], waits.limit[j * limit_step]
        placed.machine[j] = RENTED
        placed.start[j] = now
        if most < 0:
            continue
        k, step, begin = find_gap(jobs, profiles, fit, j, now + most)
        wrong = waits.mistaken[j * mistaken_step]
        if k < 0:
            if wrong or not waits.balks:
                placed.start[j] = now + most
            continue
        if wrong and begin > now:
            continue
        placed.machine[j] = k
        placed.start[j] = begin
        if reserve(jobs, profiles, j, k, step, begin) == TOO_NARROW:
            return TOO_NARROW
    return DONE
