"""One plan of the exact search, compiled: carry out a decision, let a period pass, bring the state into canonical form.

Between two plans a state is canonical: machines that are paid for, and take none from a stock any more, are dropped, the
others are in an order that does not depend on how they came about, and figures of the past that no longer matter are zero.
Equal states are then equal bytes.

What is still to be paid after a canonical state, compiled: bounds for the exact search.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.simulator.events import advance, ends_at
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE
from schedgap.instances.reconfiguration.simulator.state import (
    ACTIVE,
    DONE,
    FETCHING,
    FINE,
    KILLING,
    MIGRATING,
    RUNNING,
    STARTING,
    UNSEEN,
    UPLOADING,
    WAITING,
    State,
)
from schedgap.instances.units import NEVER


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


# When machines were rented that have never held a task, though not for later: those that run at second 0, until they
# are used, and those whose task ended while it was being stopped elsewhere.
BEFORE = -1


@kernel
def step(
    s: State, t: int, period: int, price: IntArray, new_types: IntArray, released: IntArray, serial: IntArray
) -> int:
    """Carry out the plan at t, `State.target` being set, and let time pass to the next one; s is canonical afterwards.

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
    return canonicalise(s, t + period, price, serial)


@kernel
def canonicalise(s: State, now: int, price: IntArray, serial: IntArray) -> int:
    """Bring the state into its canonical form; returns what its machines cost since it last was.

    Rows of machines behind the last one that is left keep what they held.
    """
    _forget_past(s, now)
    spent, key = _settle_leases(s, now, price)
    number = s.clock[0].num_machines
    order = np.empty(number, np.int64)
    left = 0
    for m in range(number):
        if s.machines.lease[m].paid_until >= 0 and not _counts(s, m, now):
            continue
        at = left
        while at > 0 and _before(key[m], key[order[at - 1]]):
            order[at] = order[at - 1]
            at -= 1
        order[at] = m
        left += 1
    _reorder(s, order[:left], serial)
    for i in range(left):
        s.machines.live[i] = i
        s.machines.lease[i].counted = now
    s.machines.live[left:] = 0
    s.machines.dirty[:] = 0
    s.clock[0].num_machines = s.clock[0].num_live = left
    s.active[s.clock[0].num_active :] = 0
    return int(spent)


@kernel
def _counts(s: State, m: int, now: int) -> bool:
    """Whether a machine without a future takes one from the stock of its type at this second."""
    row = s.machines.lease[m]
    return bool(s.given.stock.shape[0] > 0 and s.given.stock[row.type] < NEVER and row.paid_until > now)


@kernel
def _forget_past(s: State, now: int) -> None:
    """Settle the jobs at this second, and clear what no longer matters of them and of their tasks."""
    for j in range(s.clock[0].seen):
        row = s.job[j]
        row.executed = row.moves = 0
        is_done = row.phase == DONE
        if is_done:
            row.progress = row.rate = row.settled = row.ready = row.finish = 0
        else:
            row.progress += row.rate * (now - row.settled)
            row.settled = now
            if row.ready <= now:
                row.ready = 0
        for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
            task = s.task[k]
            if is_done:
                if task.sent_to >= 0:
                    s.machines.lease[task.sent_to].rented = BEFORE
                task.sent_to = task.held_on = -1
            if is_done or task.stage not in (KILLING, UPLOADING, FETCHING):
                task.due = 0


@kernel
def _settle_leases(s: State, now: int, price: IntArray) -> tuple[int, IntArray]:
    """Pay the machines up to this second; return what they cost, and (M, 6) by which they are ordered.

    The lowest task on a machine comes first; those without tasks are ordered by what they are.
    """
    number, num_tasks = s.clock[0].num_machines, s.task.shape[0]
    lowest = np.full(number, num_tasks, np.int64)
    for k in range(num_tasks - 1, -1, -1):
        for m in (s.task[k].sent_to, s.task[k].held_on):
            if m >= 0:
                lowest[m] = k
    key = np.zeros((number, 6), np.int64)
    spent = 0
    for m in range(number):
        row = s.machines.lease[m]
        rate = price[row.type]
        if row.paid_until >= 0:
            spent += rate * (row.paid_until - row.paid_from)
            # If it is left, it is paid, and only its type and when it goes matter.
            row.paid_from = row.runs_from = row.paid_until
            row.rented = row.released = 0
            s.machines.images[m] = 0
            key[m, 0], key[m, 1], key[m, 2] = num_tasks, row.type, row.runs_from
            continue
        spent += rate * max(now - row.paid_from, 0)
        row.paid_from = max(row.paid_from, now)
        row.runs_from = max(row.runs_from, now)
        images = 0
        for w in range(s.machines.images.shape[1]):
            images = 2 * images + s.machines.images[m, w]
        if lowest[m] < num_tasks or images > 0:
            row.rented = 0
        if row.released >= 0:
            row.released = 0
        key[m, 0], key[m, 1], key[m, 2] = lowest[m], row.type, row.runs_from
        key[m, 3], key[m, 4], key[m, 5] = row.rented, images, row.released
    return int(spent), key


@kernel
def _reorder(s: State, order: IntArray, serial: IntArray) -> None:
    """Put the machines into this order, drop the others, and send tasks to the new rows."""
    left = order.shape[0]
    rank = np.full(serial.shape[0], -1, np.int64)
    before = s.machines.lease.copy()
    for i in range(left):
        rank[order[i]] = i
        s.machines.lease[i] = before[order[i]]
    for table in (s.machines.used, s.machines.contending, s.machines.images):
        table[:left] = table[order]
    serial[:left] = serial[order]
    for k in range(s.task.shape[0]):
        task = s.task[k]
        if task.sent_to >= 0:
            task.sent_to = rank[task.sent_to]
        if task.held_on >= 0:
            task.held_on = rank[task.held_on]
        s.target[k] = task.sent_to


@kernel
def _before(left: IntArray, right: IntArray) -> bool:
    for i in range(left.shape[0]):
        if left[i] != right[i]:
            return bool(left[i] < right[i])
    return False
