"""Rules that are no SlackSched's, compiled: several runs of each task at once (SlackSched, Appendix B.1), and the greedy Oracle.

The Oracle (section 4.1) sees all changes of the VMs that come, and plans nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from schedgap.heuristics.harvest.slacksched.kernels_match import left_ms
from schedgap.instances.arrays import IntArray, Records
from schedgap.instances.harvest.simulator.events import HAPPENED, advance, has_room, lasts_ms, place, work_left
from schedgap.instances.harvest.simulator.plain import checkpoints_every, is_refused, list_fitting, refuse
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below
from schedgap.instances.units import NEVER


@lean_kernel
def play_replication(s: State, free_every: int) -> int:
    """Play the rule from now on, as `Simulator.play` has it. free_every : as `checkpoints_every` has it."""
    status = HAPPENED
    while status == HAPPENED:
        if s.clock[0].waiting > 0:
            replication_pass(s, free_every)
        status = advance(s)
    return status


@inner_kernel
def replication_pass(s: State, free_every: int) -> None:
    """Place what fits, several runs of each task (SlackSched, Appendix B.1), in order, on VMs drawn from those that it fits on.

    Up to `copies` different ones; a task with checkpoints gets one run. A run that is lost is not replaced while another of its
    task goes on. O(V + K C log64 T) for each job that is looked at, K its tasks that fit and C `copies`.
    """
    num_refused = 0
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.tasks[task].job
        end, cores, memory = s.jobs[job + 1].first_task, s.jobs[job].cores, s.jobs[job].memory
        if not is_refused(s, num_refused, cores, memory):
            every = checkpoints_every(s, job, free_every, 0)
            most = 1 if every > 0 else s.rules.copies
            num_fitting = list_fitting(s, cores, memory)
            while task != NOBODY and task < end and num_fitting > 0:
                num_fitting = _place_copies(s, task, num_fitting, most, every)
                task = next_waiting(s, task + 1)
            if num_fitting > 0:
                continue
            num_refused = refuse(s, num_refused, cores, memory)
        task = next_waiting(s, end)


@inner_kernel
def _place_copies(s: State, task: int, num_fitting: int, most: int, every: int) -> int:
    """Start up to `most` runs of a task; return how many VMs are left in `State.fitting`."""
    job = s.tasks[task].job
    drawn = min(most, num_fitting)
    # The drawn ones are put last, from where those without room for another task leave the list.
    for i in range(drawn):
        last = num_fitting - 1 - i
        chosen = below(s.clock.random, last + 1)
        s.fitting[chosen], s.fitting[last] = s.fitting[last], s.fitting[chosen]
        place(s, task, s.fitting[last], every)
    left = num_fitting - drawn
    for i in range(num_fitting - drawn, num_fitting):
        if has_room(s, s.fitting[i], s.jobs[job].cores, s.jobs[job].memory):
            s.fitting[left] = s.fitting[i]
            left += 1
    return left


# What is guaranteed: that the VM does not shrink before the task's end, or that it kills nothing before it.
NO_SHRINK, NO_KILL = 0, 1


class Coming:
    """An event of a VM. shrink_ms : the moment of the VM's first shrink that is not before it; NEVER for none."""

    ms: int
    cores: int
    shrink_ms: int


class Ahead:
    """at, last : a VM's first event later than now, and that after its last. safe : how long that of `State.fitting` is safe."""

    at: int
    last: int
    safe: int


class Foresight(NamedTuple):
    """What comes. events : (E,), VM by VM. vms : (V,). shortest : (J,) int64, the shortest estimate of a job's tasks."""

    events: Records[Coming]
    vms: Records[Ahead]
    shortest: IntArray


@lean_kernel
def play_oracle(s: State, f: Foresight, guarantee: int, free_every: int) -> int:
    """Play the Oracle from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        if s.clock[0].waiting > 0:
            _pass(s, f, guarantee, free_every)
        status = advance(s)
    return status


@inner_kernel
def _pass(s: State, f: Foresight, guarantee: int, free_every: int) -> None:
    """Place each waiting task, in order, on the VM that is safe for the shortest time that is long enough, by its estimate.

    So VMs that are safe for long are left for long tasks; of equals, the first. O(V) for each change of demand from one job
    that is looked at to the next (with NO_KILL, times the events of a VM and the runs on it), and for each task that is placed;
    O(log64 T) for each task that waits.
    """
    task, count, cores, memory, longest = next_waiting(s, 0), 0, -1, -1, -1
    while task != NOBODY:
        job = s.tasks[task].job
        end = s.jobs[job + 1].first_task
        if s.jobs[job].cores != cores or s.jobs[job].memory != memory:
            cores, memory = s.jobs[job].cores, s.jobs[job].memory
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
                vm = s.fitting[chosen]
                place(s, task, vm, every)
                if has_room(s, vm, cores, memory):
                    f.vms[chosen].safe = _safe_ms(s, f, guarantee, vm, cores)
                else:
                    count -= 1
                    s.fitting[chosen], f.vms[chosen].safe = s.fitting[count], f.vms[count].safe
                longest = _longest(f, count)
            task = next_waiting(s, task + 1)
        if task != NOBODY and task < end:
            task = next_waiting(s, end)


@inner_kernel
def _list_safe(s: State, f: Foresight, guarantee: int, cores: int, memory: int) -> int:
    """List the VMs with room in `State.fitting`, and for how long they are safe; return how many they are."""
    count = list_fitting(s, cores, memory)
    for i in range(count):
        f.vms[i].safe = _safe_ms(s, f, guarantee, s.fitting[i], cores)
    return count


@inner_kernel
def _longest(f: Foresight, count: int) -> int:
    """Return for how long that of the listed VMs is safe that is so for longest; -1 if there are none."""
    longest = -1
    for i in range(count):
        longest = max(longest, f.vms[i].safe)
    return longest


@inner_kernel
def _tightest(s: State, f: Foresight, count: int, lasts: int) -> int:
    """Return the place in the list of the VM that is safe for the shortest time that is at least `lasts`."""
    best = NOBODY
    for i in range(count):
        if f.vms[i].safe >= lasts and (
            best == NOBODY
            or f.vms[i].safe < f.vms[best].safe
            or (f.vms[i].safe == f.vms[best].safe and s.fitting[i] < s.fitting[best])
        ):
            best = i
    return best


@inner_kernel
def _safe_ms(s: State, f: Foresight, guarantee: int, vm: int, cores: int) -> int:
    """Return for how long a task with so many cores may run on a VM from now on."""
    now, at, last = s.clock[0].now, f.vms[vm].at, f.vms[vm].last
    while at < last and f.events[at].ms <= now:
        at += 1
    f.vms[vm].at = at
    if at == last or f.events[at].shrink_ms == NEVER:
        return NEVER
    if guarantee == NO_SHRINK:
        return int(f.events[at].shrink_ms - now)
    for event in range(at, last):
        used, run = cores, s.vms[vm].oldest
        while run != NOBODY:
            guess = s.runs[run].guess if s.runs[run].guess > now else now + left_ms(s.runs[run].guess, now)
            if guess > f.events[event].ms:
                used += s.jobs[s.tasks[s.runs[run].task].job].cores
            run = s.runs[run].after
        if used > f.events[event].cores:
            return int(f.events[event].ms - now)
    return NEVER
