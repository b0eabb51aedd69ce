"""The simulator's rules, compiled: machines boot, tasks are launched, contend, progress and move, second by second.

The order of things at one second is that of the authors' simulator (Eva, section 5): delays that end, arrivals, the
plan, then jobs that end. A job that ends at the second of a plan is therefore still in that plan. Between two events
nothing changes, so the loop goes from event to event; an event costs O(tasks of unfinished jobs).
"""

from __future__ import annotations

from schedgap.instances.jit import kernel
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE, rate_beside
from schedgap.instances.reconfiguration.simulator.state import (
    ACTIVE,
    DONE,
    ENDED,
    FETCHING,
    KILLING,
    MIGRATING,
    QUEUED,
    RUNNING,
    STARTING,
    UNSEEN,
    UPLOADING,
    WAITING,
    State,
)
from schedgap.instances.units import NEVER


@kernel
def advance(s: State, until: int) -> None:
    """Let time pass up to the second `until`, then see the jobs that have arrived.

    Delays that end at `until` have ended; a job that ends then has not.
    """
    while True:
        t = _next_event(s, until)
        if t > until:
            break
        s.clock[0].now = max(t, s.clock[0].now)
        handle(s, s.clock[0].now, until)
    s.clock[0].now = until
    while s.clock[0].seen < s.given.arrival.shape[0] and s.given.arrival[s.clock[0].seen] <= until:
        j = s.clock[0].seen
        if s.job[j].phase == UNSEEN:
            s.job[j].phase = QUEUED
        s.active[s.clock[0].num_active] = j
        s.clock[0].num_active += 1
        s.clock[0].seen += 1


