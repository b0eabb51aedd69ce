"""The variants of SlackSched: the letter of Algorithm 1, without waiting, and by heartbeats (Algorithm 3)."""

from __future__ import annotations

from schedgap.heuristics.harvest.kernels_engine import completes_by, keep_fresh
from schedgap.heuristics.harvest.kernels_losses import learn
from schedgap.heuristics.harvest.kernels_match import best_vm
from schedgap.heuristics.harvest.kernels_matcher import RECONSIDER_MS, THRESHOLD, Matcher
from schedgap.heuristics.harvest.kernels_slots import begin, open_slots, open_touched, task_ms
from schedgap.instances.harvest.kernels_events import fits, has_room
from schedgap.instances.harvest.kernels_state import (
    LEAST_CORES,
    LEAST_MEMORY,
    NEVER,
    NOBODY,
    NOW,
    RUNNING,
    WAITING,
    WAKE,
    State,
)
from schedgap.instances.harvest.kernels_waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel


@lean_kernel
def pass_literal(s: State, m: Matcher) -> None:
    """Start each waiting task that fits on its best VM now; the others hold nothing. O(W V), W tasks that wait."""
    s.clock[WAKE] = NEVER
    if s.clock[WAITING] == 0:
        return
    learn(s, m)
    task = next_waiting(s, 0) if open_touched(s, m) else NOBODY
    while task != NOBODY:
        vm, _ = best_vm(s, m, task)
        if vm != NOBODY and fits(s, task, vm):
            begin(s, m, task, vm)
            open_slots(s, m, vm)
        task = next_waiting(s, task + 1)
    _wake(s, m)


@lean_kernel
def pass_no_delay(s: State, m: Matcher) -> None:
    """Start each waiting task that fits anywhere, where it is most likely to complete. O(W + F V), F tasks that start."""
    if s.clock[WAITING] == 0:
        return
    keep_fresh(s, m.engine)
    task = next_waiting(s, 0)
    # What needs as much as the last one that fitted nowhere does not fit either, as room only becomes less.
    cores, memory = NEVER, NEVER
    while task != NOBODY:
        job = s.task2job[task]
        if s.cores[job] < cores or s.memory[job] < memory:
            vm = _likeliest(s, m, task)
            if vm != NOBODY:
                begin(s, m, task, vm)
            else:
                cores, memory = s.cores[job], s.memory[job]
                if cores <= s.option[LEAST_CORES] and memory <= s.option[LEAST_MEMORY]:
                    return
        task = next_waiting(s, task + 1)


@lean_kernel
def pass_heartbeat(s: State, m: Matcher) -> None:
    """Let every VM in turn ask for tasks, as if all sent their heartbeats now.

    A VM takes, of the tasks that fit, the one that completes there most likely, the shortest, while that is likelier than the
    threshold. If it takes none, the shortest task of all starts on its best VM, if it fits there. O(V + F (W + V)).
    """
    s.clock[WAKE] = NEVER
    if s.clock[WAITING] == 0:
        return
    learn(s, m)
    open_touched(s, m)
    # The best VM of the shortest task stays the same until a task starts.
    shortest, matched = _shortest(s, m, NEVER, NEVER), False
    for vm in range(s.size.shape[0]):
        started = False
        while shortest != NOBODY and has_room(s, vm, s.option[LEAST_CORES], s.option[LEAST_MEMORY]):
            task = shortest
            if not fits(s, task, vm):
                task = _shortest(s, m, s.size[vm] - s.used[vm], s.vm_memory[vm] - s.used_memory[vm])
            if task != NOBODY and _probability(s, m, task, vm) > m.number[THRESHOLD]:
                started = True
                begin(s, m, task, vm)
                open_slots(s, m, vm)
            else:
                break
            shortest, matched = _shortest(s, m, NEVER, NEVER), False
        if shortest != NOBODY and not started and not matched:
            best, _ = best_vm(s, m, shortest)
            if best != NOBODY and fits(s, shortest, best):
                begin(s, m, shortest, best)
                open_slots(s, m, best)
                shortest = _shortest(s, m, NEVER, NEVER)
            else:
                matched = True
    _wake(s, m)


@inner_kernel
def _wake(s: State, m: Matcher) -> None:
    # Where nothing runs, whoever waits fits nowhere.
    if s.clock[WAITING] > 0 and s.clock[RUNNING] > 0 and m.option[RECONSIDER_MS] > 0:
        s.clock[WAKE] = s.clock[NOW] + m.option[RECONSIDER_MS]


@inner_kernel
def _likeliest(s: State, m: Matcher, task: int) -> int:
    """Return the VM with room for a task where it is most likely to complete, the first of equals; or `NOBODY`."""
    best, best_probability = NOBODY, -1.0
    for vm in range(s.size.shape[0]):
        if fits(s, task, vm):
            probability = _probability(s, m, task, vm)
            if probability > best_probability:
                best, best_probability = vm, probability
    return best


@inner_kernel
def _probability(s: State, m: Matcher, task: int, vm: int) -> float:
    age = float(s.clock[NOW] - s.changed[vm])
    return completes_by(m.engine, s.direction[vm], age, float(task_ms(s, m, task)))


@inner_kernel
def _shortest(s: State, m: Matcher, cores: int, memory: int) -> int:
    """Return the waiting task with the shortest estimate of those that need no more than that, the first of equals."""
    best, best_ms = NOBODY, NEVER
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.task2job[task]
        if s.cores[job] <= cores and s.memory[job] <= memory and task_ms(s, m, task) < best_ms:
            best, best_ms = task, task_ms(s, m, task)
        task = next_waiting(s, task + 1)
    return best
