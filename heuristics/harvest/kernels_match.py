"""Where a task is expected to be complete first (SlackSched, Algorithm 1, lines 2 to 12).

What a task loses to shrinks is bounded from below by a table, whose rows are of lengths of tasks and columns of ages of VMs: an
entry is of all tasks that are as long as the row says or longer, and of all ages from one column to the next. With L and R as in
`kernels_engine`, since S falls, for ages e1 <= e <= e2 and e2 <= e1 + d

    L(e, d) >= P(x) / S(e1) (max(0, S(e2) - S(e1 + d)) (R(d) - d) + max(0, I(e1 + d) - I(e2) - (e1 + d - e2) S(e1 + d)))

Entries are computed when they are asked for first, and hold until the engine looks at the log again. Of thousands of VMs nine
in ten cannot be the best by them.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.harvest.kernels_engine import NEXT_REFRESH, P_SHRINK, look, loss_from, restart_loss
from schedgap.heuristics.harvest.kernels_slots import (
    BOUNDS_OF,
    LAST_BEST,
    Matcher,
    is_large_enough,
    task_ms,
    waits_for,
)
from schedgap.instances.harvest.kernels_state import NEVER, NOBODY, NOW, State
from schedgap.instances.jit import inlined_kernel, inner_kernel

# Rows are of lengths from a minute on, each so many times the one before.
SHORTEST_MS, RATIO = 60_000.0, 1.1
# Ages of columns are this far apart up to the middle of the table, and 16 times as far from there on.
FINE_MS, COARSE_MS = 10_000, 160_000
# A bound is lowered by more than it may be off by rounding.
ROUNDING = 1.0 - 1e-9


@inner_kernel
def best_vm(s: State, m: Matcher, task: int) -> tuple[int, float]:
    """Return the VM on which a task is expected to be complete first, and in how many ms; the first of equals, or `NOBODY`.

    O(V) with three look-ups of S and I for each VM that the bounds do not exclude. The best VM of the task before is looked at
    first, so that most are excluded.
    """
    job = s.task2job[task]
    cores, memory, now = s.cores[job], s.memory[job], s.clock[NOW]
    d = float(task_ms(s, m, task))
    again = restart_loss(m.engine, d)
    row = _row(m, d)
    best, best_ms = NOBODY, np.inf
    for i in range(-1, s.size.shape[0]):
        vm = m.mark[LAST_BEST] if i < 0 else i
        if not is_large_enough(s, vm, cores, memory):
            continue
        wait, at = 0, m.first_slot[vm]
        if m.slot_cores[at] < cores or m.slot_memory[at] < memory:
            # Nothing more is free before the second slot.
            if m.slots[vm] == 1 or m.slot_ms[at + 1] - now + d > best_ms:
                continue
            wait = waits_for(s, m, vm, cores, memory)
            if wait == NEVER or wait + d > best_ms:
                continue
        x, age = s.direction[vm], now - s.changed[vm] + wait
        if row >= 0 and wait + d + m.engine.number[P_SHRINK + x] * _bound(m, row, age) > best_ms:
            continue
        ms = wait + d + loss_from(m.engine, x, float(age), d, again)
        if ms < best_ms or (ms == best_ms and vm < best):
            best, best_ms = vm, ms
    if best != NOBODY:
        m.mark[LAST_BEST] = best
    return best, best_ms


@inner_kernel
def expected_ms(s: State, m: Matcher, task: int, vm: int, wait: int) -> float:
    """Return in how many ms a task is expected to be complete that waits for a VM for `wait` ms."""
    d = float(task_ms(s, m, task))
    age = float(s.clock[NOW] - s.changed[vm] + wait)
    return wait + d + loss_from(m.engine, s.direction[vm], age, d, restart_loss(m.engine, d))


@inner_kernel
def _row(m: Matcher, d: float) -> int:
    """Return the row of the table for tasks of that length, or `NOBODY`; forget bounds of what was seen before."""
    if m.bound.shape[0] == 0 or d < SHORTEST_MS:
        return NOBODY
    if m.mark[BOUNDS_OF] != m.engine.mark[NEXT_REFRESH]:
        m.mark[BOUNDS_OF] = m.engine.mark[NEXT_REFRESH]
        for row in range(m.bound.shape[0]):
            for column in range(m.bound.shape[1]):
                m.bound[row, column] = -1.0
    # Rounding may put a length that a row begins with into the row before, which only makes its bound weaker.
    row = min(int(np.log(d / SHORTEST_MS * ROUNDING) / np.log(RATIO)), m.bound.shape[0] - 1)
    return int(max(row, NOBODY))


@inlined_kernel
def _bound(m: Matcher, row: int, age: int) -> float:
    """Return the bound of what is lost at that age over P(x)."""
    half = m.bound.shape[1] // 2
    # Divisions of whole numbers take longer than all the rest.
    column = int(age * (1.0 / FINE_MS))
    if column >= half:
        column = half + int((age - half * FINE_MS) * (1.0 / COARSE_MS))
        if column >= m.bound.shape[1]:
            return 0.0
    if m.bound[row, column] < 0.0:
        _fill(m, row, column)
    return float(m.bound[row, column])


@inner_kernel
def _fill(m: Matcher, row: int, column: int) -> None:
    """Compute an entry of the table."""
    half = m.bound.shape[1] // 2
    width = float(FINE_MS if column < half else COARSE_MS)
    youngest = column * width if column < half else half * FINE_MS + (column - half) * width
    oldest, d = youngest + width, SHORTEST_MS * RATIO**row
    m.bound[row, column] = 0.0
    if oldest > youngest + d:
        return
    first, _ = look(m.engine, youngest)
    survival, integral = look(m.engine, oldest)
    last, last_integral = look(m.engine, youngest + d)
    started = max(last_integral - integral - (youngest + d - oldest) * last, 0.0)
    again = restart_loss(m.engine, d)
    m.bound[row, column] = ROUNDING * (max(survival - last, 0.0) * again + started) / first
