"""The loop that follows a schedule through time."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel


@kernel
def first_overload(
    machine: np.ndarray,
    start_ms: np.ndarray,
    end_ms: np.ndarray,
    by_start: np.ndarray,
    by_end: np.ndarray,
    task2job: np.ndarray,
    demand: np.ndarray,
    free: np.ndarray,
) -> tuple[int, int]:
    """Return the first task whose start puts its machine over a resource, and which; (-1, -1) if there is none. O(T R).

    machine, start_ms, end_ms, task2job : (T,) int64. by_start, by_end : (T,) int64, tasks in these orders.
    demand : (J, R) int64. free : (M, R) int64, the capacity, which is used up. What ends at a moment makes room for what
    starts then: a task ends after its start, so the next to end has started already or ends later.
    """
    ended = 0
    for i in range(by_start.shape[0]):
        task = by_start[i]
        while end_ms[by_end[ended]] <= start_ms[task]:
            done = by_end[ended]
            for r in range(free.shape[1]):
                free[machine[done], r] += demand[task2job[done], r]
            ended += 1
        for r in range(free.shape[1]):
            free[machine[task], r] -= demand[task2job[task], r]
            if free[machine[task], r] < 0:
                return int(task), r
    return -1, -1
