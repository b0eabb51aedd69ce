"""The running tasks by their ends: a binary heap, O(log N) a call for N of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import inner_kernel

if TYPE_CHECKING:
    from schedgap.instances.sharing.simulator.state import Ends


@inner_kernel
def push(ends: Ends, running: int, end: int, tie: int, task: int) -> None:
    """Add a task to those that run: of those that end at one moment the lowest tie is first, then the lowest task."""
    i = running
    while i > 0:
        above = (i - 1) // 2
        if not _earlier(end, tie, task, ends.time[above], ends.tie[above], ends.task[above]):
            break
        ends.time[i], ends.tie[i], ends.task[i] = ends.time[above], ends.tie[above], ends.task[above]
        i = above
    ends.time[i], ends.tie[i], ends.task[i] = end, tie, task


@inner_kernel
def pop(ends: Ends, running: int) -> int:
    """Remove the first of the tasks that run and return it."""
    first = ends.task[0]
    last = running - 1
    end, tie, task = ends.time[last], ends.tie[last], ends.task[last]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        other = below + 1
        if other < last and _earlier(
            ends.time[other], ends.tie[other], ends.task[other], ends.time[below], ends.tie[below], ends.task[below]
        ):
            below = other
        if not _earlier(ends.time[below], ends.tie[below], ends.task[below], end, tie, task):
            break
        ends.time[i], ends.tie[i], ends.task[i] = ends.time[below], ends.tie[below], ends.task[below]
        i = below
    ends.time[i], ends.tie[i], ends.task[i] = end, tie, task
    return int(first)


@inner_kernel
def _earlier(end: int, tie: int, task: int, other_end: int, other_tie: int, other_task: int) -> bool:
    if end != other_end:
        return bool(end < other_end)
    if tie != other_tie:
        return bool(tie < other_tie)
    return bool(task < other_task)
