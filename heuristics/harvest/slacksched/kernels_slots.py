"""When each VM has room for a task, by the estimates of its runs and what is planned for it: slots of cores and memory.

A VM's slots lie in order of time: the first is what is free now, each other one what a run or a planned task leaves. A task
takes the earliest slots that suffice, from the end of the last of them on. So what is free is not filled while a task waits for
more, which keeps a slot a number and every step linear in the slots of one VM.

A slot's moment is what was estimated, even if it has passed: how late a run is says how long it is taken to need (`left_ms`).
A late run falls behind others then, at a moment that is known: the VM is opened anew.

From when on each VM has room for a task is kept for the demands that tasks had last, so that most look-ups are one number. A VM
that changes costs O(K) for each demand that is looked after, K slots of the VM; a demand that is not yet, O(V K).
"""

from __future__ import annotations

import numpy as np

# At run time, too: what is compiled depends on the fields.
from schedgap.heuristics.harvest.slacksched.state import Matcher  # noqa: TC001
from schedgap.instances.harvest.simulator.events import OVERDUE_MS, has_room, lasts_ms, place, work_left
from schedgap.instances.harvest.simulator.plain import checkpoints_every
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, State
from schedgap.instances.jit import inlined_kernel, inner_kernel
from schedgap.instances.units import NEVER

# Late runs are taken to need so many times as long as they are late. With estimates up to a quarter too short it hardly matters
# how many; with worse ones, tasks that take late runs to end soon wait for them again and again.
LATE = 8


@inner_kernel
def column_of(s: State, m: Matcher, task: int) -> int:
    """Return the row of `ready` for tasks of that demand."""
    demand = m.plans[task].demand
    if m.demands[demand].column == NOBODY:
        _look_after(s, m, demand)
    return int(m.demands[demand].column)


@inner_kernel
def _look_after(s: State, m: Matcher, demand: int) -> None:
    """Look after a demand from now on, instead of that which has been for longest where there are too many."""
    column = m.mark[0].next_column
    m.mark[0].next_column = (column + 1) % m.ready.shape[0]
    if m.demands[column].of_column != NOBODY:
        m.demands[m.demands[column].of_column].column = NOBODY
    m.demands[column].of_column, m.demands[demand].column = demand, column
    for vm in range(s.vms.shape[0]):
        m.ready[column, vm] = _ready_ms(s, m, vm, m.demands[demand].cores, m.demands[demand].memory)


