"""The cloud's rules, compiled: machines boot, tasks are launched, contend, progress and move, second by second.

The order of things at one second is that of the authors' simulator (Eva, section 5): delays that end, arrivals, the
plan, then jobs that end. A job that ends at the second of a plan is therefore still in that plan. Between two events
nothing changes, so the loop goes from event to event; an event costs O(tasks of unfinished jobs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.kernels_rates import RATE_ONE as RATE_ONE
from schedgap.instances.reconfiguration.kernels_rates import rate_beside

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

NEVER = 1 << 60

# Stages of a task, and columns of `State.task`. A machine's slot is held from FETCHING until UPLOADING ends.
UNPLANNED, KILLING, UPLOADING, WAITING, FETCHING, ACTIVE, ENDED = 0, 1, 2, 3, 4, 5, 6
STAGE, DUE, SENT_TO, HELD_ON = 0, 1, 2, 3
TASK_COLUMNS = 4

# Phases of a job, and columns of `State.job`.
UNSEEN, QUEUED, MIGRATING, STARTING, RUNNING, DONE = 0, 1, 2, 3, 4, 5
PHASE, READY, PROGRESS, RATE, SETTLED, FINISH, EXECUTED, MOVES = 0, 1, 2, 3, 4, 5, 6, 7
JOB_COLUMNS = 8

# Columns of `State.machine`; -1 where it has not happened yet.
TYPE, RENTED, PAID_FROM, RUNS_FROM, RELEASED, PAID_UNTIL, HOLDS, COUNTED = 0, 1, 2, 3, 4, 5, 6, 7
MACHINE_COLUMNS = 8

# Entries of `State.clock`.
NOW, SEEN, NUM_ACTIVE, NUM_MACHINES, NUM_LIVE = 0, 1, 2, 3, 4
CLOCK_ENTRIES = 5

# What may be wrong with a plan: status of `apply_plan`; `State.wrong` then holds (task or machine, machine, resource).
FINE, NO_MACHINE, NOT_RENTED, MIGRATES, NOT_ALLOWED, OVERFULL = 0, -1, -2, -3, -4, -5


class State(NamedTuple):
    """Everything that the rules need. First what is given, then what changes.

    demand : (F, C, R). type2family, acquire, setup : (K,). capacity : (K, R). throughput : (W, W) thousandths.
    stored : see `rate_beside`. class2workload : (C,). delays : (W, 5), fetch, build, kill, upload, init.
    arrival, job2class : (J,). work : (J,), billionths of a second. first_task : (J + 1,). terminate : (1,).
    clock : NOW, jobs SEEN, NUM_ACTIVE, NUM_MACHINES, NUM_LIVE. task : (T, 4). job : (J, 8). active : (J,), the seen and
    unfinished jobs. target : (T,), where a plan sends a task. machine : (M, 8). used : (M, R), of held slots.
    contending : (M, W), tasks that contend. images : (M, W), whether the workload's image was built there.
    held : (M, R + 1), used resources and slots, summed over seconds. live : (M,), machines still paid at the last plan.
    dirty, planned : (M,), (M, R) work space. wrong : (3,).
    """

    demand: IntArray
    type2family: IntArray
    acquire: IntArray
    setup: IntArray
    capacity: IntArray
    throughput: IntArray
    stored: IntArray
    class2workload: IntArray
    delays: IntArray
    arrival: IntArray
    work: IntArray
    job2class: IntArray
    first_task: IntArray
    terminate: IntArray
    clock: IntArray
    task: IntArray
    job: IntArray
    active: IntArray
    target: IntArray
    machine: IntArray
    used: IntArray
    contending: IntArray
    images: IntArray
    held: IntArray
    live: IntArray
    dirty: IntArray
    planned: IntArray
    wrong: IntArray


@kernel
def advance(s: State, until: int) -> None:
    """Let time pass up to the second `until`, then see the jobs that have arrived.

    Delays that end at `until` have ended; a job that ends then has not.
    """
    while True:
        t = _next_event(s, until)
        if t > until:
            break
        s.clock[NOW] = max(t, s.clock[NOW])
        _handle(s, s.clock[NOW], until)
    s.clock[NOW] = until
    while s.clock[SEEN] < s.arrival.shape[0] and s.arrival[s.clock[SEEN]] <= until:
        j = s.clock[SEEN]
        s.job[j, PHASE] = QUEUED
        s.active[s.clock[NUM_ACTIVE]] = j
        s.clock[NUM_ACTIVE] += 1
        s.clock[SEEN] += 1


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
        _end_if_empty(s, t, m)


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
    _handle(s, t, t)
    return FINE


@kernel
def ends_at(s: State, j: int) -> int:
    """Return the second at which a job ends if nothing changes; far away if it does not progress."""
    rate, left = s.job[j, RATE], s.work[j] - s.job[j, PROGRESS]
    if left <= 0:
        return int(s.job[j, SETTLED])
    if rate <= 0:
        return NEVER
    return int(s.job[j, SETTLED] + (left + rate - 1) // rate)


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


@kernel
def _next_event(s: State, until: int) -> int:
    soonest = NEVER
    for i in range(s.clock[NUM_ACTIVE]):
        j = s.active[i]
        end = ends_at(s, j)
        if end < until:
            soonest = min(soonest, end)
        phase = s.job[j, PHASE]
        if phase == STARTING:
            soonest = min(soonest, s.job[j, READY])
        elif phase == MIGRATING:
            for k in range(s.first_task[j], s.first_task[j + 1]):
                stage = s.task[k, STAGE]
                if stage == WAITING:
                    runs_from = s.machine[s.task[k, SENT_TO], RUNS_FROM]
                    if runs_from > s.clock[NOW]:
                        soonest = min(soonest, runs_from)
                elif stage != ACTIVE and s.task[k, DUE] < end:
                    soonest = min(soonest, s.task[k, DUE])
    return soonest


@kernel
def _handle(s: State, t: int, until: int) -> None:
    again = True
    while again:
        again = False
        ended = False
        for i in range(s.clock[NUM_ACTIVE]):
            j = s.active[i]
            end = ends_at(s, j)
            if end <= t:
                # At the second of a plan it ends after the plan, and is not stopped before.
                if end < until:
                    _finish(s, t, j)
                    ended = True
            elif s.job[j, PHASE] == MIGRATING:
                again = _pass_stages(s, t, j) or again
            elif s.job[j, PHASE] == STARTING and s.job[j, READY] <= t:
                s.job[j, PHASE] = RUNNING
                s.dirty[s.task[s.first_task[j], HELD_ON]] = 1
        if ended:
            _drop_done(s)
        # Whoever leaves a machine at this second has left before anybody takes its room.
        if not again:
            for i in range(s.clock[NUM_ACTIVE]):
                if s.job[s.active[i], PHASE] == MIGRATING:
                    again = _launch(s, t, s.active[i]) or again
    _update_rates(s, t)


@kernel
def _pass_stages(s: State, t: int, j: int) -> bool:
    """Move the tasks of a job whose delays have ended to their next stage; returns whether any did."""
    workload = s.class2workload[s.job2class[j]]
    passed = False
    for k in range(s.first_task[j], s.first_task[j + 1]):
        stage = s.task[k, STAGE]
        if stage in (WAITING, ACTIVE) or s.task[k, DUE] > t:
            continue
        passed = True
        m = s.task[k, HELD_ON]
        if stage == KILLING:
            _settle(s, t, j)
            s.job[j, RATE] = 0
            s.contending[m, workload] -= 1
            s.dirty[m] = 1
            s.task[k, STAGE] = UPLOADING
            s.task[k, DUE] = t + s.delays[workload, 3]
        elif stage == UPLOADING:
            _free(s, t, k, j)
            s.task[k, STAGE] = WAITING
        else:
            s.contending[m, workload] += 1
            s.dirty[m] = 1
            s.task[k, STAGE] = ACTIVE
    for k in range(s.first_task[j], s.first_task[j + 1]):
        if s.task[k, STAGE] != ACTIVE:
            return passed
    s.job[j, PHASE] = STARTING
    s.job[j, READY] = t + s.delays[workload, 4]
    return True


@kernel
def _launch(s: State, t: int, j: int) -> bool:
    """Launch the waiting tasks of a job whose machines run and have room, once all of its tasks have left."""
    first, last = s.first_task[j], s.first_task[j + 1]
    for k in range(first, last):
        if s.task[k, STAGE] in (KILLING, UPLOADING):
            return False
    c = s.job2class[j]
    workload = s.class2workload[c]
    launched = False
    for k in range(first, last):
        m = s.task[k, SENT_TO]
        if s.task[k, STAGE] != WAITING or s.machine[m, RUNS_FROM] > t:
            continue
        machine_type = s.machine[m, TYPE]
        demand = s.demand[s.type2family[machine_type], c]
        room = True
        for r in range(demand.shape[0]):
            room = room and s.used[m, r] + demand[r] <= s.capacity[machine_type, r]
        if not room:
            continue
        _count(s, t, m)
        s.used[m] += demand
        s.machine[m, HOLDS] += 1
        s.task[k, HELD_ON] = m
        s.task[k, STAGE] = FETCHING
        s.task[k, DUE] = t + s.delays[workload, 0]
        if not s.images[m, workload]:
            s.images[m, workload] = 1
            s.task[k, DUE] += s.delays[workload, 1]
        launched = True
    return launched


@kernel
def _finish(s: State, t: int, j: int) -> None:
    _settle(s, t, j)
    workload = s.class2workload[s.job2class[j]]
    for k in range(s.first_task[j], s.first_task[j + 1]):
        m = s.task[k, HELD_ON]
        s.contending[m, workload] -= 1
        s.dirty[m] = 1
        s.task[k, STAGE] = ENDED
        _free(s, t, k, j)
    s.job[j, PHASE] = DONE
    s.job[j, FINISH] = t
    s.job[j, RATE] = 0


@kernel
def _drop_done(s: State) -> None:
    left = 0
    for i in range(s.clock[NUM_ACTIVE]):
        if s.job[s.active[i], PHASE] != DONE:
            s.active[left] = s.active[i]
            left += 1
    s.clock[NUM_ACTIVE] = left


@kernel
def _free(s: State, t: int, k: int, j: int) -> None:
    m = s.task[k, HELD_ON]
    _count(s, t, m)
    s.used[m] -= s.demand[s.type2family[s.machine[m, TYPE]], s.job2class[j]]
    s.machine[m, HOLDS] -= 1
    s.task[k, HELD_ON] = -1
    _end_if_empty(s, t, m)


@kernel
def _end_if_empty(s: State, t: int, m: int) -> None:
    row = s.machine[m]
    if row[RELEASED] < 0 or row[HOLDS] > 0 or row[PAID_UNTIL] >= 0:
        return
    row[PAID_UNTIL] = max(t + s.terminate[0], row[PAID_FROM])


@kernel
def _count(s: State, t: int, m: int) -> None:
    """Add what the machine has held since it was last counted."""
    seconds = t - s.machine[m, COUNTED]
    num_resources = s.used.shape[1]
    for r in range(num_resources):
        s.held[m, r] += s.used[m, r] * seconds
    s.held[m, num_resources] += s.machine[m, HOLDS] * seconds
    s.machine[m, COUNTED] = t


@kernel
def _settle(s: State, t: int, j: int) -> None:
    """Add what the job has done since it was last settled."""
    seconds = t - s.job[j, SETTLED]
    s.job[j, PROGRESS] += s.job[j, RATE] * seconds
    if s.job[j, RATE] > 0:
        s.job[j, EXECUTED] += seconds
    s.job[j, SETTLED] = t


@kernel
def _update_rates(s: State, t: int) -> None:
    """Give every job on a machine where contention changed its new rate: that of its slowest task (section 4.4)."""
    for i in range(s.clock[NUM_ACTIVE]):
        j = s.active[i]
        first, last = s.first_task[j], s.first_task[j + 1]
        # A job that was running goes on while it is being stopped.
        stopping = s.job[j, PHASE] == MIGRATING and s.task[first, STAGE] == KILLING and s.job[j, READY] <= t
        if s.job[j, PHASE] != RUNNING and not stopping:
            continue
        touched = False
        for k in range(first, last):
            touched = touched or s.dirty[s.task[k, HELD_ON]] == 1
        if not touched:
            continue
        _settle(s, t, j)
        workload = s.class2workload[s.job2class[j]]
        rate = RATE_ONE
        for k in range(first, last):
            rate = min(rate, rate_beside(s.throughput, s.stored, s.contending[s.task[k, HELD_ON]], workload))
        s.job[j, RATE] = rate
    for i in range(s.clock[NUM_LIVE]):
        s.dirty[s.live[i]] = 0
