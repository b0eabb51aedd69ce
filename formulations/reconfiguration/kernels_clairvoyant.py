"""One plan of the exact search, compiled: carry out a decision, let a period pass, tidy the state, bound the rest.

A state between two plans is kept tidy: machines that are paid for are dropped, the others are in an order that does not
depend on how they came about, and figures of the past that no longer matter are zero. Equal states are then equal bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.kernels_events import advance, ends_at
from schedgap.instances.reconfiguration.kernels_plan import apply_plan, release, rent
from schedgap.instances.reconfiguration.kernels_rates import RATE_ONE
from schedgap.instances.reconfiguration.kernels_state import (
    ACTIVE,
    COUNTED,
    DONE,
    DUE,
    EXECUTED,
    FETCHING,
    FINE,
    HELD_ON,
    KILLING,
    MIGRATING,
    MOVES,
    NUM_ACTIVE,
    NUM_LIVE,
    NUM_MACHINES,
    PAID_FROM,
    PAID_UNTIL,
    PHASE,
    PROGRESS,
    RATE,
    READY,
    RELEASED,
    RENTED,
    RUNNING,
    RUNS_FROM,
    SEEN,
    SENT_TO,
    SETTLED,
    STAGE,
    STARTING,
    TYPE,
    UNSEEN,
    UPLOADING,
    WAITING,
    State,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@kernel
def step(
    s: State, t: int, period: int, price: IntArray, new_types: IntArray, released: IntArray, serial: IntArray
) -> int:
    """Carry out the plan at t, `State.target` being set, and let time pass to the next one; s is tidy afterwards.

    serial : (M,), a number for each machine, which follows it as rows change. Returns what was spent until the next
    plan (and later, on machines that nothing can keep), micro-dollars an hour times seconds; -1 if the plan is refused.
    """
    for i in range(new_types.shape[0]):
        rent(s, t, new_types[i])
    for i in range(released.shape[0]):
        release(s, t, released[i])
    if apply_plan(s, t) != FINE:
        return -1
    advance(s, t + period)
    return tidy(s, t + period, price, serial)


@kernel
def tidy(s: State, now: int, price: IntArray, serial: IntArray) -> int:
    """Bring the state into its canonical form; returns what its machines cost since it last was."""
    spent = 0
    number = s.clock[NUM_MACHINES]
    for j in range(s.clock[SEEN]):
        row = s.job[j]
        row[EXECUTED] = row[MOVES] = 0
        if row[PHASE] == DONE:
            row[1:] = 0
            for k in range(s.first_task[j], s.first_task[j + 1]):
                s.task[k, DUE] = 0
                s.task[k, SENT_TO] = s.task[k, HELD_ON] = -1
            continue
        row[PROGRESS] += row[RATE] * (now - row[SETTLED])
        row[SETTLED] = now
        if row[READY] <= now:
            row[READY] = 0
        for k in range(s.first_task[j], s.first_task[j + 1]):
            if s.task[k, STAGE] not in (KILLING, UPLOADING, FETCHING):
                s.task[k, DUE] = 0
    # In the order of the lowest task on a machine; those without are ordered by what they are.
    num_tasks = s.task.shape[0]
    lowest = np.full(number, num_tasks, np.int64)
    for k in range(num_tasks - 1, -1, -1):
        for column in (SENT_TO, HELD_ON):
            if s.task[k, column] >= 0:
                lowest[s.task[k, column]] = k
    key = np.zeros((number, 6), np.int64)
    for m in range(number):
        row = s.machine[m]
        rate = price[row[TYPE]]
        if row[PAID_UNTIL] >= 0:
            spent += rate * (row[PAID_UNTIL] - row[PAID_FROM])
            continue
        spent += rate * max(now - row[PAID_FROM], 0)
        row[PAID_FROM] = max(row[PAID_FROM], now)
        row[RUNS_FROM] = max(row[RUNS_FROM], now)
        images = 0
        for w in range(s.images.shape[1]):
            images = 2 * images + s.images[m, w]
        if lowest[m] < num_tasks or images > 0:
            row[RENTED] = 0
        if row[RELEASED] >= 0:
            row[RELEASED] = 0
        key[m, 0], key[m, 1], key[m, 2] = lowest[m], row[TYPE], row[RUNS_FROM]
        key[m, 3], key[m, 4], key[m, 5] = row[RENTED], images, row[RELEASED]
    order = np.empty(number, np.int64)
    left = 0
    for m in range(number):
        if s.machine[m, PAID_UNTIL] >= 0:
            continue
        at = left
        while at > 0 and _before(key[m], key[order[at - 1]]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = m
        left += 1
    rank = np.full(number, -1, np.int64)
    for i in range(left):
        rank[order[i]] = i
    for table in (s.machine, s.used, s.contending, s.images):
        table[:left] = table[order[:left]]
        table[left:] = 0
    serial[:left] = serial[order[:left]]
    serial[left:] = -1
    for k in range(num_tasks):
        for column in (SENT_TO, HELD_ON):
            if s.task[k, column] >= 0:
                s.task[k, column] = rank[s.task[k, column]]
    s.target[:] = s.task[:, SENT_TO]
    s.clock[NUM_MACHINES] = s.clock[NUM_LIVE] = left
    s.live[:] = 0
    for i in range(left):
        s.live[i] = i
        s.machine[i, COUNTED] = now
    s.dirty[:] = 0
    s.active[s.clock[NUM_ACTIVE] :] = 0
    return int(spent)


@kernel
def _before(left: IntArray, right: IntArray) -> bool:
    for i in range(left.shape[0]):
        if left[i] != right[i]:
            return bool(left[i] < right[i])
    return False


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
    """Bound what is still to be paid after a tidy state: in all, and after the next plan, for those present alone.

    cover : (2**T,), the least price of machines that hold a set of tasks. work_price : (C,), nano-dollars an hour.
    """
    num_jobs = s.job.shape[0]
    begins, ends = np.zeros(num_jobs, np.int64), np.zeros(num_jobs, np.int64)
    work = 0
    for j in range(num_jobs):
        if s.job[j, PHASE] == DONE:
            continue
        left = s.work[j] - s.job[j, PROGRESS]
        seconds = max((left + RATE_ONE - 1) // RATE_ONE, 0)
        c = s.job2class[j]
        work += (s.first_task[j + 1] - s.first_task[j]) * work_price[c] * max(left // RATE_ONE, 0)
        if s.job[j, PHASE] == UNSEEN:
            begins[j] = (first_plan[j] - now) // period
        ends[j] = begins[j] + (seconds + _start_s(s, now, j, seconds) + period - 1) // period
    work = work // 1000
    closing = 0
    for m in range(s.clock[NUM_MACHINES]):
        if s.machine[m, PAID_FROM] <= now:
            closing += price[s.machine[m, TYPE]] * s.terminate[0]
    for m in range(s.clock[NUM_MACHINES]):
        for k in range(s.task.shape[0]):
            # Whoever is launched cannot be sent elsewhere before: the machine boots, paid and idle.
            if s.task[k, SENT_TO] == m and s.task[k, STAGE] == WAITING:
                work += price[s.machine[m, TYPE]] * (s.machine[m, RUNS_FROM] - s.machine[m, PAID_FROM])
                break
    present, later = 0, 0
    last = ends.max()
    for w in range(last):
        mask = 0
        for j in range(num_jobs):
            if begins[j] <= w < ends[j]:
                mask |= (1 << s.first_task[j + 1]) - (1 << s.first_task[j])
        worth = cover[mask] * max(period - longest_acquire, 0)
        present += worth
        if w > 0:
            later += worth
    return int(max(work, present) + closing), int(later)


@kernel
def _start_s(s: State, now: int, j: int, seconds: int) -> int:
    """Return the seconds without progress that a job has before it at least."""
    workload = s.class2workload[s.job2class[j]]
    fetch, init = s.delays[workload, 0], s.delays[workload, 4]
    phase = s.job[j, PHASE]
    if phase == RUNNING:
        return 0
    if phase == STARTING:
        return int(max(min(s.job[j, READY] - now, fetch + init), 0))
    if phase != MIGRATING:
        return int(fetch + init)
    longest = 0
    for k in range(s.first_task[j], s.first_task[j + 1]):
        stage, due = s.task[k, STAGE], max(s.task[k, DUE] - now, 0)
        if stage == KILLING:
            # It may end while it is being stopped.
            waits = fetch if seconds > due else -init
        elif stage == FETCHING:
            waits = due
        elif stage == WAITING:
            waits = fetch + s.machine[s.task[k, SENT_TO], RUNS_FROM] - now
        else:
            waits = 0 if stage == ACTIVE else fetch
        longest = max(longest, waits + init)
    return int(longest)


@kernel
def phases(s: State, now: int) -> IntArray:
    """(J,) int64: of each job 0 if it needs no plan at this second, 1 if it stays as it is, 2 if it may be sent."""
    found = np.zeros(s.job.shape[0], np.int64)
    for i in range(s.clock[NUM_ACTIVE]):
        j = s.active[i]
        if ends_at(s, j) > now:
            found[j] = 1 if s.job[j, PHASE] == MIGRATING else 2
    return found
