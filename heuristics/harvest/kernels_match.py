"""Where a task is expected to be complete first (SlackSched, Algorithm 1, lines 2 to 12)."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.harvest.kernels_engine import loss_from, restart_loss
from schedgap.heuristics.harvest.kernels_losses import lost_at_least, row_of, set_lower
from schedgap.heuristics.harvest.kernels_matcher import BLOCK, LAST_BEST, Matcher
from schedgap.heuristics.harvest.kernels_ready import column_of, waits_for
from schedgap.heuristics.harvest.kernels_slots import risk_ms, task_ms
from schedgap.instances.harvest.kernels_state import NEVER, NOBODY, NOW, State
from schedgap.instances.jit import inlined_kernel, inner_kernel


@inner_kernel
def best_vm(s: State, m: Matcher, task: int) -> tuple[int, float]:
    """Return the VM on which a task is expected to be complete first, and in how many ms; the first of equals, or `NOBODY`.

    O(V) with two look-ups of S and I for each VM that the bounds do not exclude. The best VM of the task before is looked at
    first, so that most are excluded.
    """
    now, d, risk = s.clock[NOW], float(task_ms(s, m, task)), float(risk_ms(s, m, task))
    again, row, column = restart_loss(m.engine, risk), row_of(m, risk), column_of(s, m, task)
    set_lower(s, m, row, column)
    best, best_ms = NOBODY, np.inf
    first = m.mark[LAST_BEST]
    if m.ready[column, first] != NEVER:
        best, best_ms = first, d + _extra_ms(s, m, first, risk, again, column)
    for start in range(0, s.size.shape[0], BLOCK):
        stop = min(start + BLOCK, s.size.shape[0])
        if not _any_below(m, start, stop, d, best_ms):
            continue
        for vm in range(start, stop):
            if m.lower[vm] + d > best_ms or m.ready[column, vm] == NEVER:
                continue
            wait = waits_for(s, m, vm, column)
            if wait + d + lost_at_least(m, row, s.direction[vm], float(now - s.changed[vm] + wait)) > best_ms:
                continue
            ms = d + _extra_ms(s, m, vm, risk, again, column)
            if ms < best_ms or (ms == best_ms and vm < best):
                best, best_ms = vm, ms
    if best != NOBODY:
        m.mark[LAST_BEST] = best
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
    return wait + loss_from(m.engine, s.direction[vm], float(s.clock[NOW] - s.changed[vm] + wait), risk, again)


@inner_kernel
def expected_ms(s: State, m: Matcher, task: int, vm: int, wait: int) -> float:
    """Return in how many ms a task is expected to be complete that waits for a VM for `wait` ms."""
    risk = float(risk_ms(s, m, task))
    age = float(s.clock[NOW] - s.changed[vm] + wait)
    return wait + task_ms(s, m, task) + loss_from(m.engine, s.direction[vm], age, risk, restart_loss(m.engine, risk))
