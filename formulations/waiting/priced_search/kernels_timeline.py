"""What is free on every machine over time, where jobs come and go in any order: steps in lists, found by their stretch.

Time is cut into stretches of equal `width`, the last of them without end. Each begins with a step of its own that always
stands, number machine x stretches + stretch; other steps are linked behind it, and go when they tell nothing any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import inner_kernel, lean_kernel

if TYPE_CHECKING:
    import numpy as np


class Timeline(NamedTuple):
    """Steps. Letters: S steps, of which the first P stand for ever.

    time, cores, memory, after : (S,) int64, from when on how much is free, and the next step, -1 for none. most, least :
    (P,) int64, cores free in a stretch. spare : (1,) int64, the first step that is not in use; `after` has the next.
    """

    width: int
    stretches: int
    time: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    after: np.ndarray
    most: np.ndarray
    least: np.ndarray
    spare: np.ndarray


@inner_kernel
def stretch_of(line: Timeline, moment: int) -> int:
    """Return the stretch in which a moment lies."""
    return int(min(moment // line.width, line.stretches - 1))


@inner_kernel
def _step_at(line: Timeline, machine: int, moment: int) -> int:
    """Return the last step that is not after a moment."""
    step = machine * line.stretches + stretch_of(line, moment)
    while line.after[step] >= 0 and line.time[line.after[step]] <= moment:
        step = line.after[step]
    return step


@lean_kernel
def first_room(line: Timeline, machine: int, earliest: int, latest: int, runtime: int, cores: int, memory: int) -> int:
    """Return the first start from `earliest` to `latest` at which a job has room on a machine, -1 for none.

    A job takes all of so many stretches behind the one in which it starts: where the last of these with too little room is,
    it starts at the earliest (as Boyer and Moore, 1977, find words by their ends).
    """
    begin, end = machine * line.stretches, (machine + 1) * line.stretches
    whole, clear = runtime // line.width - 1, 0
    start, step = earliest, _step_at(line, machine, earliest)
    while True:
        if line.cores[step] < cores or line.memory[step] < memory:
            step = line.after[step]
            while step < end - 1 and line.most[step] < cores:
                step += 1
            start = line.time[step]
            if whole > 0:
                at = begin + stretch_of(line, start)
                last = ahead = min(at + whole, end - 2)
                while ahead > max(at, clear) and line.least[ahead] >= cores:
                    ahead -= 1
                if ahead > max(at, clear):
                    start, step = line.time[ahead], ahead
                clear = max(clear, last)
            if start > latest:
                return -1
            continue
        behind = line.after[step]
        if behind < 0 or line.time[behind] >= start + runtime:
            return start
        step = behind


@lean_kernel
def take(line: Timeline, machine: int, start: int, runtime: int, cores: int, memory: int) -> None:
    """Take cores and memory of a machine while a job runs, or give back what is negative."""
    end = start + runtime
    step, until = _split(line, machine, start), _split(line, machine, end)
    while step != until:
        line.cores[step] -= cores
        line.memory[step] -= memory
        step = line.after[step]
    if cores < 0:
        _merge(line, machine, start)
        _merge(line, machine, end)
    first = machine * line.stretches + stretch_of(line, start)
    last = machine * line.stretches + stretch_of(line, end)
    _count(line, first, machine)
    if last > first:
        _count(line, last, machine)
    for whole in range(first + 1, last):
        line.most[whole] -= cores
        line.least[whole] -= cores


@inner_kernel
def _split(line: Timeline, machine: int, moment: int) -> int:
    """Return the step that begins at a moment, made if there is none."""
    step = _step_at(line, machine, moment)
    if line.time[step] == moment:
        return step
    made = line.spare[0]
    line.spare[0] = line.after[made]
    line.time[made], line.cores[made], line.memory[made] = moment, line.cores[step], line.memory[step]
    line.after[made] = line.after[step]
    line.after[step] = made
    return int(made)


@inner_kernel
def _merge(line: Timeline, machine: int, moment: int) -> None:
    """Remove the step that begins at a moment if it tells nothing, and does not stand for ever."""
    step = machine * line.stretches + stretch_of(line, moment)
    if line.time[step] == moment:
        return
    while line.time[line.after[step]] < moment:
        step = line.after[step]
    gone = line.after[step]
    if line.cores[gone] == line.cores[step] and line.memory[gone] == line.memory[step]:
        line.after[step] = line.after[gone]
        line.after[gone] = line.spare[0]
        line.spare[0] = gone


@inner_kernel
def _count(line: Timeline, first: int, machine: int) -> None:
    """Find the most and the least cores that are free in the stretch of a step that stands for ever."""
    most = least = line.cores[first]
    step = line.after[first]
    beyond = first + 1 if first + 1 < (machine + 1) * line.stretches else -1
    while step != beyond:
        most, least = max(most, line.cores[step]), min(least, line.cores[step])
        step = line.after[step]
    line.most[first], line.least[first] = most, least
