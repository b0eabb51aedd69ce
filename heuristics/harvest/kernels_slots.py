"""When each VM has room for a task, by the estimates of its runs and what is planned for it: slots of cores and memory.

A VM's slots lie in order of time: the first is what is free now, each other one what a run or a planned task leaves. A task
takes the earliest slots that suffice, from the end of the last of them on. So what is free is not filled while a task waits for
more, which keeps a slot a number and every step linear in the slots of one VM.

A slot's moment is what was estimated, even if it has passed: how late a run is says how long it is taken to need (`left_ms`).
A late run falls behind others then, at a moment that is known: the VM is opened anew.
"""

from __future__ import annotations

from schedgap.heuristics.harvest.kernels_losses import row_of
from schedgap.heuristics.harvest.kernels_matcher import BLOCK, FREE_EVERY_MS, PLANNED, TOUCHED, Matcher
from schedgap.heuristics.harvest.kernels_ready import keep_ready, left_ms, turns_ms
from schedgap.instances.harvest.kernels_events import has_room, lasts_ms, place, work_left
from schedgap.instances.harvest.kernels_plain import checkpoints_every
from schedgap.instances.harvest.kernels_state import LEAST_CORES, LEAST_MEMORY, NEVER, NOBODY, NOW, State
from schedgap.instances.jit import inlined_kernel, inner_kernel


@inlined_kernel
def task_ms(s: State, m: Matcher, task: int) -> int:
    """Return how long a run of a waiting task is estimated to take."""
    return lasts_ms(s, task, work_left(s, task), checkpoints_every(s, s.task2job[task], m.option[FREE_EVERY_MS], 0))


@inlined_kernel
def risk_ms(s: State, m: Matcher, task: int) -> int:
    """Return how much of a run of a waiting task a shrink can destroy: what is worked between two free checkpoints, else all."""
    ms, every = task_ms(s, m, task), checkpoints_every(s, s.task2job[task], m.option[FREE_EVERY_MS], 0)
    return min(ms, every) if every > 0 else ms


@inner_kernel
def begin(s: State, m: Matcher, task: int, vm: int) -> None:
    """Start a task on a VM that it fits on."""
    place(s, task, vm, checkpoints_every(s, s.task2job[task], m.option[FREE_EVERY_MS], 0))


@inner_kernel
def see(s: State, m: Matcher) -> None:
    """List the VMs that have changed since they were seen. O(V), mostly many VMs at a time."""
    now = s.clock[NOW]
    for start in range(0, s.size.shape[0], BLOCK):
        stop = min(start + BLOCK, s.size.shape[0])
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
        (s.used[vm] != m.seen_used[vm])
        | (s.changed[vm] != m.seen_changed[vm])
        | (s.size[vm] != m.seen_size[vm])
        | (s.lease[vm] != m.seen_lease[vm])
        | (m.turn_ms[vm] < now)
    )


@inlined_kernel
def touch(m: Matcher, vm: int) -> None:
    """Put a VM on the list of those touched."""
    if not m.is_touched[vm]:
        m.is_touched[vm] = 1
        m.touched[m.mark[TOUCHED]] = vm
        m.mark[TOUCHED] += 1


@inner_kernel
def forget_touched(m: Matcher) -> int:
    """Empty the list of touched VMs into that of the offered ones, and return how many there were."""
    count = m.mark[TOUCHED]
    for i in range(count):
        m.offered[i] = m.touched[i]
        m.is_touched[m.touched[i]] = 0
    m.mark[TOUCHED] = 0
    return int(count)


@inner_kernel
def open_touched(s: State, m: Matcher) -> bool:
    """Bring the slots of VMs that have changed up to date; return whether any VM has room for a task of the least demand."""
    see(s, m)
    for i in range(forget_touched(m)):
        open_slots(s, m, m.offered[i])
    found = False
    for vm in range(s.size.shape[0]):
        found = found or has_room(s, vm, s.option[LEAST_CORES], s.option[LEAST_MEMORY])
    return found


@inner_kernel
def open_slots(s: State, m: Matcher, vm: int) -> None:
    """Set the slots of a VM to what its runs leave, and note that it has been seen. O(K^2) with K runs on it."""
    m.seen_size[vm], m.seen_used[vm] = s.size[vm], s.used[vm]
    m.seen_changed[vm], m.seen_lease[vm] = s.changed[vm], s.lease[vm]
    first = m.first_slot[vm]
    m.slots[vm] = 1
    m.slot_ms[first] = 0
    m.slot_cores[first] = s.size[vm] - s.used[vm]
    m.slot_memory[first] = s.vm_memory[vm] - s.used_memory[vm]
    run = s.oldest[vm]
    while run != NOBODY:
        job = s.task2job[s.run_task[run]]
        _add_slot(s, m, vm, s.run_guess[run], s.cores[job], s.memory[job])
        run = s.after[run]
    _keep(s, m, vm)


