"""The loop behind clairvoyant list scheduling: one task after the other to where it starts first."""

from __future__ import annotations

import numpy as np

from schedgap.formulations.harvest.kernels_profile import FULL, NEVER, first_fit, fits_until, occupy
from schedgap.instances.jit import kernel


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
    edge: np.ndarray,
    soonest: np.ndarray,
    vm: np.ndarray,
    start: np.ndarray,
) -> int:
    """Place tasks in the given order; return how many of them were placed before a VM had too many pieces.

    order : (N,) int64, tasks. ready, length, cores, memory : (T,) int64. moment, free, room, count : a profile, changed.
    edge : (L,) int64, ascending, lengths of which the first is at most any task's. soonest : (L, V) int64, changed: when
    the least of all tasks could start on a VM if it ran that long (`soonest_starts`). vm, start : (T,) int64, written.

    Of VMs on which a task starts equally soon it takes the one that will be too small for it first, which leaves the long
    times to those who need them. A VM on which even less could only start later is passed by, which saves most of the
    time. O(N (V + pieces that are looked at)).
    """
    least_cores, least_memory = cores.min(), memory.min()
    for i in range(order.shape[0]):
        t = order[i]
        level = np.searchsorted(edge, length[t], side="right") - 1
        # The VM that may be first is looked at first, so that more of the others can be passed by.
        best, begin, lasts = -1, NEVER, -1
        likely = soonest[level].argmin()
        for n in range(-1, count.shape[0]):
            v = likely if n < 0 else n
            if soonest[level, v] > begin or vm_memory[v] < memory[t] or v == best:
                continue
            since = max(soonest[level, v], ready[t])
            found = first_fit(moment, free, room, count, v, since, length[t], cores[t], memory[t], begin)
            if best < 0 or found < begin:
                best, begin, lasts = v, found, -1
            elif found == begin:
                if lasts < 0:
                    lasts = fits_until(moment, free, room, count, best, begin, cores[t], memory[t])
                until = fits_until(moment, free, room, count, v, begin, cores[t], memory[t])
                if until < lasts or (until == lasts and v < best):
                    best, lasts = v, until
        if occupy(moment, free, room, count, best, begin, begin + length[t], cores[t], memory[t]) == FULL:
            return i
        for k in range(edge.shape[0]):
            since = soonest[k, best]
            if since < begin + length[t] and since + edge[k] > begin:
                soonest[k, best] = first_fit(
                    moment, free, room, count, best, since, edge[k], least_cores, least_memory, NEVER
                )
        vm[t] = best
        start[t] = begin
    return len(order)


@kernel
def soonest_starts(
    moment: np.ndarray,
    free: np.ndarray,
    room: np.ndarray,
    count: np.ndarray,
    ready: int,
    edge: np.ndarray,
    cores: int,
    memory: int,
    soonest: np.ndarray,
) -> None:
    """Find when a task of each length could start on each VM. edge : (L,) int64. soonest : (L, V) int64, written."""
    for k in range(edge.shape[0]):
        for v in range(count.shape[0]):
            soonest[k, v] = first_fit(moment, free, room, count, v, ready, edge[k], cores, memory, NEVER)
