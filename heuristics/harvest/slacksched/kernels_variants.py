"""The variants of SlackSched: the letter of Algorithm 1, without waiting, and by heartbeats (Algorithm 3)."""

from __future__ import annotations

from schedgap.heuristics.harvest.slacksched.kernels_engine import completes_by, keep_fresh
from schedgap.heuristics.harvest.slacksched.kernels_match import best_vm, learn
from schedgap.heuristics.harvest.slacksched.kernels_slots import begin, open_slots, open_touched, task_ms

# At run time, too: what is compiled depends on the fields.
from schedgap.heuristics.harvest.slacksched.state import Matcher  # noqa: TC001
from schedgap.instances.harvest.simulator.events import fits, has_room
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.units import NEVER


@lean_kernel
def pass_literal(s: State, m: Matcher) -> None:
    """Start each waiting task that fits on its best VM now; the others hold nothing. O(W V), W tasks that wait."""
    s.clock[0].wake = NEVER
    if s.clock[0].waiting == 0:
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
    if s.clock[0].waiting == 0:
        return
    keep_fresh(s, m.engine)
    task = next_waiting(s, 0)
    # What needs as much as the last one that fitted nowhere does not fit either, as room only becomes less.
    cores, memory = NEVER, NEVER
    while task != NOBODY:
        job = s.tasks.job[task]
        if s.jobs.cores[job] < cores or s.jobs.memory[job] < memory:
            vm = _likeliest(s, m, task)
            if vm != NOBODY:
                begin(s, m, task, vm)
            else:
                cores, memory = s.jobs.cores[job], s.jobs.memory[job]
                if cores <= s.rules.least_cores and memory <= s.rules.least_memory:
                    return
        task = next_waiting(s, task + 1)


@lean_kernel
def pass_heartbeat(s: State, m: Matcher) -> None:
    """Let every VM in turn ask for tasks, as if all sent their heartbeats now.

    A VM takes, of the tasks that fit, the one that completes there most likely, the shortest, while that is likelier than the
    threshold. If it takes none, the shortest task of all starts on its best VM, if it fits there. O(V + F (W + V)).
    """
    s.clock[0].wake = NEVER
    if s.clock[0].waiting == 0:
        return
    learn(s, m)
    open_touched(s, m)
    # The best VM of the shortest task stays the same until a task starts.
    shortest, matched = _shortest(s, m, NEVER, NEVER), False
    for vm in range(s.vms.size.shape[0]):
        started = False
        while shortest != NOBODY and has_room(s, vm, s.rules.least_cores, s.rules.least_memory):
            task = shortest
            if not fits(s, task, vm):
                task = _shortest(s, m, s.vms.size[vm] - s.vms.used[vm], s.vms.memory[vm] - s.vms.used_memory[vm])
            if task != NOBODY and _probability(s, m, task, vm) > m.options.threshold:
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
    if s.clock[0].waiting > 0 and s.clock[0].running > 0 and m.options.reconsider_ms > 0:
        s.clock[0].wake = s.clock[0].now + m.options.reconsider_ms


@inner_kernel
def _likeliest(s: State, m: Matcher, task: int) -> int:
    """Return the VM with room for a task where it is most likely to complete, the first of equals; or `NOBODY`."""
    best, best_probability = NOBODY, -1.0
    for vm in range(s.vms.size.shape[0]):
        if fits(s, task, vm):
            probability = _probability(s, m, task, vm)
            if probability > best_probability:
                best, best_probability = vm, probability
    return best


@inner_kernel
def _probability(s: State, m: Matcher, task: int, vm: int) -> float:
    age = float(s.clock[0].now - s.vms.changed[vm])
    return completes_by(m.engine, s.vms.direction[vm], age, float(task_ms(s, m, task)))


@inner_kernel
def _shortest(s: State, m: Matcher, cores: int, memory: int) -> int:
    """Return the waiting task with the shortest estimate of those that need no more than that, the first of equals."""
    best, best_ms = NOBODY, NEVER
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.tasks.job[task]
        if s.jobs.cores[job] <= cores and s.jobs.memory[job] <= memory and task_ms(s, m, task) < best_ms:
            best, best_ms = task, task_ms(s, m, task)
        task = next_waiting(s, task + 1)
    return best
