"""Plans, compiled: machines are rented and released, tasks are sent; one by one, or a whole schedule at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.kernels_events import advance, end_if_empty, ends_at, handle
from schedgap.instances.reconfiguration.kernels_state import (
    COUNTED,
    DUE,
    FINE,
    HOLDS,
    KILLING,
    MIGRATES,
    MIGRATING,
    MOVES,
    NEVER,
    NO_MACHINE,
    NOT_ALLOWED,
    NOT_RENTED,
    NOW,
    NUM_ACTIVE,
    NUM_LIVE,
    NUM_MACHINES,
    OVERFULL,
    PAID_FROM,
    PAID_UNTIL,
    PHASE,
    QUEUED,
    READY,
    RELEASED,
    RENTED,
    RUNNING,
    RUNS_FROM,
    SEEN,
    SENT_TO,
    STAGE,
    TYPE,
    WAITING,
    State,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@kernel
def rent(s: State, t: int, machine_type: int) -> int:
    """Order a machine at second t and return its number; `State.machine` must have a row left."""
    m = s.clock[NUM_MACHINES]
    s.clock[NUM_MACHINES] += 1
    paid_from = t + s.acquire[machine_type]
    row = s.machine[m]
    row[TYPE], row[RENTED], row[PAID_FROM], row[RUNS_FROM] = (
        machine_type,
        t,
        paid_from,
        paid_from + s.setup[machine_type],
    )
    row[RELEASED], row[PAID_UNTIL], row[HOLDS], row[COUNTED] = -1, -1, 0, t
    s.live[s.clock[NUM_LIVE]] = m
    s.clock[NUM_LIVE] += 1
    return int(m)


@kernel
def release(s: State, t: int, m: int) -> None:
    """Take a machine out of the plan at second t; it is paid until the last task has left it."""
    if s.machine[m, RELEASED] < 0:
        s.machine[m, RELEASED] = t
        end_if_empty(s, t, m)


@kernel
def apply_plan(s: State, t: int) -> int:
    """Send every seen and unfinished task to `target[task]`; machines are rented and released already.

    Returns FINE, or what is wrong, with `State.wrong` filled and nothing sent. If any task of a job changes its
    machine, all of its tasks are stopped and launched anew. Jobs that end at this very second stay as they are.
    """
    status = _checked(s, t)
    if status != FINE:
        return status
    for i in range(s.clock[NUM_ACTIVE]):
        j = s.active[i]
        first, last = s.first_task[j], s.first_task[j + 1]
        if ends_at(s, j) <= t:
            continue
        moved = False
        for k in range(first, last):
            moved = moved or s.target[k] != s.task[k, SENT_TO]
        if not moved:
            continue
        queued = s.job[j, PHASE] == QUEUED
        for k in range(first, last):
            s.task[k, SENT_TO] = s.target[k]
            s.task[k, STAGE] = WAITING if queued else KILLING
            s.task[k, DUE] = t + s.delays[s.class2workload[s.job2class[j]], 2]
        if s.job[j, PHASE] != RUNNING:
            s.job[j, READY] = NEVER
        s.job[j, PHASE] = MIGRATING
        if not queued:
            s.job[j, MOVES] += 1
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
    """Play a schedule's decisions, plan by plan; `State.machine` must have a row for each machine.

    Returns FINE once every job has ended, or what is wrong with the plan of the second `clock[NOW]`.
    """
    next_rented, next_released, next_move = 0, 0, 0
    num_machines, num_moves, num_jobs = machine_type.shape[0], move_task.shape[0], s.arrival.shape[0]
    s.target[:] = -1
    while True:
        t = NEVER
        if next_rented < num_machines:
            t = min(t, rented[next_rented])
        if next_released < num_machines:
            t = min(t, released[release_order[next_released]])
        if next_move < num_moves:
            t = min(t, move_at[next_move])
        if s.clock[SEEN] < num_jobs:
            # The first plan after the next arrival, which must hold the job.
            t = min(t, (s.arrival[s.clock[SEEN]] + period - 1) // period * period)
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
    advance(s, s.clock[NOW] + 1)
    return FINE


@kernel
def _checked(s: State, t: int) -> int:
    num_resources = s.capacity.shape[1]
    # Once a plan and not once a machine: a schedule may rent a million.
    live = 0
    for i in range(s.clock[NUM_LIVE]):
        m = s.live[i]
        if s.machine[m, PAID_UNTIL] < 0:
            s.planned[m] = 0
            s.live[live] = m
            live += 1
    s.clock[NUM_LIVE] = live
    for i in range(s.clock[NUM_ACTIVE]):
        j = s.active[i]
        if ends_at(s, j) <= t:
            continue
        c = s.job2class[j]
        frozen = s.job[j, PHASE] == MIGRATING
        for k in range(s.first_task[j], s.first_task[j + 1]):
            m = s.target[k]
            s.wrong[0], s.wrong[1] = k, m
            if m < 0 or m >= s.clock[NUM_MACHINES]:
                return NO_MACHINE
            if s.machine[m, RELEASED] >= 0:
                return NOT_RENTED
            if frozen and m != s.task[k, SENT_TO]:
                return MIGRATES
            machine_type = s.machine[m, TYPE]
            demand = s.demand[s.type2family[machine_type], c]
            for r in range(num_resources):
                if demand[r] < 0:
                    return NOT_ALLOWED
                s.planned[m, r] += demand[r]
                if s.planned[m, r] > s.capacity[machine_type, r]:
                    s.wrong[2] = r
                    return OVERFULL
    return FINE
