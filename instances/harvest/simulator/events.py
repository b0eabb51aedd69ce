"""The rules of a pool of harvest VMs, compiled: runs end, VMs change, jobs arrive, and whoever decides places tasks.

At one moment, in this order: all runs that complete, all events of VMs (a VM that shrinks kills runs until the rest fits, and
their tasks wait again), all arrivals; then whoever decides looks at the pool if its epoch is due, and places waiting tasks.

A run costs O(log N) for its end, a change of a VM O(1) and what it kills, an arrival O(log64 T) a task.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.simulator.leases import add_waiting, end_lease, note, remove_waiting
from schedgap.instances.harvest.simulator.state import (
    DRAINING,
    FIXED,
    GREW,
    IS_DONE,
    LEASED,
    NOBODY,
    NOT_LEASED,
    RUNS_NOW,
    SHRANK,
    WAITS,
    State,
)
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import heap_pop, heap_push
from schedgap.instances.kernels.random_numbers import mixed
from schedgap.instances.units import NEVER

# What `advance` returns. GROW: nothing happened, since there may be too little room for what comes. EPOCH: something happened,
# or not, and the pool is to be looked at.
GROW, OVER, HAPPENED, EPOCH = -1, 0, 1, 2
# No run is taken to end earlier than in a second.
OVERDUE_MS = 1000
# If nothing but epochs and wakes are to come, and nothing else has happened for two days, nothing will.
LONGEST_IDLE_MS = 2 * 86_400_000


@lean_kernel
def advance(s: State) -> int:
    """Go to the next moment at which something happens, and let everything happen there that nobody decides.

    Returns HAPPENED, EPOCH, OVER if all tasks are complete or nothing will happen any more, or GROW.
    """
    clock = s.clock[0]
    if clock.done == s.tasks.shape[0]:
        return OVER
    if s.runs.shape[0] - clock.runs < s.rules.copies * (s.tasks.shape[0] - clock.done):
        return GROW
    if s.leases.shape[0] - clock.leases < s.rules.max_leases:
        return GROW
    if clock.epoch <= clock.now:
        clock.epoch += s.rules.epoch_ms
    while clock.ends > 0 and s.runs[s.ends[0].run].is_live == 0:
        _pop_end(s)
    t = s.ends[0].ms if clock.ends > 0 else NEVER
    if clock.next_event < s.events.shape[0]:
        t = min(t, s.events[clock.next_event].ms)
    t = min(t, s.jobs[clock.next_job].arrival)
    alarm = clock.epoch
    if clock.wake > clock.now:
        alarm = min(alarm, clock.wake)
    if t == NEVER and alarm > clock.last_event + LONGEST_IDLE_MS:
        return OVER
    if t <= alarm:
        clock.last_event = t
    clock.now = min(t, alarm)
    _take_ends(s)
    _take_events(s)
    _take_arrivals(s)
    return EPOCH if clock.epoch == clock.now else HAPPENED


@lean_kernel
def fits(s: State, task: int, vm: int) -> bool:
    """Return whether a VM takes new tasks and has room for a task now."""
    job = s.tasks[task].job
    return has_room(s, vm, s.jobs[job].cores, s.jobs[job].memory)


@inner_kernel
def has_room(s: State, vm: int, cores: int, memory: int) -> bool:
    """Return whether a VM takes new tasks and has so many free cores and so much free memory."""
    if s.vms[vm].lease != LEASED or s.vms[vm].cores - s.vms[vm].used < cores:
        return False
    return bool(s.vms[vm].cores > 0 and s.vms[vm].memory - s.vms[vm].used_memory >= memory)


@inner_kernel
def work_left(s: State, task: int) -> int:
    """Return the ms of work that are left of a task by its estimate, at least 1."""
    return int(max(s.tasks[task].estimate - s.tasks[task].saved, 1))


@inner_kernel
def lasts_ms(s: State, task: int, work: int, every: int) -> int:
    """Return how long a run of a task takes for so much work with checkpoints after `every` ms of work, or none if 0."""
    job = s.tasks[task].job
    total = work
    if s.tasks[task].saved > 0:
        total += s.jobs[job].restore
    if every > 0:
        total += ((work + every - 1) // every - 1) * s.jobs[job].checkpoint
    return int(total)


@lean_kernel
def place(s: State, task: int, vm: int, every: int) -> int:
    """Start a run of a task on a VM that it fits on, now, and return the run; `every` as `lasts_ms` has it."""
    now, job, run = s.clock[0].now, s.tasks[task].job, s.clock[0].runs
    note(s, vm)
    s.clock[0].runs += 1
    s.clock[0].running += 1
    if s.tasks[task].stage == WAITS:
        remove_waiting(s, task)
        s.tasks[task].stage = RUNS_NOW
    s.tasks[task].live += 1
    s.vms[vm].used += s.jobs[job].cores
    s.vms[vm].used_memory += s.jobs[job].memory
    s.runs[run].task, s.runs[run].vm, s.runs[run].start, s.runs[run].every = task, vm, now, every
    s.runs[run].end = now + lasts_ms(s, task, s.tasks[task].runtime - s.tasks[task].saved, every)
    s.runs[run].guess = now + lasts_ms(s, task, work_left(s, task), every)
    s.runs[run].previous, s.tasks[task].last_run = s.tasks[task].last_run, run
    s.runs[run].is_live = 1
    last = s.vms[vm].newest
    s.runs[run].before, s.runs[run].after, s.vms[vm].newest = last, NOBODY, run
    if last == NOBODY:
        s.vms[vm].oldest = run
    else:
        s.runs[last].after = run
    heap_push(s.ends.ms, s.ends.run, s.clock[0].ends, s.runs[run].end, run)
    s.clock[0].ends += 1
    return int(run)


@lean_kernel
def stop(s: State, run: int) -> None:
    """End a run that has not ended, now and later than it began; its task waits again unless another run of it goes on."""
    task = s.runs[run].task
    every = s.runs[run].every
    if every > 0:
        job = s.tasks[task].job
        worked = s.clock[0].now - s.runs[run].start
        if s.tasks[task].saved > 0:
            worked -= s.jobs[job].restore
        if worked > 0:
            s.tasks[task].saved += worked // (every + s.jobs[job].checkpoint) * every
    _leave(s, run)
    if s.tasks[task].live == 0 and s.tasks[task].stage == RUNS_NOW:
        s.tasks[task].stage = WAITS
        add_waiting(s, task)


@inner_kernel
def _leave(s: State, run: int) -> None:
    """End a run now: it holds nothing any more, and a draining VM that it leaves empty is released."""
    task, vm = s.runs[run].task, s.runs[run].vm
    job = s.tasks[task].job
    note(s, vm)
    s.runs[run].is_live = 0
    s.runs[run].end = s.clock[0].now
    s.clock[0].running -= 1
    s.tasks[task].live -= 1
    s.vms[vm].used -= s.jobs[job].cores
    s.vms[vm].used_memory -= s.jobs[job].memory
    before, after = s.runs[run].before, s.runs[run].after
    if before == NOBODY:
        s.vms[vm].oldest = after
    else:
        s.runs[before].after = after
    if after == NOBODY:
        s.vms[vm].newest = before
    else:
        s.runs[after].before = before
    if s.vms[vm].lease == DRAINING and s.vms[vm].oldest == NOBODY:
        end_lease(s, vm)


@inner_kernel
def _pop_end(s: State) -> int:
    run = s.ends[0].run
    heap_pop(s.ends.ms, s.ends.run, s.clock[0].ends)
    s.clock[0].ends -= 1
    return int(run)


@inner_kernel
def _take_ends(s: State) -> None:
    while s.clock[0].ends > 0 and s.ends[0].ms == s.clock[0].now:
        run = _pop_end(s)
        if s.runs[run].is_live == 0:
            continue
        task = s.runs[run].task
        s.tasks[task].stage = IS_DONE
        s.clock[0].done += 1
        _leave(s, run)
        other = s.tasks[task].last_run
        while s.tasks[task].live > 0:
            if s.runs[other].is_live == 1:
                stop(s, other)
            other = s.runs[other].previous


@inner_kernel
def _take_events(s: State) -> None:
    clock = s.clock[0]
    while clock.next_event < s.events.shape[0] and s.events[clock.next_event].ms == clock.now:
        vm, cores = s.events[clock.next_event].vm, s.events[clock.next_event].cores
        clock.next_event += 1
        clock.past = mixed(mixed(mixed(clock.past ^ np.uint64(clock.now)) ^ np.uint64(vm)) ^ np.uint64(cores))
        s.vms[vm].up = cores
        if s.vms[vm].lease != NOT_LEASED:
            _resize(s, vm, cores)


@inner_kernel
def _resize(s: State, vm: int, cores: int) -> None:
    """Give a leased VM another size; it kills runs until the rest fits."""
    note(s, vm)
    clock, old = s.clock[0], s.vms[vm].cores
    direction = GREW if cores > old else SHRANK
    # A VM that comes to be is new: what it was before is forgotten.
    if old > 0:
        change = clock.changes
        clock.changes += 1
        s.log[change].ms, s.log[change].vm, s.log[change].gap = clock.now, vm, clock.now - s.vms[vm].changed
        s.log[change].before, s.log[change].after = s.vms[vm].direction, direction
        s.log[change].cores = abs(cores - old)
    s.vms[vm].cores, s.vms[vm].changed, s.vms[vm].direction = cores, clock.now, direction
    while s.vms[vm].used > cores:
        run = s.vms[vm].newest if s.rules.newest_first else s.vms[vm].oldest
        s.tasks[s.runs[run].task].kills += 1
        stop(s, run)
    if cores == 0 and s.rules.allocation != FIXED and s.vms[vm].lease != NOT_LEASED:
        end_lease(s, vm)


@inner_kernel
def _take_arrivals(s: State) -> None:
    clock = s.clock[0]
    while s.jobs[clock.next_job].arrival == clock.now:
        job = clock.next_job
        clock.next_job += 1
        for task in range(s.jobs[job].first_task, s.jobs[job + 1].first_task):
            s.tasks[task].stage = WAITS
            add_waiting(s, task)
