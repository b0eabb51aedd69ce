"""What is still to be paid after a canonical state, compiled: bounds for the exact search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.simulator.events import ends_at
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE
from schedgap.instances.reconfiguration.simulator.state import (
    ACTIVE,
    DONE,
    FETCHING,
    KILLING,
    MIGRATING,
    RUNNING,
    STARTING,
    UNSEEN,
    WAITING,
    State,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@kernel
def rest(
    s: State,
    now: int,
    period: int,
    longest_acquire: int,
    price: IntArray,
    first_plan: IntArray,
    cover: IntArray,
    work_price: IntArray,
) -> tuple[int, int]:
    """Bound what is still to be paid after a canonical state: in all, and after the next plan, for those present alone.

    cover : (2**T,), the least price of machines that hold a set of tasks. work_price : (C,), nano-dollars an hour.
    """
    num_jobs = s.job.shape[0]
    begins, ends = np.zeros(num_jobs, np.int64), np.zeros(num_jobs, np.int64)
    work = 0
    for j in range(num_jobs):
        if s.job[j].phase == DONE:
            continue
        left = s.given.work[j] - s.job[j].progress
        seconds = max((left + RATE_ONE - 1) // RATE_ONE, 0)
        c = s.given.job2class[j]
        work += (s.given.first_task[j + 1] - s.given.first_task[j]) * work_price[c] * max(left // RATE_ONE, 0)
        if s.job[j].phase == UNSEEN:
            begins[j] = (first_plan[j] - now) // period
        ends[j] = begins[j] + (seconds + _start_s(s, now, j, seconds) + period - 1) // period
    work = work // 1000
    closing = 0
    for m in range(s.clock[0].num_machines):
        if s.machines.lease[m].paid_from <= now:
            closing += price[s.machines.lease[m].type] * s.given.terminate
    for m in range(s.clock[0].num_machines):
        for k in range(s.task.shape[0]):
            # Whoever is launched cannot be sent elsewhere before: the machine boots, paid and idle.
            if s.task[k].sent_to == m and s.task[k].stage == WAITING:
                work += price[s.machines.lease[m].type] * (
                    s.machines.lease[m].runs_from - s.machines.lease[m].paid_from
                )
                break
    present, later = 0, 0
    last = ends.max()
    for w in range(last):
        mask = 0
        for j in range(num_jobs):
            if begins[j] <= w < ends[j]:
                mask |= (1 << s.given.first_task[j + 1]) - (1 << s.given.first_task[j])
        worth = cover[mask] * max(period - longest_acquire, 0)
        present += worth
        if w > 0:
            later += worth
    return int(max(work, present) + closing), int(later)


@kernel
def _start_s(s: State, now: int, j: int, seconds: int) -> int:
    """Return the seconds without progress that a job has before it at least."""
    workload = s.given.class2workload[s.given.job2class[j]]
    fetch, init = s.given.delays[workload].fetch, s.given.delays[workload].init
    phase = s.job[j].phase
    if phase == RUNNING:
        return 0
    if phase == STARTING:
        return int(max(min(s.job[j].ready - now, fetch + init), 0))
    if phase != MIGRATING:
        return int(fetch + init)
    longest = 0
    for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
        stage, due = s.task[k].stage, max(s.task[k].due - now, 0)
        if stage == KILLING:
            # It may end while it is being stopped.
            waits = fetch if seconds > due else -init
        elif stage == FETCHING:
            waits = due
        elif stage == WAITING:
            waits = fetch + s.machines.lease[s.task[k].sent_to].runs_from - now
        else:
            waits = 0 if stage == ACTIVE else fetch
        longest = max(longest, waits + init)
    return int(longest)


@kernel
def phases(s: State, now: int) -> IntArray:
    """(J,) int64: of each job 0 if it needs no plan at this second, 1 if it stays as it is, 2 if it may be sent."""
    found = np.zeros(s.job.shape[0], np.int64)
    for i in range(s.clock[0].num_active):
        j = s.active[i]
        if ends_at(s, j) > now:
            found[j] = 1 if s.job[j].phase == MIGRATING else 2
    return found
