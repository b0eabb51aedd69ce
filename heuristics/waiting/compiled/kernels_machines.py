"""What is free on each machine, and which machine a job goes to: parts of the simulators' loops.

Two segment trees over machines hold the largest number of free cores and free MiB below each node: the first machine
with room is found in O(log s), more where no one machine of a subtree has both. For best fit there is also a bitset of
the machines with each number of free cores: O(C s / 64) for machines of C cores, sparse bitsets being skipped.

Both trees are (2, 2 * size) int64, size a power of two of at least s; the leaf of machine k is size + k, leaves without
a machine hold -1. `buckets` is (C + 1, W + 1) int64, W = s / 64 rounded up; the last column counts the machines.

A look ahead: when and where a job will have room, given the jobs that run now and nothing else.

Jobs that start and end on machines: parts of the simulators' loops. `count` is how many jobs run before the call.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.state import Jobs, Look, Machines, Placed, Running
from schedgap.instances.jit import inlined_kernel, inner_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push
from schedgap.instances.units import NEVER

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


@inner_kernel
def look_ahead(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, look: Look, job: int, latest: int
) -> tuple[int, int, int, int, int]:
    """Return when and where a job that has no room now first has it, what is left there, and a bound.

    The ends of the `count` running jobs are visited in order without taking them from their heap: a second heap holds the
    places in the first whose parents were visited. O(L log L) for L ends up to the answer, or up to `latest`.

    Answer: time, `NEVER` if none up to `latest`; the lowest machine; cores and MiB left on it beside the job; and where
    there is none, the first end after `latest`, before which the job has no room.
    """
    free, more, touched = machines.free, look.more, look.touched
    needed_cores, needed_memory = jobs.cores[job], jobs.memory[job]
    size = free.shape[1] >> 1
    begin, where, left_cores, left_memory, bound = NEVER, -1, 0, 0, NEVER
    waiting, num_touched = 0, 0
    if count > 0:
        heap_push(look.times, look.places, 0, running.times[0], 0)
        waiting = 1
    while waiting > 0:
        end = look.times[0]
        if end > latest:
            bound = end
            break
        while waiting > 0 and look.times[0] == end:
            place = look.places[0]
            heap_pop(look.times, look.places, waiting)
            waiting -= 1
            for child in (2 * place + 1, 2 * place + 2):
                if child < count:
                    heap_push(look.times, look.places, waiting, running.times[child], child)
                    waiting += 1
            done = running.jobs[place]
            k = placed.machine[done]
            if more[0, k] == 0:
                touched[num_touched] = k
                num_touched += 1
            more[0, k] += jobs.cores[done]
            more[1, k] += jobs.memory[done]
            roomy = free[0, size + k] + more[0, k] >= needed_cores and free[1, size + k] + more[1, k] >= needed_memory
            if roomy and (where < 0 or k < where):
                begin, where = end, k
        if where >= 0:
            left_cores = free[0, size + where] + more[0, where] - needed_cores
            left_memory = free[1, size + where] + more[1, where] - needed_memory
            break
    for i in range(num_touched):
        more[0, touched[i]] = 0
        more[1, touched[i]] = 0
    return begin, where, left_cores, left_memory, bound


@inlined_kernel
def start_job(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, j: int, k: int, now: int, end: int
) -> None:
    """Start a job on a machine with room for it, which it holds until `end`."""
    placed.machine[j] = k
    placed.start[j] = now
    change_free(machines, k, -jobs.cores[j], -jobs.memory[j])
    heap_push(running.times, running.jobs, count, end, j)


@inlined_kernel
def end_job(jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed) -> int:
    """Let the first of the running jobs end, and return its machine."""
    done = running.jobs[0]
    heap_pop(running.times, running.jobs, count)
    k = placed.machine[done]
    change_free(machines, k, jobs.cores[done], jobs.memory[done])
    return int(k)


@inlined_kernel
def end_jobs(jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, now: int) -> int:
    """Let all jobs end that do so by a moment, and return how many still run."""
    while earliest(running.times, count) <= now:
        end_job(jobs, machines, running, count, placed)
        count -= 1
    return count
