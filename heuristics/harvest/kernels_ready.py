"""From when on each VM has room for a task: kept for the demands that tasks had last, so that most look-ups are one number.

A VM that changes costs O(K) for each demand that is looked after, K slots of the VM; a demand that is not yet, O(V K).
"""

from __future__ import annotations

from schedgap.heuristics.harvest.kernels_matcher import NEXT_COLUMN, Matcher
from schedgap.instances.harvest.kernels_events import OVERDUE_MS
from schedgap.instances.harvest.kernels_state import LEASED, NEVER, NOBODY, NOW, State
from schedgap.instances.jit import inlined_kernel, inner_kernel

# Late runs are taken to need so many times as long as they are late. With estimates up to a quarter too short it hardly matters
# how many; with worse ones, tasks that take late runs to end soon wait for them again and again.
LATE = 8


@inner_kernel
def column_of(s: State, m: Matcher, task: int) -> int:
    """Return the row of `ready` for tasks of that demand."""
    demand = m.demand[s.task2job[task]]
    if m.demand_column[demand] == NOBODY:
        _look_after(s, m, demand)
    return int(m.demand_column[demand])


@inner_kernel
def _look_after(s: State, m: Matcher, demand: int) -> None:
    """Look after a demand from now on, instead of that which has been for longest where there are too many."""
    column = m.mark[NEXT_COLUMN]
    m.mark[NEXT_COLUMN] = (column + 1) % m.column_demand.shape[0]
    if m.column_demand[column] != NOBODY:
        m.demand_column[m.column_demand[column]] = NOBODY
    m.column_demand[column], m.demand_column[demand] = demand, column
    for vm in range(s.size.shape[0]):
        m.ready[column, vm] = _ready_ms(s, m, vm, m.demand_cores[demand], m.demand_memory[demand])


@inner_kernel
def keep_ready(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM whose slots have changed up to date."""
    for column in range(m.column_demand.shape[0]):
        demand = m.column_demand[column]
        if demand != NOBODY:
            m.ready[column, vm] = _ready_ms(s, m, vm, m.demand_cores[demand], m.demand_memory[demand])


@inner_kernel
def _ready_ms(s: State, m: Matcher, vm: int, cores: int, memory: int) -> int:
    """Return from when on the slots of a VM suffice: 0 for now, NEVER if the VM is too small or takes no new tasks."""
    if s.lease[vm] != LEASED or s.size[vm] < max(cores, 1) or s.vm_memory[vm] < memory:
        return NEVER
    at = m.first_slot[vm]
    stop = at + m.slots[vm]
    free, free_memory = 0, 0
    while at < stop:
        free += m.slot_cores[at]
        free_memory += m.slot_memory[at]
        if free >= cores and free_memory >= memory:
            return int(m.slot_ms[at])
        at += 1
    return NEVER


@inlined_kernel
def waits_for(s: State, m: Matcher, vm: int, column: int) -> int:
    """Return in how many ms a VM has room for a task: 0 if it has now, NEVER if never."""
    ms = m.ready[column, vm]
    return int(ms) if ms == 0 or ms == NEVER else int(left_ms(ms, s.clock[NOW]))


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
