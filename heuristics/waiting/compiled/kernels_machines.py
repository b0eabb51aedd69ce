"""What is free on each machine, and which machine a job goes to: parts of the simulators' loops.

Two segment trees over machines hold the largest number of free cores and free MiB below each node: the first machine
with room is found in O(log s), more where no one machine of a subtree has both. For best fit there is also a bitset of
the machines with each number of free cores: O(C s / 64) for machines of C cores, sparse bitsets being skipped.

Both trees are (2, 2 * size) int64, size a power of two of at least s; the leaf of machine k is size + k, leaves without
a machine hold -1. `buckets` is (C + 1, W + 1) int64, W = s / 64 rounded up; the last column counts the machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.instances.jit import inlined_kernel, inner_kernel

if TYPE_CHECKING:
    from schedgap.heuristics.waiting.compiled.state import Machines

FIRST, BEST = 0, 1
WORD = 64


@inner_kernel
def next_fit(free: Any, cores: int, memory: int, after: int) -> int:
    """Return the lowest machine above `after` with so many free cores and MiB, -1 for none."""
    size = free.shape[1] >> 1
    i = 1
    if after >= 0:
        i = size + after
        while i & 1:
            i >>= 1
        i += 1
        if i == 1:
            return -1
    while True:
        if free[0, i] >= cores and free[1, i] >= memory:
            if i >= size:
                return int(i - size)
            i *= 2
        else:
            while i & 1:
                i >>= 1
            if i == 0:
                return -1
            i += 1


@inlined_kernel
def lowest_bit(word: Any) -> int:
    """Return the position of the lowest bit set; the word is not 0."""
    position = 0
    for width in (32, 16, 8, 4, 2, 1):
        if word & ((1 << width) - 1) == 0:
            word >>= width
            position += width
    return position


@inner_kernel
def best_fit(free: Any, buckets: Any, cores: int, memory: int, skip: int) -> int:
    """Return the machine but `skip` with room and the fewest free cores, the lowest of them, -1 for none."""
    size = free.shape[1] >> 1
    if free[0, 1] < cores or free[1, 1] < memory:
        return -1
    words = buckets.shape[1] - 1
    for left in range(cores, buckets.shape[0]):
        if buckets[left, words] == 0:
            continue
        for w in range(words):
            word = buckets[left, w]
            while word != 0:
                k = w * WORD + lowest_bit(word)
                if k != skip and free[1, size + k] >= memory:
                    return k
                word &= word - 1
    return -1


@inner_kernel
def find_machine(machines: Machines, cores: int, memory: int) -> int:
    """Return the machine that a job goes to now, -1 for none."""
    if machines.fit == BEST:
        return best_fit(machines.free, machines.buckets, cores, memory, -1)
    return next_fit(machines.free, cores, memory, -1)


@inner_kernel
def other_machine(machines: Machines, cores: int, memory: int, found: int) -> int:
    """Return the machine that a job goes to if it may not go to the one found first, -1 for none."""
    if machines.fit == BEST:
        return best_fit(machines.free, machines.buckets, cores, memory, found)
    return next_fit(machines.free, cores, memory, found)


@inner_kernel
def change_free(machines: Machines, k: int, cores: int, memory: int) -> None:
    """Give a machine back so many cores and MiB, or take them if negative. O(log s)."""
    free, buckets = machines.free, machines.buckets
    i = (free.shape[1] >> 1) + k
    if machines.fit == BEST:
        words, bit = buckets.shape[1] - 1, 1 << (k & (WORD - 1))
        before = free[0, i]
        buckets[before, k // WORD] ^= bit
        buckets[before, words] -= 1
        buckets[before + cores, k // WORD] ^= bit
        buckets[before + cores, words] += 1
    free[0, i] += cores
    free[1, i] += memory
    while i > 1:
        most_cores = max(free[0, i], free[0, i ^ 1])
        most_memory = max(free[1, i], free[1, i ^ 1])
        i >>= 1
        if free[0, i] == most_cores and free[1, i] == most_memory:
            return
        free[0, i] = most_cores
        free[1, i] = most_memory
