"""The loop behind clairvoyant list scheduling: one task after the other to where it starts first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.formulations.harvest.clairvoyant.kernels_profile import FULL, Profile, first_fit, fits_until, occupy
from schedgap.instances.jit import kernel
from schedgap.instances.units import NEVER


class Needs(NamedTuple):
    """Of tasks: when they are ready, how long they run, cores and memory; (T,) int64. vm_memory : (V,) int64."""

    ready: np.ndarray
    length: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    vm_memory: np.ndarray


class Soonest(NamedTuple):
    """When tasks of some lengths could start on each VM.

    edge : (L,) int64, ascending, lengths of which the first is at most any task's. start : (L, V) int64: when the least of all
    tasks could start on a VM if it ran that long.
    """

    edge: np.ndarray
    start: np.ndarray


@kernel
def place_in_order(
    order: np.ndarray, needs: Needs, profile: Profile, soonest: Soonest, vm: np.ndarray, start: np.ndarray
) -> int:
    """Place tasks in the given order; return how many of them were placed before a VM had too many pieces.

    order : (N,) int64, tasks. profile, soonest : changed. vm, start : (T,) int64, written.

    Of VMs on which a task starts equally soon it takes the one that will be too small for it first, which leaves the long
    times to those who need them. A VM on which even less could only start later is passed by, which saves most of the
    time. O(N (V + pieces that are looked at)).
    """
    cores, memory, length, edge = needs.cores, needs.memory, needs.length, soonest.edge
    least_cores, least_memory = cores.min(), memory.min()
    for i in range(order.shape[0]):
        t = order[i]
        level = np.searchsorted(edge, length[t], side="right") - 1
        # The VM that may be first is looked at first, so that more of the others can be passed by.
        best, begin, lasts = -1, NEVER, -1
        likely = soonest.start[level].argmin()
        for n in range(-1, profile.pieces.shape[0]):
            v = likely if n < 0 else n
            if soonest.start[level, v] > begin or needs.vm_memory[v] < memory[t] or v == best:
                continue
            since = max(soonest.start[level, v], needs.ready[t])
            found = first_fit(profile, v, since, length[t], cores[t], memory[t], begin)
            if best < 0 or found < begin:
                best, begin, lasts = v, found, -1
            elif found == begin:
                if lasts < 0:
                    lasts = fits_until(profile, best, begin, cores[t], memory[t])
                until = fits_until(profile, v, begin, cores[t], memory[t])
                if until < lasts or (until == lasts and v < best):
                    best, lasts = v, until
        if occupy(profile, best, begin, begin + length[t], cores[t], memory[t]) == FULL:
            return i
        for k in range(edge.shape[0]):
            since = soonest.start[k, best]
            if since < begin + length[t] and since + edge[k] > begin:
                soonest.start[k, best] = first_fit(profile, best, since, edge[k], least_cores, least_memory, NEVER)
        vm[t] = best
        start[t] = begin
    return len(order)


@kernel
def soonest_starts(profile: Profile, ready: int, cores: int, memory: int, soonest: Soonest) -> None:
    """Find when a task of each length could start on each VM; `soonest.start` is written."""
    for k in range(soonest.edge.shape[0]):
        for v in range(profile.pieces.shape[0]):
            soonest.start[k, v] = first_fit(profile, v, ready, soonest.edge[k], cores, memory, NEVER)
