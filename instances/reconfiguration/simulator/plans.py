"""Plans, compiled: machines are rented and released, tasks are sent; one by one, or a whole schedule at once."""

from __future__ import annotations

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.simulator.events import advance, end_if_empty, ends_at, handle
from schedgap.instances.reconfiguration.simulator.state import (
    ACTIVE,
    FINE,
    KILLING,
    MIGRATES,
    MIGRATING,
    NO_MACHINE,
    NO_STOCK,
    NOT_ALLOWED,
    NOT_RENTED,
    OVERFULL,
    QUEUED,
    RUNNING,
    WAITING,
    State,
)
from schedgap.instances.units import NEVER


@kernel
def rent(s: State, t: int, machine_type: int) -> int:
    """Order a machine at second t and return its number; `Machines` must have a row left."""
    m = s.clock[0].num_machines
    s.clock[0].num_machines += 1
    paid_from = t + s.given.acquire[machine_type]
    row = s.machines.lease[m]
    row.type, row.rented, row.paid_from = machine_type, t, paid_from
    row.runs_from = paid_from + s.given.setup[machine_type]
    row.released, row.paid_until, row.holds, row.counted = -1, -1, 0, t
    s.machines.live[s.clock[0].num_live] = m
    s.clock[0].num_live += 1
    return int(m)


@kernel
def start(s: State, machine_type: IntArray, task2machine: IntArray) -> None:
    """Begin at second 0 with machines that run, and tasks that progress on them; sees the jobs of that second.

    machine_type : (E,). task2machine : (T,), -1 for none.
    """
    for e in range(machine_type.shape[0]):
        row = s.machines.lease[rent(s, 0, machine_type[e])]
        row.paid_from = row.runs_from = 0
    for j in range(s.given.arrival.shape[0]):
        c = s.given.job2class[j]
        workload = s.given.class2workload[c]
        for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
            m = task2machine[k]
            if m < 0:
                break
            s.job[j].phase = RUNNING
            task = s.task[k]
            task.stage, task.sent_to, task.held_on = ACTIVE, m, m
            s.target[k] = m
            s.machines.used[m] += s.given.demand[s.given.type2family[machine_type[m]], c]
            s.machines.lease[m].holds += 1
            s.machines.contending[m, workload] += 1
            s.machines.images[m, workload] = s.machines.dirty[m] = 1
    advance(s, 0)
    # They get their rates.
    handle(s, 0, 0)


@kernel
def release(s: State, t: int, m: int) -> None:
    """Take a machine out of the plan at second t; it is paid until the last task has left it."""
    if s.machines.lease[m].released < 0:
        s.machines.lease[m].released = t
        end_if_empty(s, t, m)


@kernel
def stock_left(s: State, t: int) -> IntArray:
    """(K,) int64: how many more machines of each type can be had at second t; (0,) where there are no stocks.

    A machine counts from its order until it is paid no more. O(K + machines that were live at the last plan or are new).
    """
    left = s.given.stock.copy()
    for i in range(s.clock[0].num_live if left.shape[0] else 0):
        row = s.machines.lease[s.machines.live[i]]
        left[row.type] -= row.paid_until < 0 or row.paid_until > t
    return left


@kernel
def apply_plan(s: State, t: int) -> int:
    """Send every seen and unfinished task to `target[task]`; machines are rented and released already.

    Returns FINE, or what is wrong, with `State.wrong` filled and nothing sent. If any task of a job changes its
    machine, all of its tasks are stopped and launched anew. Jobs that end at this very second stay as they are.
    """
    status = _checked(s, t)
    if status != FINE:
        return status
    for i in range(s.clock[0].num_active):
        j = s.active[i]
        first, last = s.given.first_task[j], s.given.first_task[j + 1]
        if ends_at(s, j) <= t:
            continue
        moved = False
        for k in range(first, last):
            moved = moved or s.target[k] != s.task[k].sent_to
        if not moved:
            continue
        queued = s.job[j].phase == QUEUED
        for k in range(first, last):
            s.task[k].sent_to = s.target[k]
            s.task[k].stage = WAITING if queued else KILLING
            s.task[k].due = t + s.given.delays[s.given.class2workload[s.given.job2class[j]]].kill
        if s.job[j].phase != RUNNING:
            s.job[j].ready = NEVER
        s.job[j].phase = MIGRATING
        if not queued:
            s.job[j].moves += 1
    # Room on running machines is taken at once.
    handle(s, t, t)
    return FINE


