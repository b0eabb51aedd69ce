"""The rules of a pool of harvest VMs, compiled: runs end, VMs change, jobs arrive, and whoever decides places tasks.

At one moment, in this order: all runs that complete, all events of VMs (a VM that shrinks kills runs until the rest fits, and
their tasks wait again), all arrivals; then whoever decides looks at the pool if its epoch is due, and places waiting tasks.

A run costs O(log N) for its end, a change of a VM O(1) and what it kills, an arrival O(log64 T) a task.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.kernels_pool import end_lease
from schedgap.instances.harvest.kernels_state import (
    ALLOCATION,
    CHANGES,
    COPIES,
    DONE,
    DRAINING,
    EPOCH,
    EPOCH_MS,
    EVENT,
    FIXED,
    GREW,
    HEAP,
    IS_DONE,
    JOB,
    LEASED,
    LEASES,
    MAX_LEASES,
    NEVER,
    NEWEST_FIRST,
    NOBODY,
    NOT_LEASED,
    NOW,
    RUNNING,
    RUNS,
    RUNS_NOW,
    SHRANK,
    STIRRED,
    WAITS,
    WAKE,
    State,
)
from schedgap.instances.harvest.kernels_waiting import add_waiting, remove_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels_heap import heap_pop, heap_push
from schedgap.instances.kernels_random import mixed

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
    `clock[EPOCH]` is `clock[NOW]` then.
    """
    clock = s.clock
    if clock[DONE] == s.runtime.shape[0]:
        return OVER
    if s.run_task.shape[0] - clock[RUNS] < s.option[COPIES] * (s.runtime.shape[0] - clock[DONE]):
        return GROW
    if s.lease_vm.shape[0] - clock[LEASES] < s.option[MAX_LEASES]:
        return GROW
    if clock[EPOCH] <= clock[NOW]:
        clock[EPOCH] += s.option[EPOCH_MS]
    while clock[HEAP] > 0 and s.is_live[s.heap[0]] == 0:
        _pop_end(s)
    t = s.heap_ms[0] if clock[HEAP] > 0 else NEVER
    if clock[EVENT] < s.event_ms.shape[0]:
        t = min(t, s.event_ms[clock[EVENT]])
    if clock[JOB] < s.arrival.shape[0]:
        t = min(t, s.arrival[clock[JOB]])
    alarm = clock[EPOCH]
    if clock[WAKE] > clock[NOW]:
        alarm = min(alarm, clock[WAKE])
    if t == NEVER and alarm > clock[STIRRED] + LONGEST_IDLE_MS:
        return OVER
    if t <= alarm:
        clock[STIRRED] = t
    clock[NOW] = min(t, alarm)
    _take_ends(s)
    _take_events(s)
    _take_arrivals(s)
    return HAPPENED


@lean_kernel
def fits(s: State, task: int, vm: int) -> bool:
    """Return whether a VM takes new tasks and has room for a task now."""
    job = s.task2job[task]
    return has_room(s, vm, s.cores[job], s.memory[job])


@inner_kernel
def has_room(s: State, vm: int, cores: int, memory: int) -> bool:
    """Return whether a VM takes new tasks and has so many free cores and so much free memory."""
    if s.lease[vm] != LEASED or s.size[vm] - s.used[vm] < cores:
        return False
    return bool(s.size[vm] > 0 and s.vm_memory[vm] - s.used_memory[vm] >= memory)


@inner_kernel
def work_left(s: State, task: int) -> int:
    """Return the ms of work that are left of a task by its estimate, at least 1."""
    return int(max(s.estimate[task] - s.saved[task], 1))


