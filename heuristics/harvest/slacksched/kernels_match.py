"""Where a task is expected to be complete first (SlackSched, Algorithm 1, lines 2 to 12), and bounds that exclude most VMs.

What a task loses to shrinks, bounded from below by a table: of thousands of VMs nine in ten cannot be the best by it.

Rows are of lengths of tasks and columns of ages of VMs, first of those that grew last, then of those that shrank: an entry is of
all tasks that are as long as the row says or longer, and of all ages from one column to the next. With L and R as in
`kernels_engine`, since S falls, for ages e1 <= e <= e2 and e2 <= e1 + d

    L(e, d) >= P(x) / S(e1) (max(0, S(e2) - S(e1 + d)) (R(d) - d) + max(0, I(e1 + d) - I(e2) - (e1 + d - e2) S(e1 + d)))

Entries are computed when they are asked for first, and hold until the engine looks at the log again; 0 is not known yet.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.harvest.slacksched.kernels_engine import keep_fresh, look, loss_from, p_shrink, restart_loss
from schedgap.heuristics.harvest.slacksched.kernels_slots import column_of, left_ms, risk_ms, task_ms, waits_for
from schedgap.heuristics.harvest.slacksched.state import BLOCK, Matcher
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.jit import inlined_kernel, inner_kernel
from schedgap.instances.units import NEVER

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