@kernel
def ends_at(s: State, j: int) -> int:
    """Return the second at which a job ends if nothing changes; far away if it does not progress."""
    rate, left = s.job[j].rate, s.given.work[j] - s.job[j].progress
    if left <= 0:
        return int(s.job[j].settled)
    if rate <= 0:
        return NEVER
    return int(s.job[j].settled + (left + rate - 1) // rate)


@kernel
def _next_event(s: State, until: int) -> int:
    soonest = NEVER
    for i in range(s.clock[0].num_active):
        j = s.active[i]
        end = ends_at(s, j)
        if end < until:
            soonest = min(soonest, end)
        phase = s.job[j].phase
        if phase == STARTING:
            soonest = min(soonest, s.job[j].ready)
        elif phase == MIGRATING:
            for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
                stage = s.task[k].stage
                if stage == WAITING:
                    runs_from = s.machines.lease[s.task[k].sent_to].runs_from
                    if runs_from > s.clock[0].now:
                        soonest = min(soonest, runs_from)
                elif stage != ACTIVE and s.task[k].due < end:
                    soonest = min(soonest, s.task[k].due)
    return soonest


@kernel
def handle(s: State, t: int, until: int) -> None:
    """Do all that happens at second t; jobs that end at `until` or later are not ended yet."""
    again = True
    while again:
        again = False
        ended = False
        for i in range(s.clock[0].num_active):
            j = s.active[i]
            end = ends_at(s, j)
            if end <= t:
                # At the second of a plan it ends after the plan, and is not stopped before.
                if end < until:
                    _finish(s, t, j)
                    ended = True
            elif s.job[j].phase == MIGRATING:
                again = _pass_stages(s, t, j) or again
            elif s.job[j].phase == STARTING and s.job[j].ready <= t:
                s.job[j].phase = RUNNING
                s.machines.dirty[s.task[s.given.first_task[j]].held_on] = 1
        if ended:
            _drop_done(s)
        # Whoever leaves a machine at this second has left before anybody takes its room.
        if not again:
            for i in range(s.clock[0].num_active):
                if s.job[s.active[i]].phase == MIGRATING:
                    again = _launch(s, t, s.active[i]) or again
    _update_rates(s, t)


@kernel
def _pass_stages(s: State, t: int, j: int) -> bool:
    """Move the tasks of a job whose delays have ended to their next stage; returns whether any did."""
    workload = s.given.class2workload[s.given.job2class[j]]
    passed = False
    for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
        stage = s.task[k].stage
        if stage in (WAITING, ACTIVE) or s.task[k].due > t:
            continue
        passed = True
        m = s.task[k].held_on
        if stage == KILLING:
            _settle(s, t, j)
            s.job[j].rate = 0
            s.machines.contending[m, workload] -= 1
            s.machines.dirty[m] = 1
            s.task[k].stage = UPLOADING
            s.task[k].due = t + s.given.delays[workload].upload
        elif stage == UPLOADING:
            _free(s, t, k, j)
            s.task[k].stage = WAITING
        else:
            s.machines.contending[m, workload] += 1
            s.machines.dirty[m] = 1
            s.task[k].stage = ACTIVE
    for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
        if s.task[k].stage != ACTIVE:
            return passed
    s.job[j].phase = STARTING
    s.job[j].ready = t + s.given.delays[workload].init
    return True


@kernel
def _launch(s: State, t: int, j: int) -> bool:
    """Launch the waiting tasks of a job whose machines run and have room, once all of its tasks have left."""
    first, last = s.given.first_task[j], s.given.first_task[j + 1]
    for k in range(first, last):
        if s.task[k].stage in (KILLING, UPLOADING):
            return False
    c = s.given.job2class[j]
    workload = s.given.class2workload[c]
    launched = False
    for k in range(first, last):
        m = s.task[k].sent_to
        if s.task[k].stage != WAITING or s.machines.lease[m].runs_from > t:
            continue
        machine_type = s.machines.lease[m].type
        demand = s.given.demand[s.given.type2family[machine_type], c]
        room = True
        for r in range(demand.shape[0]):
            room = room and s.machines.used[m, r] + demand[r] <= s.given.capacity[machine_type, r]
        if not room:
            continue
        _count(s, t, m)
        s.machines.used[m] += demand
        s.machines.lease[m].holds += 1
        s.task[k].held_on = m
        s.task[k].stage = FETCHING
        s.task[k].due = t + s.given.delays[workload].fetch
        if not s.machines.images[m, workload]:
            s.machines.images[m, workload] = 1
            s.task[k].due += s.given.delays[workload].build
        launched = True
    return launched


@kernel
def _finish(s: State, t: int, j: int) -> None:
    _settle(s, t, j)
    workload = s.given.class2workload[s.given.job2class[j]]
    for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
        m = s.task[k].held_on
        s.machines.contending[m, workload] -= 1
        s.machines.dirty[m] = 1
        s.task[k].stage = ENDED
        _free(s, t, k, j)
    s.job[j].phase = DONE
    s.job[j].finish = t
    s.job[j].rate = 0


@kernel
def _drop_done(s: State) -> None:
    left = 0
    for i in range(s.clock[0].num_active):
        if s.job[s.active[i]].phase != DONE:
            s.active[left] = s.active[i]
            left += 1
    s.clock[0].num_active = left


@kernel
def _free(s: State, t: int, k: int, j: int) -> None:
    m = s.task[k].held_on
    _count(s, t, m)
    s.machines.used[m] -= s.given.demand[s.given.type2family[s.machines.lease[m].type], s.given.job2class[j]]
    s.machines.lease[m].holds -= 1
    s.task[k].held_on = -1
    end_if_empty(s, t, m)


@kernel
def end_if_empty(s: State, t: int, m: int) -> None:
    """End a released machine that nobody is on any more."""
    row = s.machines.lease[m]
    if row.released < 0 or row.holds > 0 or row.paid_until >= 0:
        return
    row.paid_until = max(t + s.given.terminate, row.paid_from)


@kernel
def _count(s: State, t: int, m: int) -> None:
    """Add what the machine has held since it was last counted."""
    seconds = t - s.machines.lease[m].counted
    num_resources = s.machines.used.shape[1]
    for r in range(num_resources):
        s.machines.held[m, r] += float(s.machines.used[m, r]) * seconds
    s.machines.held[m, num_resources] += s.machines.lease[m].holds * seconds
    s.machines.lease[m].counted = t


@kernel
def _settle(s: State, t: int, j: int) -> None:
    """Add what the job has done since it was last settled."""
    seconds = t - s.job[j].settled
    s.job[j].progress += s.job[j].rate * seconds
    if s.job[j].rate > 0:
        s.job[j].executed += seconds
    s.job[j].settled = t


@kernel
def _update_rates(s: State, t: int) -> None:
    """Give every job on a machine where contention changed its new rate: that of its slowest task (section 4.4)."""
    for i in range(s.clock[0].num_active):
        j = s.active[i]
        first, last = s.given.first_task[j], s.given.first_task[j + 1]
        # A job that was running goes on while it is being stopped.
        stopping = s.job[j].phase == MIGRATING and s.task[first].stage == KILLING and s.job[j].ready <= t
        if s.job[j].phase != RUNNING and not stopping:
            continue
        touched = False
        for k in range(first, last):
            touched = touched or s.machines.dirty[s.task[k].held_on] == 1
        if not touched:
            continue
        _settle(s, t, j)
        workload = s.given.class2workload[s.given.job2class[j]]
        rate = RATE_ONE
        for k in range(first, last):
            rate = min(
                rate,
                rate_beside(s.given.throughput, s.given.stored, s.machines.contending[s.task[k].held_on], workload),
            )
        s.job[j].rate = rate
    for i in range(s.clock[0].num_live):
        s.machines.dirty[s.machines.live[i]] = 0
