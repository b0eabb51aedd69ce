"""The rules of a pool of harvest VMs, compiled: runs end, VMs change, jobs arrive, and whoever decides places tasks.

At one moment, in this order: all runs that complete, all events of VMs (a VM that shrinks kills runs until the rest fits, and
their tasks wait again), all arrivals; then whoever decides looks at the pool if its epoch is due, and places waiting tasks.

A run costs O(log N) for its end, a change of a VM O(1) and what it kills, an arrival O(log64 T) a task.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.simulator.leases import end_lease
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
from schedgap.instances.harvest.simulator.waiting import add_waiting, remove_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import heap_pop, heap_push
from schedgap.instances.kernels.random_numbers import mixed
from schedgap.instances.units import NEVER

# What `advance` returns. GROW: nothing happened, since there may be too little room for what comes.
GROW, OVER, HAPPENED = -1, 0, 1
# No run is taken to end earlier than in a second.
OVERDUE_MS = 1000
# If nothing but epochs and wakes are to come, and nothing else has happened for two days, nothing will.
LONGEST_IDLE_MS = 2 * 86_400_000


@lean_kernel
def advance(s: State) -> int:
    """Go to the next moment at which something happens, and let everything happen there that nobody decides.

    Returns HAPPENED, OVER if all tasks are complete or nothing will happen any more, or GROW. The pool is to be looked at if
    `clock.epoch` is `clock.now` then.
    """
    clock = s.clock[0]
    if clock.done == s.tasks.runtime.shape[0]:
        return OVER
    if s.runs.task.shape[0] - clock.runs < s.rules.copies * (s.tasks.runtime.shape[0] - clock.done):
        return GROW
    if s.leases.vm.shape[0] - clock.leases < s.rules.max_leases:
        return GROW
    if clock.epoch <= clock.now:
        clock.epoch += s.rules.epoch_ms
    while clock.heap > 0 and s.runs.is_live[s.runs.heap[0]] == 0:
        _pop_end(s)
    t = s.runs.heap_ms[0] if clock.heap > 0 else NEVER
    if clock.next_event < s.events.ms.shape[0]:
        t = min(t, s.events.ms[clock.next_event])
    if clock.next_job < s.jobs.arrival.shape[0]:
        t = min(t, s.jobs.arrival[clock.next_job])
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
    return HAPPENED


@lean_kernel
def fits(s: State, task: int, vm: int) -> bool:
    """Return whether a VM takes new tasks and has room for a task now."""
    job = s.tasks.job[task]
    return has_room(s, vm, s.jobs.cores[job], s.jobs.memory[job])


@inner_kernel
def has_room(s: State, vm: int, cores: int, memory: int) -> bool:
    """Return whether a VM takes new tasks and has so many free cores and so much free memory."""
    if s.vms.lease[vm] != LEASED or s.vms.size[vm] - s.vms.used[vm] < cores:
        return False
    return bool(s.vms.size[vm] > 0 and s.vms.memory[vm] - s.vms.used_memory[vm] >= memory)


@inner_kernel
def work_left(s: State, task: int) -> int:
    """Return the ms of work that are left of a task by its estimate, at least 1."""
    return int(max(s.tasks.estimate[task] - s.tasks.saved[task], 1))


@inner_kernel
def lasts_ms(s: State, task: int, work: int, every: int) -> int:
    """Return how long a run of a task takes for so much work with checkpoints after `every` ms of work, or none if 0."""
    job = s.tasks.job[task]
    total = work
    if s.tasks.saved[task] > 0:
        total += s.jobs.restore[job]
    if every > 0:
        total += ((work + every - 1) // every - 1) * s.jobs.checkpoint[job]
    return int(total)


@lean_kernel
def place(s: State, task: int, vm: int, every: int) -> int:
    """Start a run of a task on a VM that it fits on, now, and return the run; `every` as `lasts_ms` has it."""
    now, job, run = s.clock[0].now, s.tasks.job[task], s.clock[0].runs
    s.clock[0].runs += 1
    s.clock[0].running += 1
    if s.tasks.stage[task] == WAITS:
        remove_waiting(s, task)
        s.tasks.stage[task] = RUNS_NOW
    s.tasks.live[task] += 1
    s.vms.used[vm] += s.jobs.cores[job]
    s.vms.used_memory[vm] += s.jobs.memory[job]
    s.runs.task[run], s.runs.vm[run], s.runs.start[run], s.runs.every[run] = task, vm, now, every
    s.runs.end[run] = now + lasts_ms(s, task, s.tasks.runtime[task] - s.tasks.saved[task], every)
    s.runs.guess[run] = now + lasts_ms(s, task, work_left(s, task), every)
    s.runs.previous[run], s.tasks.last_run[task] = s.tasks.last_run[task], run
    s.runs.is_live[run] = 1
    last = s.vms.newest[vm]
    s.runs.before[run], s.runs.after[run], s.vms.newest[vm] = last, NOBODY, run
    if last == NOBODY:
        s.vms.oldest[vm] = run
    else:
        s.runs.after[last] = run
    heap_push(s.runs.heap_ms, s.runs.heap, s.clock[0].heap, s.runs.end[run], run)
    s.clock[0].heap += 1
    return int(run)


@lean_kernel
def stop(s: State, run: int) -> None:
    """End a run that has not ended, now and later than it began; its task waits again unless another run of it goes on."""
    task = s.runs.task[run]
    every = s.runs.every[run]
    if every > 0:
        job = s.tasks.job[task]
        worked = s.clock[0].now - s.runs.start[run]
        if s.tasks.saved[task] > 0:
            worked -= s.jobs.restore[job]
        if worked > 0:
            s.tasks.saved[task] += worked // (every + s.jobs.checkpoint[job]) * every
    _leave(s, run)
    if s.tasks.live[task] == 0 and s.tasks.stage[task] == RUNS_NOW:
        s.tasks.stage[task] = WAITS
        add_waiting(s, task)


@inner_kernel
def _leave(s: State, run: int) -> None:
    """End a run now: it holds nothing any more, and a draining VM that it leaves empty is released."""
    task, vm = s.runs.task[run], s.runs.vm[run]
    job = s.tasks.job[task]
    s.runs.is_live[run] = 0
    s.runs.end[run] = s.clock[0].now
    s.clock[0].running -= 1
    s.tasks.live[task] -= 1
    s.vms.used[vm] -= s.jobs.cores[job]
    s.vms.used_memory[vm] -= s.jobs.memory[job]
    before, after = s.runs.before[run], s.runs.after[run]
    if before == NOBODY:
        s.vms.oldest[vm] = after
    else:
        s.runs.after[before] = after
    if after == NOBODY:
        s.vms.newest[vm] = before
    else:
        s.runs.before[after] = before
    if s.vms.lease[vm] == DRAINING and s.vms.oldest[vm] == NOBODY:
        end_lease(s, vm)


@inner_kernel
def _pop_end(s: State) -> int:
    run = s.runs.heap[0]
    heap_pop(s.runs.heap_ms, s.runs.heap, s.clock[0].heap)
    s.clock[0].heap -= 1
    return int(run)


@inner_kernel
def _take_ends(s: State) -> None:
    while s.clock[0].heap > 0 and s.runs.heap_ms[0] == s.clock[0].now:
        run = _pop_end(s)
        if s.runs.is_live[run] == 0:
            continue
        task = s.runs.task[run]
        s.tasks.stage[task] = IS_DONE
        s.clock[0].done += 1
        _leave(s, run)
        other = s.tasks.last_run[task]
        while s.tasks.live[task] > 0:
            if s.runs.is_live[other] == 1:
                stop(s, other)
            other = s.runs.previous[other]


@inner_kernel
def _take_events(s: State) -> None:
    clock = s.clock[0]
    while clock.next_event < s.events.ms.shape[0] and s.events.ms[clock.next_event] == clock.now:
        vm, cores = s.events.vm[clock.next_event], s.events.cores[clock.next_event]
        clock.next_event += 1
        s.past[0] = mixed(mixed(mixed(s.past[0] ^ np.uint64(clock.now)) ^ np.uint64(vm)) ^ np.uint64(cores))
        s.vms.up[vm] = cores
        if s.vms.lease[vm] != NOT_LEASED:
            _resize(s, vm, cores)


@inner_kernel
def _resize(s: State, vm: int, cores: int) -> None:
    """Give a leased VM another size; it kills runs until the rest fits."""
    clock, old = s.clock[0], s.vms.size[vm]
    direction = GREW if cores > old else SHRANK
    # A VM that comes to be is new: what it was before is forgotten.
    if old > 0:
        change = clock.changes
        clock.changes += 1
        s.log.ms[change], s.log.vm[change], s.log.gap[change] = clock.now, vm, clock.now - s.vms.changed[vm]
        s.log.before[change], s.log.after[change] = s.vms.direction[vm], direction
        s.log.cores[change] = abs(cores - old)
    s.vms.size[vm], s.vms.changed[vm], s.vms.direction[vm] = cores, clock.now, direction
    while s.vms.used[vm] > cores:
        run = s.vms.newest[vm] if s.rules.newest_first else s.vms.oldest[vm]
        s.tasks.kills[s.runs.task[run]] += 1
        stop(s, run)
    if cores == 0 and s.rules.allocation != FIXED and s.vms.lease[vm] != NOT_LEASED:
        end_lease(s, vm)


@inner_kernel
def _take_arrivals(s: State) -> None:
    clock = s.clock[0]
    while clock.next_job < s.jobs.arrival.shape[0] and s.jobs.arrival[clock.next_job] == clock.now:
        job = clock.next_job
        clock.next_job += 1
        for task in range(s.jobs.first_task[job], s.jobs.first_task[job + 1]):
            s.tasks.stage[task] = WAITS
            add_waiting(s, task)
