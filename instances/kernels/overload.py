"""The loops that follow a schedule through time, machine by machine."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import lean_kernel


@lean_kernel
def first_overlap(
    machine: np.ndarray, start: np.ndarray, end: np.ndarray, by_start: np.ndarray, free: np.ndarray
) -> int:
    """Return the first task that starts before the last one on its machine has ended, -1 if there is none. O(T).

    For tasks of which no two fit a machine; arrays as for `first_overload`. free : (M,) int64 zeros, from when on it is.
    """
    for i in range(by_start.shape[0]):
        task = by_start[i]
        if start[task] < free[machine[task]]:
            return int(task)
        free[machine[task]] = end[task]
    return -1


@lean_kernel
def first_overload(
    machine: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    by_start: np.ndarray,
    by_end: np.ndarray,
    demand: np.ndarray,
    free: np.ndarray,
) -> tuple[int, int]:
    """Return the first task whose start puts its machine over a resource, and which; (-1, -1) if there is none. O(T R).

    machine, start, end : (T,) int64. by_start, by_end : (T,) int64, tasks in these orders. demand : (T, R) int64. free : (M, R)
    int64, the capacity, which is used up. What ends at a moment makes room for what starts then: a task ends after its start,
    so the next to end has started already or ends later.
    """
    ended = 0
    for i in range(by_start.shape[0]):
        task = by_start[i]
        while end[by_end[ended]] <= start[task]:
            done = by_end[ended]
            for r in range(free.shape[1]):
                free[machine[done], r] += demand[done, r]
            ended += 1
        for r in range(free.shape[1]):
            free[machine[task], r] -= demand[task, r]
            if free[machine[task], r] < 0:
                return int(task), r
    return -1, -1