@inner_kernel
def lasts_ms(s: State, task: int, work: int, every: int) -> int:
    """Return how long a run of a task takes for so much work with checkpoints after `every` ms of work, or none if 0."""
    job = s.task2job[task]
    total = work
    if s.saved[task] > 0:
        total += s.restore[job]
    if every > 0:
        total += ((work + every - 1) // every - 1) * s.checkpoint[job]
    return int(total)


@lean_kernel
def place(s: State, task: int, vm: int, every: int) -> int:
    """Start a run of a task on a VM that it fits on, now, and return the run; `every` as `lasts_ms` has it."""
    now, job, run = s.clock[NOW], s.task2job[task], s.clock[RUNS]
    s.clock[RUNS] += 1
    s.clock[RUNNING] += 1
    if s.stage[task] == WAITS:
        remove_waiting(s, task)
        s.stage[task] = RUNS_NOW
    s.live[task] += 1
    s.used[vm] += s.cores[job]
    s.used_memory[vm] += s.memory[job]
    s.run_task[run], s.run_vm[run], s.run_start[run], s.run_every[run] = task, vm, now, every
    s.run_end[run] = now + lasts_ms(s, task, s.runtime[task] - s.saved[task], every)
    s.run_guess[run] = now + lasts_ms(s, task, work_left(s, task), every)
    s.run_before[run], s.last_run[task] = s.last_run[task], run
    s.is_live[run] = 1
    last = s.newest[vm]
    s.before[run], s.after[run], s.newest[vm] = last, NOBODY, run
    if last == NOBODY:
        s.oldest[vm] = run
    else:
        s.after[last] = run
    heap_push(s.heap_ms, s.heap, s.clock[HEAP], s.run_end[run], run)
    s.clock[HEAP] += 1
    return int(run)


@lean_kernel
def stop(s: State, run: int) -> None:
    """End a run that has not ended, now and later than it began; its task waits again unless another run of it goes on."""
    task = s.run_task[run]
    every = s.run_every[run]
    if every > 0:
        job = s.task2job[task]
        worked = s.clock[NOW] - s.run_start[run]
        if s.saved[task] > 0:
            worked -= s.restore[job]
        if worked > 0:
            s.saved[task] += worked // (every + s.checkpoint[job]) * every
    _leave(s, run)
    if s.live[task] == 0 and s.stage[task] == RUNS_NOW:
        s.stage[task] = WAITS
        add_waiting(s, task)


@inner_kernel
def _leave(s: State, run: int) -> None:
    """End a run now: it holds nothing any more, and a draining VM that it leaves empty is released."""
    task, vm = s.run_task[run], s.run_vm[run]
    job = s.task2job[task]
    s.is_live[run] = 0
    s.run_end[run] = s.clock[NOW]
    s.clock[RUNNING] -= 1
    s.live[task] -= 1
    s.used[vm] -= s.cores[job]
    s.used_memory[vm] -= s.memory[job]
    before, after = s.before[run], s.after[run]
    if before == NOBODY:
        s.oldest[vm] = after
    else:
        s.after[before] = after
    if after == NOBODY:
        s.newest[vm] = before
    else:
        s.before[after] = before
    if s.lease[vm] == DRAINING and s.oldest[vm] == NOBODY:
        end_lease(s, vm)


@inner_kernel
def _pop_end(s: State) -> int:
    run = s.heap[0]
    heap_pop(s.heap_ms, s.heap, s.clock[HEAP])
    s.clock[HEAP] -= 1
    return int(run)


@inner_kernel
def _take_ends(s: State) -> None:
    while s.clock[HEAP] > 0 and s.heap_ms[0] == s.clock[NOW]:
        run = _pop_end(s)
        if s.is_live[run] == 0:
            continue
        task = s.run_task[run]
        s.stage[task] = IS_DONE
        s.clock[DONE] += 1
        _leave(s, run)
        other = s.last_run[task]
        while s.live[task] > 0:
            if s.is_live[other] == 1:
                stop(s, other)
            other = s.run_before[other]


@inner_kernel
def _take_events(s: State) -> None:
    clock = s.clock
    while clock[EVENT] < s.event_ms.shape[0] and s.event_ms[clock[EVENT]] == clock[NOW]:
        vm, cores = s.event_vm[clock[EVENT]], s.event_cores[clock[EVENT]]
        clock[EVENT] += 1
        s.past[0] = mixed(mixed(mixed(s.past[0] ^ np.uint64(clock[NOW])) ^ np.uint64(vm)) ^ np.uint64(cores))
        s.up[vm] = cores
        if s.lease[vm] != NOT_LEASED:
            _resize(s, vm, cores)


@inner_kernel
def _resize(s: State, vm: int, cores: int) -> None:
    """Give a leased VM another size; it kills runs until the rest fits."""
    clock, old = s.clock, s.size[vm]
    direction = GREW if cores > old else SHRANK
    # A VM that comes to be is new: what it was before is forgotten.
    if old > 0:
        change = clock[CHANGES]
        clock[CHANGES] += 1
        s.log_ms[change], s.log_vm[change], s.log_gap[change] = clock[NOW], vm, clock[NOW] - s.changed[vm]
        s.log_before[change], s.log_after[change] = s.direction[vm], direction
        s.log_cores[change] = abs(cores - old)
    s.size[vm], s.changed[vm], s.direction[vm] = cores, clock[NOW], direction
    while s.used[vm] > cores:
        run = s.newest[vm] if s.option[NEWEST_FIRST] else s.oldest[vm]
        s.kills[s.run_task[run]] += 1
        stop(s, run)
    if cores == 0 and s.option[ALLOCATION] != FIXED and s.lease[vm] != NOT_LEASED:
        end_lease(s, vm)


@inner_kernel
def _take_arrivals(s: State) -> None:
    clock = s.clock
    while clock[JOB] < s.arrival.shape[0] and s.arrival[clock[JOB]] == clock[NOW]:
        job = clock[JOB]
        clock[JOB] += 1
        for task in range(s.first_task[job], s.first_task[job + 1]):
            s.stage[task] = WAITS
            add_waiting(s, task)
