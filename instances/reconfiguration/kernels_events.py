"""The cloud's rules, compiled: machines boot, tasks are launched, contend, progress and move, second by second.

The order of things at one second is that of the authors' simulator (Eva, section 5): delays that end, arrivals, the
plan, then jobs that end. A job that ends at the second of a plan is therefore still in that plan. Between two events
nothing changes, so the loop goes from event to event; an event costs O(tasks of unfinished jobs).
"""

from __future__ import annotations

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.kernels_rates import RATE_ONE, rate_beside
from schedgap.instances.reconfiguration.kernels_state import (
    ACTIVE,
    COUNTED,
    DONE,
    DUE,
    ENDED,
    EXECUTED,
    FETCHING,
    FINISH,
    HELD_ON,
    HOLDS,
    KILLING,
    MIGRATING,
    NEVER,
    NOW,
    NUM_ACTIVE,
    NUM_LIVE,
    PAID_FROM,
    PAID_UNTIL,
    PHASE,
    PROGRESS,
    QUEUED,
    RATE,
    READY,
    RELEASED,
    RUNNING,
    RUNS_FROM,
    SEEN,
    SENT_TO,
    SETTLED,
    STAGE,
    STARTING,
    TYPE,
    UPLOADING,
    WAITING,
    State,
)


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
        handle(s, s.clock[NOW], until)
    s.clock[NOW] = until
    while s.clock[SEEN] < s.arrival.shape[0] and s.arrival[s.clock[SEEN]] <= until:
        j = s.clock[SEEN]
        s.job[j, PHASE] = QUEUED
        s.active[s.clock[NUM_ACTIVE]] = j
        s.clock[NUM_ACTIVE] += 1
        s.clock[SEEN] += 1


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
def handle(s: State, t: int, until: int) -> None:
    """Do all that happens at second t; jobs that end at `until` or later are not ended yet."""
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
    end_if_empty(s, t, m)


@kernel
def end_if_empty(s: State, t: int, m: int) -> None:
    """End a released machine that nobody is on any more."""
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
        s.held[m, r] += float(s.used[m, r]) * seconds
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