@inner_kernel
def keep_ready(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM whose slots have changed up to date."""
    for column in range(m.ready.shape[0]):
        demand = m.demands[column].of_column
        if demand != NOBODY:
            m.ready[column, vm] = _ready_ms(s, m, vm, m.demands[demand].cores, m.demands[demand].memory)


@inner_kernel
def _ready_ms(s: State, m: Matcher, vm: int, cores: int, memory: int) -> int:
    """Return from when on the slots of a VM suffice: 0 for now, NEVER if the VM is too small or takes no new tasks."""
    if s.vms[vm].lease != LEASED or s.vms[vm].cores < max(cores, 1) or s.vms[vm].memory < memory:
        return NEVER
    at = m.vms[vm].first_slot
    stop = at + m.vms[vm].num_slots
    free, free_memory = 0, 0
    while at < stop:
        free += m.slots[at].cores
        free_memory += m.slots[at].memory
        if free >= cores and free_memory >= memory:
            return int(m.slots[at].ms)
        at += 1
    return NEVER


@inlined_kernel
def waits_for(s: State, m: Matcher, vm: int, column: int) -> int:
    """Return in how many ms a VM has room for a task: 0 if it has now, NEVER if never."""
    ms = m.ready[column, vm]
    return int(ms) if ms == 0 or ms == NEVER else int(left_ms(ms, s.clock[0].now))


@inlined_kernel
def left_ms(ms: int, now: int) -> int:
    """Return in how many ms a run ends that was estimated to at `ms`; late ones take the longer the later they are."""
    return max(ms - now, LATE * max(now - ms, 0), OVERDUE_MS)


@inlined_kernel
def turns_ms(ms: int, other: int) -> int:
    """Return up to when a run estimated to end at `ms` has no more left than one estimated to end at `other`; NEVER for always.

    It is late first: LATE (t - ms) = other - t. Of two late ones the earlier estimate is always the later.
    """
    return (LATE * ms + other) // (LATE + 1) if ms < other else NEVER


@inlined_kernel
def task_ms(s: State, m: Matcher, task: int) -> int:
    """Return how long a run of a waiting task is estimated to take."""
    return lasts_ms(s, task, work_left(s, task), checkpoints_every(s, s.tasks[task].job, m.options.free_every_ms, 0))


@inlined_kernel
def risk_ms(s: State, m: Matcher, task: int) -> int:
    """Return how much of a run of a waiting task a shrink can destroy: what is worked between two free checkpoints, else all."""
    ms, every = task_ms(s, m, task), checkpoints_every(s, s.tasks[task].job, m.options.free_every_ms, 0)
    return min(ms, every) if every > 0 else ms


@inner_kernel
def begin(s: State, m: Matcher, task: int, vm: int) -> None:
    """Start a task on a VM that it fits on."""
    place(s, task, vm, checkpoints_every(s, s.tasks[task].job, m.options.free_every_ms, 0))


@inner_kernel
def see(s: State, m: Matcher) -> None:
    """List the VMs that have changed, or the order of whose slots has, since they were seen. O(V / 64 + B) for B blocks of them.

    The former are noted; the latter are looked for without a branch, which compilers make for many VMs at a time.
    """
    now = s.clock[0].now
    for block in range(s.noted.shape[0]):
        start, stop = block << 6, min((block + 1) << 6, s.vms.shape[0])
        turned = 0
        for vm in range(start, stop):
            turned += m.turn_ms[vm] < now
        if turned > 0 or s.noted[block] != np.uint64(0):
            s.noted[block] = np.uint64(0)
            for vm in range(start, stop):
                if _differs(s, m, vm, now):
                    touch(m, vm)


@inlined_kernel
def _differs(s: State, m: Matcher, vm: int, now: int) -> bool:
    """Return whether a VM, or the order of its slots, has changed since it was seen."""
    is_same = s.vms[vm].used == m.vms[vm].used and s.vms[vm].changed == m.vms[vm].changed
    is_same = is_same and s.vms[vm].cores == m.vms[vm].cores and s.vms[vm].lease == m.vms[vm].lease
    return bool(not is_same or m.turn_ms[vm] < now)


@inlined_kernel
def touch(m: Matcher, vm: int) -> None:
    """Put a VM on the list of those touched."""
    if not m.vms[vm].is_touched:
        m.vms[vm].is_touched = 1
        m.vms[m.mark[0].touched].touched = vm
        m.mark[0].touched += 1


@inner_kernel
def forget_touched(m: Matcher) -> int:
    """Empty the list of touched VMs into that of the offered ones, and return how many there were."""
    count = m.mark[0].touched
    for i in range(count):
        m.vms[i].offered = m.vms[i].touched
        m.vms[m.vms[i].touched].is_touched = 0
    m.mark[0].touched = 0
    return int(count)


@inner_kernel
def open_touched(s: State, m: Matcher) -> bool:
    """Bring the slots of VMs that have changed up to date; return whether any VM has room for a task of the least demand."""
    see(s, m)
    for i in range(forget_touched(m)):
        open_slots(s, m, m.vms[i].offered)
    found = False
    for vm in range(s.vms.shape[0]):
        found = found or has_room(s, vm, s.rules.least_cores, s.rules.least_memory)
    return found


@inner_kernel
def open_slots(s: State, m: Matcher, vm: int) -> None:
    """Set the slots of a VM to what its runs leave, and note that it has been seen. O(K^2) with K runs on it."""
    m.vms[vm].cores, m.vms[vm].used = s.vms[vm].cores, s.vms[vm].used
    m.vms[vm].changed, m.vms[vm].lease = s.vms[vm].changed, s.vms[vm].lease
    m.since[vm] = s.vms[vm].changed << 1 | s.vms[vm].direction
    first = m.vms[vm].first_slot
    m.vms[vm].num_slots = 1
    m.slots[first].ms = 0
    m.slots[first].cores = s.vms[vm].cores - s.vms[vm].used
    m.slots[first].memory = s.vms[vm].memory - s.vms[vm].used_memory
    run = s.vms[vm].oldest
    while run != NOBODY:
        job = s.tasks[s.runs[run].task].job
        _add_slot(s, m, vm, s.runs[run].guess, s.jobs[job].cores, s.jobs[job].memory)
        run = s.runs[run].after
    _keep(s, m, vm)


@inner_kernel
def _add_slot(s: State, m: Matcher, vm: int, ms: int, cores: int, memory: int) -> None:
    """Note that a VM has so much more from an estimated moment on."""
    first, now = m.vms[vm].first_slot, s.clock[0].now
    at, left = first + m.vms[vm].num_slots, left_ms(ms, now)
    m.vms[vm].num_slots += 1
    while at - 1 > first and left_ms(m.slots[at - 1].ms, now) > left:
        m.slots[at].ms = m.slots[at - 1].ms
        m.slots[at].cores = m.slots[at - 1].cores
        m.slots[at].memory = m.slots[at - 1].memory
        at -= 1
    m.slots[at].ms, m.slots[at].cores, m.slots[at].memory = ms, cores, memory


@inner_kernel
def _keep(s: State, m: Matcher, vm: int) -> None:
    """Bring what is known of a VM's slots up to date: from when on they suffice, and until when their order holds."""
    m.turn_ms[vm] = NEVER
    for at in range(m.vms[vm].first_slot + 1, m.vms[vm].first_slot + m.vms[vm].num_slots - 1):
        m.turn_ms[vm] = min(m.turn_ms[vm], turns_ms(m.slots[at].ms, m.slots[at + 1].ms))
    keep_ready(s, m, vm)


@inner_kernel
def take_slots(s: State, m: Matcher, vm: int, cores: int, memory: int, until: int) -> None:
    """Give a task the earliest slots that suffice, up to a moment at which it leaves them."""
    first = m.vms[vm].first_slot
    stop = first + m.vms[vm].num_slots
    at, kept = first, first
    missing, missing_memory, spare = cores, memory, 0
    while at < stop:
        taken = min(m.slots[at].cores, missing)
        missing -= taken
        left = m.slots[at].cores - taken
        left_memory = m.slots[at].memory + spare
        taken = min(left_memory, missing_memory)
        missing_memory -= taken
        left_memory -= taken
        # Memory that is left without a core is worth nothing before the next slot.
        spare = 0
        if left == 0 and at > first and at + 1 < stop:
            spare = left_memory
        else:
            m.slots[kept].ms, m.slots[kept].cores, m.slots[kept].memory = m.slots[at].ms, left, left_memory
            kept += 1
        at += 1
    m.vms[vm].num_slots = kept - first
    _add_slot(s, m, vm, until, cores, memory)
    _keep(s, m, vm)
