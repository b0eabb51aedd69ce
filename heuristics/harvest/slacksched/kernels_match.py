"""Where a task is expected to be complete first (SlackSched, Algorithm 1, lines 2 to 12), and bounds that exclude most VMs.

What a task loses to shrinks, bounded from below by a table: of thousands of VMs nine in ten cannot be the best by it.

Rows are of lengths of tasks and columns of ages of VMs, first of those that grew last, then of those that shrank: an entry is of
all tasks that are as long as the row says or longer, and of all ages from one column to the next. With L and R as in
`kernels_engine`, since S falls, for ages e1 <= e <= e2 and e2 <= e1 + d

    L(e, d) >= P(x) / S(e1) (max(0, S(e2) - S(e1 + d)) (R(d) - d) + max(0, I(e1 + d) - I(e2) - (e1 + d - e2) S(e1 + d)))

Entries are computed when they are asked for first, and hold until the engine looks at the log again; 0 is not known yet.

When each VM has room for a task, by the estimates of its runs and what is planned for it: slots of cores and memory.

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

from schedgap.heuristics.harvest.slacksched.kernels_engine import keep_fresh, look, loss_from, p_shrink, restart_loss
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


# Rows are of lengths from a minute on, each so many times the one before.
SHORTEST_MS, RATIO = 60_000.0, 1.03
# Ages of columns are this far apart up to the middle of the table, and 16 times as far from there on.
FINE_MS, COARSE_MS = 10_000.0, 160_000.0
# A bound is lowered by more than it, and sums of it and times, may be off by rounding, so that it excludes no equal.
ROUNDING, ROUNDING_MS = 1.0 - 1e-9, 1e-3
# What is known is more than what is not.
UNKNOWN, LEAST = 0.0, 1e-300


@inner_kernel
def learn(s: State, m: Matcher) -> bool:
    """Let the engine look at the log if it is time to, forget the bounds of what it saw before, and return whether it was."""
    if not keep_fresh(s, m.engine):
        return False
    for row in range(m.bound.shape[0]):
        for column in range(m.bound.shape[1]):
            m.bound[row, column] = UNKNOWN
    return True


@inner_kernel
def row_of(m: Matcher, d: float) -> int:
    """Return the row for tasks of that length, or `NOBODY` for none."""
    if m.bound.shape[0] == 0 or d < SHORTEST_MS:
        return NOBODY
    # Rounding may put a length that a row begins with into the row before, which only makes its bound weaker.
    row = min(int(np.log(d / SHORTEST_MS * ROUNDING) / np.log(RATIO)), m.bound.shape[0] - 1)
    return int(max(row, NOBODY))


@inlined_kernel
def _column(m: Matcher, x: int, age: float) -> np.int32:
    """Return the column of a direction and an age; the last one of a direction is of all that are older."""
    ages = m.bound.shape[1] >> 1
    half = float(ages >> 1)
    # Divisions take longer than all the rest.
    fine = age * (1.0 / FINE_MS)
    coarse = half + (age - half * FINE_MS) * (1.0 / COARSE_MS)
    # Of 32 bits, which compilers turn many floats at a time into.
    return np.int32(x * ages) + np.int32(min(fine if fine < half else coarse, ages - 1.0))


@inlined_kernel
def lost_at_least(m: Matcher, row: int, x: int, age: float) -> float:
    """Return the bound of what a task of a row loses on a VM whose last change went in direction x."""
    if row == NOBODY:
        return 0.0
    column = _column(m, x, age)
    if m.bound[row, column] == UNKNOWN:
        m.bound[row, column] = max(_bound(m, row, x, column - x * (m.bound.shape[1] >> 1)) - ROUNDING_MS, LEAST)
    return float(m.bound[row, column])


@inner_kernel
def _bound(m: Matcher, row: int, x: int, column: int) -> float:
    """Compute an entry of the table."""
    ages = m.bound.shape[1] >> 1
    half = ages >> 1
    width = FINE_MS if column < half else COARSE_MS
    youngest = column * width if column < half else half * FINE_MS + (column - half) * width
    oldest, d = youngest + width, SHORTEST_MS * RATIO**row
    if column == ages - 1 or oldest > youngest + d:
        return 0.0
    first, _ = look(m.engine, youngest)
    survival, integral = look(m.engine, oldest)
    last, last_integral = look(m.engine, youngest + d)
    started = max(last_integral - integral - (youngest + d - oldest) * last, 0.0)
    lost = max(survival - last, 0.0) * restart_loss(m.engine, d) + started
    return float(ROUNDING * p_shrink(m.engine, x) * lost / first)


@inner_kernel
def set_lower(s: State, m: Matcher, row: int, ready: int) -> None:
    """Set `lower` to what is known of each VM: how long tasks of that row of `ready` wait, and the least that they lose.

    Without a branch in the loops, which compilers make for many VMs at a time.
    """
    now, ready_ms = s.clock[0].now, m.ready[ready]
    for vm in range(s.vms.shape[0]):
        m.lower[vm] = 0.0 if ready_ms[vm] == 0 else float(left_ms(ready_ms[vm], now))
    if row == NOBODY:
        return
    for vm in range(s.vms.shape[0]):
        m.cell[vm] = _column(m, m.since[vm] & 1, now - (m.since[vm] >> 1) + m.lower[vm])
    bound = m.bound[row]
    for vm in range(s.vms.shape[0]):
        m.lower[vm] += bound[m.cell[vm]]


@inner_kernel
def best_vm(s: State, m: Matcher, task: int) -> tuple[int, float]:
    """Return the VM on which a task is expected to be complete first, and in how many ms; the first of equals, or `NOBODY`.

    O(V) with two look-ups of S and I for each VM that the bounds do not exclude. The best VM of the task before is looked at
    first, so that most are excluded.
    """
    now, d, risk = s.clock[0].now, float(task_ms(s, m, task)), float(risk_ms(s, m, task))
    again, row, column = restart_loss(m.engine, risk), row_of(m, risk), column_of(s, m, task)
    set_lower(s, m, row, column)
    best, best_ms = NOBODY, np.inf
    first = m.mark[0].last_best
    if m.ready[column, first] != NEVER:
        best, best_ms = first, d + _extra_ms(s, m, first, risk, again, column)
    for start in range(0, s.vms.shape[0], BLOCK):
        stop = min(start + BLOCK, s.vms.shape[0])
        if not _any_below(m, start, stop, d, best_ms):
            continue
        for vm in range(start, stop):
            if m.lower[vm] + d > best_ms or m.ready[column, vm] == NEVER:
                continue
            wait = waits_for(s, m, vm, column)
            if wait + d + lost_at_least(m, row, s.vms[vm].direction, float(now - s.vms[vm].changed + wait)) > best_ms:
                continue
            ms = d + _extra_ms(s, m, vm, risk, again, column)
            if ms < best_ms or (ms == best_ms and vm < best):
                best, best_ms = vm, ms
    if best != NOBODY:
        m.mark[0].last_best = best
    return best, best_ms


@inlined_kernel
def _any_below(m: Matcher, start: int, stop: int, d: float, ms: float) -> bool:
    """Return whether any of the VMs may be as good as that; without a branch in the loop."""
    count = 0
    for vm in range(start, stop):
        count += m.lower[vm] + d <= ms
    return count > 0


@inlined_kernel
def _extra_ms(s: State, m: Matcher, vm: int, risk: float, again: float, column: int) -> float:
    """Return how long a task waits for a VM and what it loses there."""
    wait = waits_for(s, m, vm, column)
    return wait + loss_from(
        m.engine, s.vms[vm].direction, float(s.clock[0].now - s.vms[vm].changed + wait), risk, again
    )


@inner_kernel
def expected_ms(s: State, m: Matcher, task: int, vm: int, wait: int) -> float:
    """Return in how many ms a task is expected to be complete that waits for a VM for `wait` ms."""
    risk = float(risk_ms(s, m, task))
    age = float(s.clock[0].now - s.vms[vm].changed + wait)
    return (
        wait + task_ms(s, m, task) + loss_from(m.engine, s.vms[vm].direction, age, risk, restart_loss(m.engine, risk))
    )
