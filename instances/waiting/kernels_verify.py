"""The loop that follows a schedule through time."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import lean_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push


@lean_kernel
def first_overlap(
    machine: np.ndarray, start_us: np.ndarray, end_us: np.ndarray, by_start: np.ndarray, free_us: np.ndarray
) -> int:
    """Return the first job that starts before the last one on its machine has ended, -1 if there is none. O(J).

    For jobs of which no two fit a machine; arrays as for `first_overload`. free_us : (M,) int64 zeros.
    """
    for i in range(by_start.shape[0]):
        job = by_start[i]
        if start_us[job] < free_us[machine[job]]:
            return int(job)
        free_us[machine[job]] = end_us[job]
    return -1


@lean_kernel
def first_overload(
    machine: np.ndarray,
    start_us: np.ndarray,
    end_us: np.ndarray,
    by_start: np.ndarray,
    cores: np.ndarray,
    memory_mib: np.ndarray,
    max_cores: int,
    max_memory_mib: int,
    used_cores: np.ndarray,
    used_memory_mib: np.ndarray,
    running: np.ndarray,
    running_end_us: np.ndarray,
) -> int:
    """Return the first job whose start puts its machine over capacity, -1 if there is none. O(J log R), R running.

    machine, start_us, end_us, cores, memory_mib : (J,) int64. by_start : (J,) int64, jobs in order of starting.
    used_cores, used_memory_mib : (M,) int64 zeros. running, running_end_us : (J,) int64 for a heap of the jobs that run,
    by their ends, which lie beside them to be read in order. What ends at a moment makes room for what starts then.
    """
    size = 0
    for i in range(by_start.shape[0]):
        job = by_start[i]
        while earliest(running_end_us, size) <= start_us[job]:
            done = running[0]
            heap_pop(running_end_us, running, size)
            size -= 1
            used_cores[machine[done]] -= cores[done]
            used_memory_mib[machine[done]] -= memory_mib[done]
        where = machine[job]
        used_cores[where] += cores[job]
        used_memory_mib[where] += memory_mib[job]
        if used_cores[where] > max_cores or used_memory_mib[where] > max_memory_mib:
            return int(job)
        heap_push(running_end_us, running, size, end_us[job], job)
        size += 1
    return -1
