"""The running tasks by their ends: a binary heap, O(log N) a call for N of them."""

from __future__ import annotations

from schedgap.instances.arrays import Records
from schedgap.instances.jit import inner_kernel
from schedgap.instances.sharing.simulator.state import End


@inner_kernel
def push(ends: Records[End], running: int, end: int, tie: int, task: int) -> None:
    """Add a task to those that run: of those that end at one moment the lowest tie is first, then the lowest task."""
    i = running
    while i > 0:
        above = (i - 1) // 2
        if not _earlier(end, tie, task, ends[above].time, ends[above].tie, ends[above].task):
            break
        ends[i].time, ends[i].tie, ends[i].task = ends[above].time, ends[above].tie, ends[above].task
        i = above
    ends[i].time, ends[i].tie, ends[i].task = end, tie, task


@inner_kernel
def pop(ends: Records[End], running: int) -> int:
    """Remove the first of the tasks that run and return it."""
    first = ends[0].task
    last = running - 1
    end, tie, task = ends[last].time, ends[last].tie, ends[last].task
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        other = below + 1
        if other < last and _earlier(
            ends[other].time, ends[other].tie, ends[other].task, ends[below].time, ends[below].tie, ends[below].task
        ):
            below = other
        if not _earlier(ends[below].time, ends[below].tie, ends[below].task, end, tie, task):
            break
        ends[i].time, ends[i].tie, ends[i].task = ends[below].time, ends[below].tie, ends[below].task
        i = below
    ends[i].time, ends[i].tie, ends[i].task = end, tie, task
    return int(first)


@inner_kernel
def _earlier(end: int, tie: int, task: int, other_end: int, other_tie: int, other_task: int) -> bool:
    if end != other_end:
        return bool(end < other_end)
    if tie != other_tie:
        return bool(tie < other_tie)
    return bool(task < other_task)