@kernel
def replay(
    s: State,
    machine_type: IntArray,
    rented: IntArray,
    released: IntArray,
    release_order: IntArray,
    move_at: IntArray,
    move_task: IntArray,
    move_machine: IntArray,
    period: int,
) -> int:
    """Play a schedule's decisions, plan by plan; `Machines` must have a row for each machine.

    Its first machines are those that the state begins with, if any: then there is a plan at second 0.
    Returns FINE once every job has ended, or what is wrong with the plan of the second `clock[0].now`.
    """
    next_rented, next_released, next_move = s.clock[0].num_machines, 0, 0
    begins = next_rented > 0
    num_machines, num_moves, num_jobs = machine_type.shape[0], move_task.shape[0], s.given.arrival.shape[0]
    while True:
        t = NEVER
        if next_rented < num_machines:
            t = min(t, rented[next_rented])
        if next_released < num_machines:
            t = min(t, released[release_order[next_released]])
        if next_move < num_moves:
            t = min(t, move_at[next_move])
        if s.clock[0].seen < num_jobs:
            # The first plan after the next arrival, which must hold the job.
            t = min(t, (s.given.arrival[s.clock[0].seen] + period - 1) // period * period)
        if begins:
            t, begins = 0, False
        if t >= NEVER:
            break
        advance(s, t)
        while next_rented < num_machines and rented[next_rented] == t:
            rent(s, t, machine_type[next_rented])
            next_rented += 1
        while next_released < num_machines and released[release_order[next_released]] == t:
            release(s, t, release_order[next_released])
            next_released += 1
        while next_move < num_moves and move_at[next_move] == t:
            s.target[move_task[next_move]] = move_machine[next_move]
            next_move += 1
        status = apply_plan(s, t)
        if status != FINE:
            return status
    # Every machine has been released, so the last plan was refused unless all jobs ended by then.
    advance(s, s.clock[0].now + 1)
    return FINE


@kernel
def _checked(s: State, t: int) -> int:
    num_resources = s.given.capacity.shape[1]
    # Once a plan and not once a machine: a schedule may rent a million.
    live = 0
    for i in range(s.clock[0].num_live):
        m = s.machines.live[i]
        if s.machines.lease[m].paid_until < 0 or s.machines.lease[m].paid_until > t:
            s.machines.planned[m] = 0
            s.machines.live[live] = m
            live += 1
    s.clock[0].num_live = live
    left = stock_left(s, t)
    for k in range(left.shape[0]):
        if left[k] < 0:
            s.wrong[0].type = k
            return NO_STOCK
    for i in range(s.clock[0].num_active):
        j = s.active[i]
        if ends_at(s, j) <= t:
            continue
        c = s.given.job2class[j]
        frozen = s.job[j].phase == MIGRATING
        for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
            m = s.target[k]
            s.wrong[0].task, s.wrong[0].machine = k, m
            if m < 0 or m >= s.clock[0].num_machines:
                return NO_MACHINE
            if s.machines.lease[m].released >= 0:
                return NOT_RENTED
            if frozen and m != s.task[k].sent_to:
                return MIGRATES
            machine_type = s.machines.lease[m].type
            demand = s.given.demand[s.given.type2family[machine_type], c]
            for r in range(num_resources):
                if demand[r] < 0:
                    return NOT_ALLOWED
                s.machines.planned[m, r] += demand[r]
                if s.machines.planned[m, r] > s.given.capacity[machine_type, r]:
                    s.wrong[0].resource = r
                    return OVERFULL
    return FINE
