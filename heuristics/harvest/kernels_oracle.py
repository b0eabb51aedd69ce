"""The paper's greedy Oracle (SlackSched, section 4.1), compiled: it sees all changes of the VMs that come, and plans nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.heuristics.harvest.kernels_rules import next_moment
from schedgap.heuristics.harvest.slacksched.kernels_slots import left_ms
from schedgap.instances.harvest.simulator.events import HAPPENED, has_room, lasts_ms, place, work_left
from schedgap.instances.harvest.simulator.plain import checkpoints_every, list_fitting
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    from schedgap.heuristics.harvest.acquisition.kernels_acquire import Acquire
    from schedgap.instances.arrays import IntArray

# What is guaranteed: that the VM does not shrink before the task's end, or that it kills nothing before it.
NO_SHRINK, NO_KILL = 0, 1


class Foresight(NamedTuple):
    """What comes of each VM. V VMs, E events, of one VM after those of another; all int64.

    event_ms, event_cores : (E,). shrink_ms : (E,), the moment of the VM's first shrink that is not before this event; NEVER
    for none. at : (V,), the VM's first event that is later than now. last : (V,), the event after its last one.
    shortest : (J,), the shortest estimate of a job's tasks. safe : (V,), for how long each VM of `State.fitting` is safe.
    """

    event_ms: IntArray
    event_cores: IntArray
    shrink_ms: IntArray
    at: IntArray
    last: IntArray
    shortest: IntArray
    safe: IntArray


@lean_kernel
def play_oracle(s: State, f: Foresight, guarantee: int, acquire: Acquire, free_every: int) -> int:
    """Play the Oracle until all tasks are complete or nothing happens any more; return the status of `advance`."""
    while True:
        status = next_moment(s, acquire)
        if status != HAPPENED:
            return status
        if s.clock[0].waiting > 0:
            _pass(s, f, guarantee, free_every)


@inner_kernel
def _pass(s: State, f: Foresight, guarantee: int, free_every: int) -> None:
    """Place each waiting task, in order, on the VM that is safe for the shortest time that is long enough, by its estimate.

    So VMs that are safe for long are left for long tasks; of equals, the first. O(V) for each change of demand from one job
    that is looked at to the next (with NO_KILL, times the events of a VM and the runs on it), and for each task that is placed;
    O(log64 T) for each task that waits.
    """
    task, count, cores, memory, longest = next_waiting(s, 0), 0, -1, -1, -1
    while task != NOBODY:
        job = s.tasks.job[task]
        end = s.jobs.first_task[job + 1]
        if s.jobs.cores[job] != cores or s.jobs.memory[job] != memory:
            cores, memory = s.jobs.cores[job], s.jobs.memory[job]
            count = _list_safe(s, f, guarantee, cores, memory)
            longest = _longest(f, count)
        every = checkpoints_every(s, job, free_every, 0)
        # What was saved may make tasks with checkpoints shorter than their estimates.
        if longest < f.shortest[job] and (every == 0 or count == 0):
            task = next_waiting(s, end)
            continue
        while task != NOBODY and task < end and count > 0:
            lasts = lasts_ms(s, task, work_left(s, task), every)
            if lasts <= longest:
                chosen = _tightest(s, f, count, lasts)
                vm = s.work.fitting[chosen]
                place(s, task, vm, every)
                if has_room(s, vm, cores, memory):
                    f.safe[chosen] = _safe_ms(s, f, guarantee, vm, cores)
                else:
                    count -= 1
                    s.work.fitting[chosen], f.safe[chosen] = s.work.fitting[count], f.safe[count]
                longest = _longest(f, count)
            task = next_waiting(s, task + 1)
        if task != NOBODY and task < end:
            task = next_waiting(s, end)


@inner_kernel
def _list_safe(s: State, f: Foresight, guarantee: int, cores: int, memory: int) -> int:
    """List the VMs with room in `State.fitting`, and for how long they are safe; return how many they are."""
    count = list_fitting(s, cores, memory)
    for i in range(count):
        f.safe[i] = _safe_ms(s, f, guarantee, s.work.fitting[i], cores)
    return count


@inner_kernel
def _longest(f: Foresight, count: int) -> int:
    """Return for how long that of the listed VMs is safe that is so for longest; -1 if there are none."""
    longest = -1
    for i in range(count):
        longest = max(longest, f.safe[i])
    return longest


@inner_kernel
def _tightest(s: State, f: Foresight, count: int, lasts: int) -> int:
    """Return the place in the list of the VM that is safe for the shortest time that is at least `lasts`."""
    best = NOBODY
    for i in range(count):
        if f.safe[i] >= lasts and (
            best == NOBODY
            or f.safe[i] < f.safe[best]
            or (f.safe[i] == f.safe[best] and s.work.fitting[i] < s.work.fitting[best])
        ):
            best = i
    return best


@inner_kernel
def _safe_ms(s: State, f: Foresight, guarantee: int, vm: int, cores: int) -> int:
    """Return for how long a task with so many cores may run on a VM from now on."""
    now, at, last = s.clock[0].now, f.at[vm], f.last[vm]
    while at < last and f.event_ms[at] <= now:
        at += 1
    f.at[vm] = at
    if at == last or f.shrink_ms[at] == NEVER:
        return NEVER
    if guarantee == NO_SHRINK:
        return int(f.shrink_ms[at] - now)
    for event in range(at, last):
        used, run = cores, s.vms.oldest[vm]
        while run != NOBODY:
            guess = s.runs.guess[run] if s.runs.guess[run] > now else now + left_ms(s.runs.guess[run], now)
            if guess > f.event_ms[event]:
                used += s.jobs.cores[s.tasks.job[s.runs.task[run]]]
            run = s.runs.after[run]
        if used > f.event_cores[event]:
            return int(f.event_ms[event] - now)
    return NEVER