@inner_kernel
def _add_slot(s: State, m: Matcher, vm: int, ms: int, cores: int, memory: int) -> None:
    """Note that a VM has so much more from an estimated moment on."""
    first, now = m.first_slot[vm], s.clock[NOW]
    at, left = first + m.slots[vm], left_ms(ms, now)
    m.slots[vm] += 1
    while at - 1 > first and left_ms(m.slot_ms[at - 1], now) > left:
        m.slot_ms[at] = m.slot_ms[at - 1]
        m.slot_cores[at] = m.slot_cores[at - 1]
        m.slot_memory[at] = m.slot_memory[at - 1]
        at -= 1
    m.slot_ms[at], m.slot_cores[at], m.slot_memory[at] = ms, cores, memory


@inner_kernel
def _keep(s: State, m: Matcher, vm: int) -> None:
    """Bring what is known of a VM's slots up to date: from when on they suffice, and until when their order holds."""
    m.turn_ms[vm] = NEVER
    for at in range(m.first_slot[vm] + 1, m.first_slot[vm] + m.slots[vm] - 1):
        m.turn_ms[vm] = min(m.turn_ms[vm], turns_ms(m.slot_ms[at], m.slot_ms[at + 1]))
    keep_ready(s, m, vm)


@inner_kernel
def take_slots(s: State, m: Matcher, vm: int, cores: int, memory: int, until: int) -> None:
    """Give a task the earliest slots that suffice, up to a moment at which it leaves them."""
    first = m.first_slot[vm]
    stop = first + m.slots[vm]
    at, kept = first, first
    missing, missing_memory, spare = cores, memory, 0
    while at < stop:
        taken = min(m.slot_cores[at], missing)
        missing -= taken
        left = m.slot_cores[at] - taken
        left_memory = m.slot_memory[at] + spare
        taken = min(left_memory, missing_memory)
        missing_memory -= taken
        left_memory -= taken
        # Memory that is left without a core is worth nothing before the next slot.
        spare = 0
        if left == 0 and at > first and at + 1 < stop:
            spare = left_memory
        else:
            m.slot_ms[kept], m.slot_cores[kept], m.slot_memory[kept] = m.slot_ms[at], left, left_memory
            kept += 1
        at += 1
    m.slots[vm] = kept - first
    _add_slot(s, m, vm, until, cores, memory)
    _keep(s, m, vm)


@inner_kernel
def add_plan(s: State, m: Matcher, task: int, vm: int, end: float) -> None:
    """Plan a task for a VM, after all others that are; `NOWHERE` is a plan too."""
    m.mark[PLANNED] += 1
    m.plan_vm[task], m.plan_end[task], m.next_planned[task] = vm, end, NOBODY
    m.plan_ms[task] = task_ms(s, m, task)
    m.plan_row[task] = row_of(m, risk_ms(s, m, task))
    if vm < 0:
        return
    if m.first_planned[vm] == NOBODY:
        m.first_planned[vm] = task
    else:
        m.next_planned[m.last_planned[vm]] = task
    m.last_planned[vm] = task


@inner_kernel
def drop_plan(m: Matcher, task: int) -> None:
    """Forget the plan of a task. O(Q) with Q tasks planned for its VM."""
    m.mark[PLANNED] -= 1
    vm = m.plan_vm[task]
    m.plan_vm[task] = NOBODY
    if vm < 0:
        return
    before, other = NOBODY, m.first_planned[vm]
    while other != task:
        before, other = other, m.next_planned[other]
    if before == NOBODY:
        m.first_planned[vm] = m.next_planned[task]
    else:
        m.next_planned[before] = m.next_planned[task]
    if m.last_planned[vm] == task:
        m.last_planned[vm] = before


@inner_kernel
def drop_plans(m: Matcher, vm: int) -> None:
    """Forget all that is planned for a VM."""
    task = m.first_planned[vm]
    while task != NOBODY:
        m.plan_vm[task] = NOBODY
        m.mark[PLANNED] -= 1
        task = m.next_planned[task]
    m.first_planned[vm] = NOBODY
    m.last_planned[vm] = NOBODY
