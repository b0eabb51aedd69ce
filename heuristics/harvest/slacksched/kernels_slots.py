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

from schedgap.heuristics.harvest.slacksched.state import BLOCK, Matcher
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
    demand = m.demands.of_job[s.tasks.job[task]]
    if m.demands.column[demand] == NOBODY:
        _look_after(s, m, demand)
    return int(m.demands.column[demand])


@inner_kernel
def _look_after(s: State, m: Matcher, demand: int) -> None:
    """Look after a demand from now on, instead of that which has been for longest where there are too many."""
    column = m.mark[0].next_column
    m.mark[0].next_column = (column + 1) % m.demands.of_column.shape[0]
    if m.demands.of_column[column] != NOBODY:
        m.demands.column[m.demands.of_column[column]] = NOBODY
    m.demands.of_column[column], m.demands.column[demand] = demand, column
    for vm in range(s.vms.size.shape[0]):
        m.demands.ready[column, vm] = _ready_ms(s, m, vm, m.demands.cores[demand], m.demands.memory[demand])


@inner_kernel
def keep_ready(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM whose slots have changed up to date."""
    for column in range(m.demands.of_column.shape[0]):
        demand = m.demands.of_column[column]
        if demand != NOBODY:
            m.demands.ready[column, vm] = _ready_ms(s, m, vm, m.demands.cores[demand], m.demands.memory[demand])


@inner_kernel
def _ready_ms(s: State, m: Matcher, vm: int, cores: int, memory: int) -> int:
    """Return from when on the slots of a VM suffice: 0 for now, NEVER if the VM is too small or takes no new tasks."""
    if s.vms.lease[vm] != LEASED or s.vms.size[vm] < max(cores, 1) or s.vms.memory[vm] < memory:
        return NEVER
    at = m.slots.first[vm]
    stop = at + m.slots.number[vm]
    free, free_memory = 0, 0
    while at < stop:
        free += m.slots.cores[at]
        free_memory += m.slots.memory[at]
        if free >= cores and free_memory >= memory:
            return int(m.slots.ms[at])
        at += 1
    return NEVER


@inlined_kernel
def waits_for(s: State, m: Matcher, vm: int, column: int) -> int:
    """Return in how many ms a VM has room for a task: 0 if it has now, NEVER if never."""
    ms = m.demands.ready[column, vm]
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
    return lasts_ms(s, task, work_left(s, task), checkpoints_every(s, s.tasks.job[task], m.options.free_every_ms, 0))


@inlined_kernel
def risk_ms(s: State, m: Matcher, task: int) -> int:
    """Return how much of a run of a waiting task a shrink can destroy: what is worked between two free checkpoints, else all."""
    ms, every = task_ms(s, m, task), checkpoints_every(s, s.tasks.job[task], m.options.free_every_ms, 0)
    return min(ms, every) if every > 0 else ms


@inner_kernel
def begin(s: State, m: Matcher, task: int, vm: int) -> None:
    """Start a task on a VM that it fits on."""
    place(s, task, vm, checkpoints_every(s, s.tasks.job[task], m.options.free_every_ms, 0))


@inner_kernel
def see(s: State, m: Matcher) -> None:
    """List the VMs that have changed since they were seen. O(V), mostly many VMs at a time."""
    now = s.clock[0].now
    for start in range(0, s.vms.size.shape[0], BLOCK):
        stop = min(start + BLOCK, s.vms.size.shape[0])
        differing = 0
        for vm in range(start, stop):
            differing += _differs(s, m, vm, now)
        for vm in range(start, stop if differing else start):
            if _differs(s, m, vm, now):
                touch(m, vm)


@inlined_kernel
def _differs(s: State, m: Matcher, vm: int, now: int) -> bool:
    """Return whether a VM, or the order of its slots, has changed since it was seen; without a branch."""
    return bool(
        (s.vms.used[vm] != m.seen.used[vm])
        | (s.vms.changed[vm] != m.seen.changed[vm])
        | (s.vms.size[vm] != m.seen.size[vm])
        | (s.vms.lease[vm] != m.seen.lease[vm])
        | (m.slots.turn_ms[vm] < now)
    )


@inlined_kernel
def touch(m: Matcher, vm: int) -> None:
    """Put a VM on the list of those touched."""
    if not m.touched.is_touched[vm]:
        m.touched.is_touched[vm] = 1
        m.touched.vm[m.mark[0].touched] = vm
        m.mark[0].touched += 1


@inner_kernel
def forget_touched(m: Matcher) -> int:
    """Empty the list of touched VMs into that of the offered ones, and return how many there were."""
    count = m.mark[0].touched
    for i in range(count):
        m.touched.offered[i] = m.touched.vm[i]
        m.touched.is_touched[m.touched.vm[i]] = 0
    m.mark[0].touched = 0
    return int(count)


@inner_kernel
def open_touched(s: State, m: Matcher) -> bool:
    """Bring the slots of VMs that have changed up to date; return whether any VM has room for a task of the least demand."""
    see(s, m)
    for i in range(forget_touched(m)):
        open_slots(s, m, m.touched.offered[i])
    found = False
    for vm in range(s.vms.size.shape[0]):
        found = found or has_room(s, vm, s.rules.least_cores, s.rules.least_memory)
    return found


@inner_kernel
def open_slots(s: State, m: Matcher, vm: int) -> None:
    """Set the slots of a VM to what its runs leave, and note that it has been seen. O(K^2) with K runs on it."""
    m.seen.size[vm], m.seen.used[vm] = s.vms.size[vm], s.vms.used[vm]
    m.seen.changed[vm], m.seen.lease[vm] = s.vms.changed[vm], s.vms.lease[vm]
    first = m.slots.first[vm]
    m.slots.number[vm] = 1
    m.slots.ms[first] = 0
    m.slots.cores[first] = s.vms.size[vm] - s.vms.used[vm]
    m.slots.memory[first] = s.vms.memory[vm] - s.vms.used_memory[vm]
    run = s.vms.oldest[vm]
    while run != NOBODY:
        job = s.tasks.job[s.runs.task[run]]
        _add_slot(s, m, vm, s.runs.guess[run], s.jobs.cores[job], s.jobs.memory[job])
        run = s.runs.after[run]
    _keep(s, m, vm)


@inner_kernel
def _add_slot(s: State, m: Matcher, vm: int, ms: int, cores: int, memory: int) -> None:
    """Note that a VM has so much more from an estimated moment on."""
    first, now = m.slots.first[vm], s.clock[0].now
    at, left = first + m.slots.number[vm], left_ms(ms, now)
    m.slots.number[vm] += 1
    while at - 1 > first and left_ms(m.slots.ms[at - 1], now) > left:
        m.slots.ms[at] = m.slots.ms[at - 1]
        m.slots.cores[at] = m.slots.cores[at - 1]
        m.slots.memory[at] = m.slots.memory[at - 1]
        at -= 1
    m.slots.ms[at], m.slots.cores[at], m.slots.memory[at] = ms, cores, memory


@inner_kernel
def _keep(s: State, m: Matcher, vm: int) -> None:
    """Bring what is known of a VM's slots up to date: from when on they suffice, and until when their order holds."""
    m.slots.turn_ms[vm] = NEVER
    for at in range(m.slots.first[vm] + 1, m.slots.first[vm] + m.slots.number[vm] - 1):
        m.slots.turn_ms[vm] = min(m.slots.turn_ms[vm], turns_ms(m.slots.ms[at], m.slots.ms[at + 1]))
    keep_ready(s, m, vm)


@inner_kernel
def take_slots(s: State, m: Matcher, vm: int, cores: int, memory: int, until: int) -> None:
    """Give a task the earliest slots that suffice, up to a moment at which it leaves them."""
    first = m.slots.first[vm]
    stop = first + m.slots.number[vm]
    at, kept = first, first
    missing, missing_memory, spare = cores, memory, 0
    while at < stop:
        taken = min(m.slots.cores[at], missing)
        missing -= taken
        left = m.slots.cores[at] - taken
        left_memory = m.slots.memory[at] + spare
        taken = min(left_memory, missing_memory)
        missing_memory -= taken
        left_memory -= taken
        # Memory that is left without a core is worth nothing before the next slot.
        spare = 0
        if left == 0 and at > first and at + 1 < stop:
            spare = left_memory
        else:
            m.slots.ms[kept], m.slots.cores[kept], m.slots.memory[kept] = m.slots.ms[at], left, left_memory
            kept += 1
        at += 1
    m.slots.number[vm] = kept - first
    _add_slot(s, m, vm, until, cores, memory)
    _keep(s, m, vm)
