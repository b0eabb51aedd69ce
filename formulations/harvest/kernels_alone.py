"""The loops behind the bound of tasks that have the pool to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    import numpy as np


@kernel
def segments(
    first_event: np.ndarray,
    event_ms: np.ndarray,
    event_cores: np.ndarray,
    fits: np.ndarray,
    cores: int,
    vm: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> int:
    """Write the longest times for which a VM has so many cores without a break; return how many there are.

    fits : (V,) bool, other VMs are left out. vm, begin, end : (E,) int64, written, VM by VM; NEVER for no end. O(E).
    """
    count = 0
    for v in range(first_event.shape[0] - 1):
        if not fits[v]:
            continue
        is_open = False
        for e in range(first_event[v], first_event[v + 1]):
            if (event_cores[e] >= cores) == is_open:
                continue
            if is_open:
                end[count] = event_ms[e]
                count += 1
            else:
                vm[count] = v
                begin[count] = event_ms[e]
            is_open = not is_open
        if is_open:
            end[count] = NEVER
            count += 1
    return count


@kernel
def earliest_ends(
    begin: np.ndarray,
    end: np.ndarray,
    reach: np.ndarray,
    task: np.ndarray,
    ready: np.ndarray,
    length: np.ndarray,
    stack: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Find for each task the first end of a segment's part that is as long as the task and begins when it is ready.

    begin, end : (S,) int64, in ascending order of begin; one of them has no end. reach : (S,) int64, the last end of the
    segments up to each. task : (N,) int64, in descending order of ready. ready, length, ends : (T,) int64, ends written.
    stack : (S,) int64, work.

    If none that has begun lasts long enough, it is the first later one that is as long. Of the later ones, those that
    begin after one that is no shorter do not matter, so the others are longer and longer. O((S + N) log S) in all.
    """
    top = 0
    i = begin.shape[0]
    for n in range(task.shape[0]):
        t = task[n]
        while i > 0 and begin[i - 1] > ready[t]:
            i -= 1
            size = end[i] - begin[i]
            while top > 0 and end[stack[top - 1]] - begin[stack[top - 1]] <= size:
                top -= 1
            stack[top] = i
            top += 1
        if i > 0 and reach[i - 1] - ready[t] >= length[t]:
            ends[t] = ready[t] + length[t]
            continue
        low, high = 0, top - 1
        while low < high:
            middle = (low + high + 1) // 2
            if end[stack[middle]] - begin[stack[middle]] >= length[t]:
                low = middle
            else:
                high = middle - 1
        ends[t] = begin[stack[low]] + length[t]
