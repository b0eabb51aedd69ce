"""The loop that follows a schedule through time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np


@kernel
def first_overload(
    machine: np.ndarray,
    start_us: np.ndarray,
    end_us: np.ndarray,
    by_start: np.ndarray,
    by_end: np.ndarray,
    cores: np.ndarray,
    memory_mib: np.ndarray,
    max_cores: int,
    max_memory_mib: int,
    used_cores: np.ndarray,
    used_memory_mib: np.ndarray,
) -> int:
    """Return the first job whose start puts its machine over capacity, -1 if there is none. O(J).

    machine, start_us, end_us, cores, memory_mib : (J,) int64. by_start, by_end : (J,) int64, jobs in order of starting
    and ending. used_cores, used_memory_mib : (M,) int64 zeros. What ends at a moment makes room for what starts then.
    """
    ended = 0
    for i in range(by_start.shape[0]):
        job = by_start[i]
        while ended < by_end.shape[0] and end_us[by_end[ended]] <= start_us[job]:
            done = by_end[ended]
            used_cores[machine[done]] -= cores[done]
            used_memory_mib[machine[done]] -= memory_mib[done]
            ended += 1
        where = machine[job]
        used_cores[where] += cores[job]
        used_memory_mib[where] += memory_mib[job]
        if used_cores[where] > max_cores or used_memory_mib[where] > max_memory_mib:
            return int(job)
    return -1
