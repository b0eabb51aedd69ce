"""The running tasks by their ends: a binary heap, O(log N) a call for N of them."""

from __future__ import annotations

from schedgap.instances.jit import inner_kernel
from schedgap.instances.sharing.kernels_state import RUNNING, State


@inner_kernel
def push(s: State, end: int, tie: int, task: int) -> None:
    """Add a task; of those that end at the same moment the one with the lowest tie comes first, then the lowest task."""
    i = s.clock[RUNNING]
    s.clock[RUNNING] += 1
    while i > 0:
        above = (i - 1) // 2
        if not _earlier(end, tie, task, s.end[above], s.end_tie[above], s.end_task[above]):
            break
        s.end[i], s.end_tie[i], s.end_task[i] = s.end[above], s.end_tie[above], s.end_task[above]
        i = above
    s.end[i], s.end_tie[i], s.end_task[i] = end, tie, task


@inner_kernel
def pop(s: State) -> int:
    """Remove the first task and return it."""
    first = s.end_task[0]
    last = s.clock[RUNNING] - 1
    s.clock[RUNNING] = last
    end, tie, task = s.end[last], s.end_tie[last], s.end_task[last]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        other = below + 1
        if other < last and _earlier(
            s.end[other], s.end_tie[other], s.end_task[other], s.end[below], s.end_tie[below], s.end_task[below]
        ):
            below = other
        if not _earlier(s.end[below], s.end_tie[below], s.end_task[below], end, tie, task):
            break
        s.end[i], s.end_tie[i], s.end_task[i] = s.end[below], s.end_tie[below], s.end_task[below]
        i = below
    s.end[i], s.end_tie[i], s.end_task[i] = end, tie, task
    return int(first)


@inner_kernel
def _earlier(end: int, tie: int, task: int, other_end: int, other_tie: int, other_task: int) -> bool:
    if end != other_end:
        return bool(end < other_end)
    if tie != other_tie:
        return bool(tie < other_tie)
    return bool(task < other_task)
