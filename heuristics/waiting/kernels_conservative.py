"""Conservative backfilling: each job is promised, when it comes, the first gap that holds it for all its runtime.

Runtimes are known, so promises are kept to the microsecond, a job's wait is known at its arrival, and nobody who comes
later can delay it. So, as in `kernels_fcfs`, one pass over the jobs does; but a job may overtake others through gaps
that they leave.

What is free on a machine is a step function of time, kept as a sorted row of times from which on so many cores and MiB
are free; steps of the past are dropped. A search goes through the rows in machine order and each row once, up to the
best gap so far or the job's last time to start: O(s + steps visited) a job, O(steps) for a promise. State: 24 bytes a
step, 2 steps a job that runs or is promised.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.kernels_machines import BEST
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels_heap import NEVER

RENTED = -1
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


@lean_kernel
def serve_by_promise(
    submit: Any, runtime: Any, cores: Any, memory: Any, limit: Any, mistaken: Any, balks: bool, fit: int,
    times: Any, free: Any, head: Any, tail: Any, machine: Any, start: Any,
) -> int:  # fmt: skip
    """Write where each job runs and when it starts; return `DONE`, or `TOO_NARROW` if a row has too few columns.

    submit, runtime, cores, memory : (J,) int64. limit, mistaken, balks : as in `kernels_slots.serve_slots`; jobs larger
    than a machine have a negative limit. fit : of machines with a gap at the same time, the first, or the one with the
    fewest cores free when the gap starts. times : (s, N) int64 and free : (s, N, 2) int64, rows of steps, the first at
    time 0 with all cores and MiB free. head, tail : (s,) int64, zeros and ones. machine, start : (J,) int64, out.
    """
    limit_step = 1 if limit.shape[0] > 1 else 0
    mistaken_step = 1 if mistaken.shape[0] > 1 else 0
    for j in range(submit.shape[0]):
        now, most = submit[j], limit[j * limit_step]
        machine[j] = RENTED
        start[j] = now
        if most < 0:
            continue
        begin, chosen, step, left = NEVER, -1, -1, 0
        latest = now + most
        for k in range(tail.shape[0]):
            while head[k] + 1 < tail[k] and times[k, head[k] + 1] <= now:
                head[k] += 1
            i = first_gap(times[k], free[k], head[k], tail[k], now, runtime[j], cores[j], memory[j], latest)
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
        wrong = mistaken[j * mistaken_step]
        if chosen < 0:
            if wrong or not balks:
                start[j] = now + most
            continue
        if wrong and begin > now:
            continue
        machine[j] = chosen
        start[j] = begin
        row, steps = times[chosen], free[chosen]
        if tail[chosen] + 2 > row.shape[0]:
            shift = head[chosen]
            if shift * 4 < row.shape[0]:
                return TOO_NARROW
            for n in range(shift, tail[chosen]):
                row[n - shift] = row[n]
                steps[n - shift, 0] = steps[n, 0]
                steps[n - shift, 1] = steps[n, 1]
            head[chosen] = 0
            tail[chosen] -= shift
            step -= shift
        end = begin + runtime[j]
        tail[chosen] = add_step(row, steps, head[chosen], tail[chosen], begin)
        tail[chosen] = add_step(row, steps, head[chosen], tail[chosen], end)
        while row[step] < begin:
            step += 1
        while step < tail[chosen] and row[step] < end:
            steps[step, 0] -= cores[j]
            steps[step, 1] -= memory[j]
            step += 1
    return DONE
