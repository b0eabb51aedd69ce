"""What is free on every machine over time, where jobs come and go in any order: steps in lists, found by their stretch.

Time is cut into stretches of equal length, the last of them without end. Each begins with a step of its own that always
stands; other steps are linked behind it, and go when they tell nothing any more. A stretch's steps lie side by side in memory
while there are few: reading them from all over it took a fifth of the search's time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import inner_kernel, lean_kernel

# Steps that lie side by side for a stretch, the first of which always stands.
SLOTS = 8


class Timeline(NamedTuple):
    """Steps. Letters: S steps, P stretches of all machines, number machine x stretches + stretch, whose steps begin at SLOTS x P.

    shift : a stretch is 2**shift long. time, cores, memory, after : (S,) int64, from when on how much is free, and the next
    step, -1 for none. most, least : (P,) int64, cores free in a stretch. spare : (P + 1,) int64, the first step that is not in
    use of each stretch, and of those beside them; `after` has the next.
    """

    shift: int
    stretches: int
    time: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    after: np.ndarray
    most: np.ndarray
    least: np.ndarray
    spare: np.ndarray


def empty(machines: int, until: int, jobs: int, cores: int, memory: int) -> Timeline:
    """Return machines on which nothing runs, with room for so many jobs that mostly run until a moment."""
    shift = max(0, round(math.log2(max(1.0, 3 * machines * until / jobs))))
    stretches = max(1, until >> shift)
    number = machines * stretches
    own = SLOTS * number
    steps = own + 2 * jobs + 2
    after, spare = np.arange(1, steps + 1), np.arange(1, own + 2, SLOTS)
    after[SLOTS - 1 : own : SLOTS] = -1
    after[:own:SLOTS] = np.arange(SLOTS, own + 1, SLOTS)
    after[SLOTS * (stretches - 1) : own : SLOTS * stretches] = -1
    spare[number] = own
    time = np.zeros(steps, np.int64)
    time[:own:SLOTS] = np.tile(np.arange(stretches) << shift, machines)
    free, most = np.full(steps, cores), np.full(number, cores)
    return Timeline(shift, stretches, time, free, np.full(steps, memory), after, most, most.copy(), spare)


@inner_kernel
def stretch_of(line: Timeline, moment: int) -> int:
    """Return the stretch in which a moment lies."""
    return int(min(moment >> line.shift, line.stretches - 1))


@inner_kernel
def _step_at(line: Timeline, machine: int, moment: int) -> int:
    """Return the last step that is not after a moment."""
    step = SLOTS * (machine * line.stretches + stretch_of(line, moment))
    while line.after[step] >= 0 and line.time[line.after[step]] <= moment:
        step = line.after[step]
    return step


@lean_kernel
def first_room(line: Timeline, machine: int, earliest: int, latest: int, runtime: int, cores: int, memory: int) -> int:
    """Return the first start from `earliest` to `latest` at which a job has room on a machine, -1 for none.

    A job takes all of so many stretches behind the one in which it starts: where the last of these with too little room is,
    it starts at the earliest (as Boyer and Moore, 1977, find words by their ends).
    """
    begin, standing = machine * line.stretches, SLOTS * line.most.shape[0]
    endless = begin + line.stretches - 1
    whole, clear = (runtime >> line.shift) - 1, 0
    start, step = earliest, _step_at(line, machine, earliest)
    while True:
        if line.cores[step] < cores or line.memory[step] < memory:
            step = line.after[step]
            if step < standing and step % SLOTS == 0:
                at = step // SLOTS
                while at < endless and line.most[at] < cores:
                    at += 1
                step = SLOTS * at
            start = line.time[step]
            if whole > 0:
                at = begin + stretch_of(line, start)
                last = ahead = min(at + whole, endless - 1)
                while ahead > max(at, clear) and line.least[ahead] >= cores:
                    ahead -= 1
                if ahead > max(at, clear):
                    step = SLOTS * ahead
                    start = line.time[step]
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
    end, begin = start + runtime, machine * line.stretches
    first, last = begin + stretch_of(line, start), begin + stretch_of(line, end)
    _take_in(line, machine, first, start, end, cores, memory)
    if first == last:
        return
    step = SLOTS * (first + 1)
    while step != SLOTS * last:
        line.cores[step] -= cores
        line.memory[step] -= memory
        step = line.after[step]
    for whole in range(first + 1, last):
        line.most[whole] -= cores
        line.least[whole] -= cores
    _take_in(line, machine, last, start, end, cores, memory)


@inner_kernel
def _take_in(line: Timeline, machine: int, stretch: int, start: int, end: int, cores: int, memory: int) -> None:
    """Take in one stretch: steps are cut at the start and the end, and go if they tell nothing; the most and least are found."""
    beyond = SLOTS * (stretch + 1) if stretch + 1 < (machine + 1) * line.stretches else -1
    beside, before, step = line.most.shape[0], -1, SLOTS * stretch
    most = least = 0
    while step != beyond:
        begin, behind = line.time[step], line.after[step]
        cut = start if begin < start else end
        if begin < cut and (behind < 0 or cut < line.time[behind]):
            pool = stretch if line.spare[stretch] >= 0 else beside
            made = line.spare[pool]
            line.spare[pool] = line.after[made]
            line.time[made], line.cores[made], line.memory[made] = cut, line.cores[step], line.memory[step]
            line.after[step], line.after[made], behind = made, behind, made
        if start <= begin < end:
            line.cores[step] -= cores
            line.memory[step] -= memory
        if before < 0:
            most = least = line.cores[step]
        elif line.cores[step] == line.cores[before] and line.memory[step] == line.memory[before]:
            pool = min(step // SLOTS, beside)
            line.after[before], line.after[step], line.spare[pool] = behind, line.spare[pool], step
            step = before
        else:
            most, least = max(most, line.cores[step]), min(least, line.cores[step])
        before, step = step, behind
    line.most[stretch], line.least[stretch] = most, least
