"""The loops that follow runs: task by task, what they have saved and lost; VM by VM, what they hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import inner_kernel, lean_kernel

# What `follow_runs` finds. OVERLAPS: a run starts before another of its task has ended, and one takes checkpoints.
# TOO_LONG: it lasts longer than it takes to complete the task. GOES_ON: it ends after the task was complete.
FINE, OVERLAPS, TOO_LONG, GOES_ON, INCOMPLETE = 0, 1, 2, 3, 4
NOBODY = -1


class Runs(NamedTuple):
    """(N,): runs of a schedule."""

    task: np.ndarray
    vm: np.ndarray
    start_ms: np.ndarray
    end_ms: np.ndarray
    every_ms: np.ndarray


class Given(NamedTuple):
    """What runs must keep to. task2job, runtime_ms : (T,). checkpoint_ms, restore_ms : (J,)."""

    task2job: np.ndarray
    runtime_ms: np.ndarray
    checkpoint_ms: np.ndarray
    restore_ms: np.ndarray


class Events(NamedTuple):
    """As in an instance. memory : (V,)."""

    first: np.ndarray
    ms: np.ndarray
    cores: np.ndarray
    memory: np.ndarray


@lean_kernel
def follow_runs(
    order: np.ndarray,
    runs: Runs,
    given: Given,
    completing: np.ndarray,
    lost_ms: np.ndarray,
    busy_ms: np.ndarray,
) -> tuple[int, int, int]:
    """Fill in what became of all runs, or return what is wrong with one: the finding, the run and a figure. O(N).

    order : (N,), the runs by task, then start. completing, busy_ms : (T,) and lost_ms : (N,), as in `RunResults`, are filled in.
    The figure is the other run if one OVERLAPS or GOES_ON, and the ms that it takes if it is TOO_LONG or INCOMPLETE.
    """
    begin = 0
    while begin < order.shape[0]:
        current = runs.task[order[begin]]
        stop, takes_any = begin, False
        while stop < order.shape[0] and runs.task[order[stop]] == current:
            takes_any = takes_any or runs.every_ms[order[stop]] > 0
            stop += 1
        some = order[begin:stop]
        if takes_any:
            found, run, figure = _follow_saving(some, runs, given, lost_ms)
        else:
            found, run, figure = _follow_replicas(some, runs, given.runtime_ms[current], lost_ms)
        if found != FINE:
            return found, run, figure
        completing[current] = run
        busy_ms[current] = _covered(some, runs)
        begin = stop
    return FINE, NOBODY, 0


@inner_kernel
def _follow_saving(order: np.ndarray, runs: Runs, given: Given, lost_ms: np.ndarray) -> tuple[int, int, int]:
    """Follow the runs of a task one after the other, each from what those before it saved; (FINE, completing run, 0)."""
    task = runs.task[order[0]]
    job = given.task2job[task]
    runtime, checkpoint, restore = given.runtime_ms[task], given.checkpoint_ms[job], given.restore_ms[job]
    saved, before, completing, takes = 0, NOBODY, NOBODY, 0
    for i in range(order.shape[0]):
        run = order[i]
        if before != NOBODY and runs.start_ms[run] < runs.end_ms[before]:
            return OVERLAPS, run, before
        if completing != NOBODY:
            return GOES_ON, run, completing
        length, every = runs.end_ms[run] - runs.start_ms[run], runs.every_ms[run]
        restoring = restore if saved > 0 else 0
        takes = restoring + _with_checkpoints(runtime - saved, every, checkpoint)
        if length > takes:
            return TOO_LONG, run, takes
        lost_ms[run] = length
        if length == takes:
            completing, lost_ms[run] = run, 0
        elif every > 0 and length > restoring:
            taken = (length - restoring) // (every + checkpoint)
            if taken > 0:
                saved += taken * every
                lost_ms[run] = length - restoring - taken * (every + checkpoint)
        before = run
    if completing == NOBODY:
        return INCOMPLETE, before, takes
    return FINE, completing, 0


@inner_kernel
def _follow_replicas(order: np.ndarray, runs: Runs, runtime: int, lost_ms: np.ndarray) -> tuple[int, int, int]:
    """Follow runs of a task that save nothing; the first that lasts long enough completes it: (FINE, that run, 0)."""
    completing = NOBODY
    for i in range(order.shape[0]):
        run = order[i]
        length = runs.end_ms[run] - runs.start_ms[run]
        if length > runtime:
            return TOO_LONG, run, runtime
        lost_ms[run] = length
        if length == runtime and (completing == NOBODY or runs.end_ms[run] < runs.end_ms[completing]):
            completing = run
    if completing == NOBODY:
        return INCOMPLETE, order[order.shape[0] - 1], runtime
    for i in range(order.shape[0]):
        if runs.end_ms[order[i]] > runs.end_ms[completing]:
            return GOES_ON, order[i], completing
    lost_ms[completing] = 0
    return FINE, completing, 0


@inner_kernel
def _with_checkpoints(work: int, every: int, checkpoint: int) -> int:
    """Return how long so much work takes with a checkpoint after `every` ms of it save at the end."""
    if every == 0:
        return work
    return work + ((work + every - 1) // every - 1) * checkpoint


@inner_kernel
def _covered(order: np.ndarray, runs: Runs) -> int:
    """Return for how long at least one of the runs goes on; they are in order of their start."""
    covered, reached = 0, runs.start_ms[order[0]]
    for i in range(order.shape[0]):
        end = runs.end_ms[order[i]]
        if end > reached:
            covered += end - max(reached, runs.start_ms[order[i]])
            reached = end
    return covered


@lean_kernel
def first_overload(
    by_start: np.ndarray, by_end: np.ndarray, runs: Runs, cores: np.ndarray, memory: np.ndarray, events: Events
) -> tuple[int, int, int]:
    """Return the first VM that is over its cores or memory, when, and the run that starts then; O(N + E).

    The run is NOBODY if the VM shrinks, and so is all if no VM is over anything. At a moment runs end, then the VM changes, then
    runs start. by_start, by_end : (N,), the runs by VM, then start or end. cores, memory : (N,), that runs need.
    """
    vm, start_ms, end_ms = runs.vm, runs.start_ms, runs.end_ms
    begin = 0
    while begin < by_start.shape[0]:
        current = vm[by_start[begin]]
        started, ended, event = begin, begin, events.first[current]
        size, used, used_memory = 0, 0, 0
        while ended < by_end.shape[0] and vm[by_end[ended]] == current:
            t = end_ms[by_end[ended]]
            starts = started < by_start.shape[0] and vm[by_start[started]] == current
            if starts:
                t = min(t, start_ms[by_start[started]])
            if event < events.first[current + 1]:
                t = min(t, events.ms[event])
            while ended < by_end.shape[0] and vm[by_end[ended]] == current and end_ms[by_end[ended]] == t:
                used -= cores[by_end[ended]]
                used_memory -= memory[by_end[ended]]
                ended += 1
            if event < events.first[current + 1] and events.ms[event] == t:
                size = events.cores[event]
                event += 1
                if used > size:
                    return current, t, NOBODY
            # One after the other, so that sums stay small whatever comes.
            while started < by_start.shape[0] and vm[by_start[started]] == current and start_ms[by_start[started]] == t:
                run = by_start[started]
                used += cores[run]
                used_memory += memory[run]
                if used > size or used_memory > events.memory[current]:
                    return current, t, run
                started += 1
        begin = ended
    return NOBODY, NOBODY, NOBODY
