"""The tasks that wait, in order of job and task: a tree of bits, 64 to a word.

The lowest level has a bit for each task; a bit of a level above says whether a word below has any. The levels lie one after
another in `State.waiting`, the lowest first. Each kernel is O(log64 T).
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.jit import inner_kernel, lean_kernel


def num_words(num_tasks: int) -> int:
    """Return the length of `State.waiting`."""
    total, level = 0, num_tasks
    while True:
        level = (level + 63) // 64
        total += level
        if level <= 1:
            return total


@inner_kernel
def add_waiting(s: State, task: int) -> None:
    """Let a task wait that does not."""
    s.clock[0].waiting += 1
    words, start, at = (s.tasks.shape[0] + 63) >> 6, 0, task
    while True:
        word = s.waiting[start + (at >> 6)]
        s.waiting[start + (at >> 6)] = word | (np.uint64(1) << np.uint64(at & 63))
        if word != np.uint64(0) or words == 1:
            return
        start += words
        words, at = (words + 63) >> 6, at >> 6


@inner_kernel
def remove_waiting(s: State, task: int) -> None:
    """Let a waiting task wait no more."""
    s.clock[0].waiting -= 1
    words, start, at = (s.tasks.shape[0] + 63) >> 6, 0, task
    while True:
        word = s.waiting[start + (at >> 6)] & ~(np.uint64(1) << np.uint64(at & 63))
        s.waiting[start + (at >> 6)] = word
        if word != np.uint64(0) or words == 1:
            return
        start += words
        words, at = (words + 63) >> 6, at >> 6


@lean_kernel
def next_waiting(s: State, task: int) -> int:
    """Return the first waiting task from `task` on, itself included; NOBODY if there is none."""
    words, start, at, level = (s.tasks.shape[0] + 63) >> 6, 0, task, 0
    while True:
        if at >> 6 >= words:
            return NOBODY
        # A shift by 64 would be none: at & 63 is at most 63.
        word = s.waiting[start + (at >> 6)] >> np.uint64(at & 63)
        if word != np.uint64(0):
            at += _lowest_bit(word)
            break
        if words == 1:
            return NOBODY
        start += words
        words, at, level = (words + 63) >> 6, (at >> 6) + 1, level + 1
    while level > 0:
        level -= 1
        words, start = (s.tasks.shape[0] + 63) >> 6, 0
        for _ in range(level):
            start += words
            words = (words + 63) >> 6
        at = (at << 6) + _lowest_bit(s.waiting[start + at])
    return at


@inner_kernel
def _lowest_bit(word: np.uint64) -> int:
    """Return the place of the lowest bit of a word that has one."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        if word & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)) == np.uint64(0):
            word = word >> np.uint64(half)
            place += half
    return place
