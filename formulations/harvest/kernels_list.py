"""The loop behind clairvoyant list scheduling: one task after the other to where it starts first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.formulations.harvest.kernels_profile import FULL, NEVER, first_fit, occupy
from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np


@kernel
def place_in_order(
    order: np.ndarray,
    ready: np.ndarray,
    length: np.ndarray,
    cores: np.ndarray,
    memory: np.ndarray,
    vm_memory: np.ndarray,
    moment: np.ndarray,
    free: np.ndarray,
    room: np.ndarray,
    count: np.ndarray,
    vm: np.ndarray,
    start: np.ndarray,
) -> int:
    """Place tasks in the given order; return how many of them were placed before a VM had too many pieces.

    order : (N,) int64, tasks. ready, length, cores, memory : (T,) int64. moment, free, room, count : a profile, changed.
    vm, start : (T,) int64, written. Of VMs on which a task starts equally soon it takes the one that will be too small for
    it first, which leaves the long times to those who need them. O(N (V + pieces that are looked at)).
    """
    for n in range(order.shape[0]):
        t = order[n]
        best, begin, lasts = -1, NEVER, NEVER
        for v in range(count.shape[0]):
            if vm_memory[v] < memory[t]:
                continue
            found, until = first_fit(
                moment[v], free[v], room[v], count[v], ready[t], length[t], cores[t], memory[t], begin
            )
            if best < 0 or found < begin or (found == begin and until < lasts):
                best, begin, lasts = v, found, until
        if occupy(moment, free, room, count, best, begin, begin + length[t], cores[t], memory[t]) == FULL:
            return n
        vm[t] = best
        start[t] = begin
    return len(order)
