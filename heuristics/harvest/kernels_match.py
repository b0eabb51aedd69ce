"""Where a task is expected to be complete first (SlackSched, Algorithm 1, lines 2 to 12)."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.harvest.kernels_engine import loss_from, restart_loss
from schedgap.heuristics.harvest.kernels_slots import Matcher, is_large_enough, task_ms, waits_for
from schedgap.instances.harvest.kernels_state import NEVER, NOBODY, NOW, State
from schedgap.instances.jit import inner_kernel


@inner_kernel
def best_vm(s: State, m: Matcher, task: int) -> tuple[int, float]:
    """Return the VM on which a task is expected to be complete first, and in how many ms; the first of equals, or `NOBODY`.

    O(V) with two look-ups of S and I for each VM that could be the best were nothing lost on it.
    """
    job = s.task2job[task]
    cores, memory, now = s.cores[job], s.memory[job], s.clock[NOW]
    d = float(task_ms(s, m, task))
    again = restart_loss(m.engine, d)
    best, best_ms = NOBODY, np.inf
    for vm in range(s.size.shape[0]):
        if not is_large_enough(s, vm, cores, memory):
            continue
        wait = waits_for(s, m, vm, cores, memory)
        if wait == NEVER or wait + d >= best_ms:
            continue
        loss = loss_from(m.engine, s.direction[vm], float(now - s.changed[vm] + wait), d, again)
        if wait + d + loss < best_ms:
            best, best_ms = vm, wait + d + loss
    return best, best_ms


@inner_kernel
def expected_ms(s: State, m: Matcher, task: int, vm: int, wait: int) -> float:
    """Return in how many ms a task is expected to be complete that waits for a VM for `wait` ms."""
    d = float(task_ms(s, m, task))
    age = float(s.clock[NOW] - s.changed[vm] + wait)
    return wait + d + loss_from(m.engine, s.direction[vm], age, d, restart_loss(m.engine, d))
