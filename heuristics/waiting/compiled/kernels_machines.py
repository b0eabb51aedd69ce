"""What is free on each machine, and which machine a job goes to: parts of the simulators' loops.

Two segment trees over machines hold the largest number of free cores and free MiB below each node: the first machine
with room is found in O(log s), more where no one machine of a subtree has both. For best fit there is also a bitset of
the machines with each number of free cores: O(C s / 64) for machines of C cores, sparse bitsets being skipped.

Both trees are (2, 2 * size) int64, size a power of two of at least s; the leaf of machine k is size + k, leaves without
a machine hold -1. `buckets` is (C + 1, W + 1) int64, W = s / 64 rounded up; the last column counts the machines.

Letters: J jobs, s machines, R running jobs; `count` is how many jobs run before a call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.jit import inlined_kernel, inner_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push
from schedgap.instances.units import NEVER

RENTED, WAITING = -1, -2
# Longer than any wait: sums of times stay within 62 bits.
NO_LIMIT_US = 2**61
# Places in a block of the queue, and in a block of blocks, as powers of two.
BLOCK, SUPER = 6, 12


class Jobs(NamedTuple):
    """submit, runtime, cores, memory : (J,) int64, microseconds and MiB; cores in the units of `core_units`."""

    submit: IntArray
    runtime: IntArray
    cores: IntArray
    memory: IntArray


class Waits(NamedTuple):
    """Who waits, and how long.

    limit : (J,) or (1,) int64, the longest wait of each job or of all, negative for a job that rents at once without a look
    at the machines, as all do that are larger than a machine. mistaken : (J,) or (1,) bool: where true, a job that should
    wait rents at once, and one that should rent waits up to its limit and then rents. balks : whether a job that would wait
    longer rents at once, or at the end of its limit.
    """

    limit: IntArray
    mistaken: BoolArray
    balks: bool


class Machines(NamedTuple):
    """What is free (`kernels_machines`). fit : FIRST or BEST. free : (2, 2 * size) int64. buckets : (C + 1, W + 1) int64."""

    fit: int
    free: IntArray
    buckets: IntArray


class Running(NamedTuple):
    """A heap of running jobs by their ends (`kernels.heap`). times : (R + 1,) int64. jobs : (R + 1,) int32."""

    times: IntArray
    jobs: NDArray[np.int32]


class Look(NamedTuple):
    """Work arrays of `look_ahead`: a heap of places in the heap of running jobs, and what became free on machines.

    times : (R + 1,) int64. places : (R + 1,) int32. more : (2, s) int64, zeros. touched : (s,) int64.
    """

    times: IntArray
    places: NDArray[np.int32]
    more: IntArray
    touched: IntArray


class Bounds(NamedTuple):
    """What vain looks ahead have told.

    kind : (J,) int64, the same number for jobs of equally many cores. known : (C, 2) int64, zeros: for each kind, a lower
    bound on the start of jobs with that much memory or more.
    """

    kind: IntArray
    known: IntArray


class Queue(NamedTuple):
    """Waiting jobs in order of priority, and those that have a limit by its end; all of it work arrays.

    order : (J,) int32. blocks : (2, 3, B) int64, the least cores, MiB and runtime of a block of places, and of a block of
    blocks. leave_times : (J,) int64. leave_jobs : (J,) int32.
    """

    order: NDArray[np.int32]
    blocks: IntArray
    leave_times: IntArray
    leave_jobs: NDArray[np.int32]


class Profiles(NamedTuple):
    """What is free on each machine over time, as steps.

    times : (s, N) int64 and free : (s, N, 2) int64, rows of steps, the first at time 0 with all cores and MiB free. head,
    tail : (s,) int64, zeros and ones: where a row begins and ends.
    """

    times: IntArray
    free: IntArray
    head: IntArray
    tail: IntArray


class Artifact(NamedTuple):
    """The rules of the authors' simulator.

    at_once : (J,) bool, jobs that rent without a look at the machines. waits : whether others wait, or rent where no
    machine has room; then machines are freed only when an arrival's time differs from the arrival's before. limit : the
    longest wait. late_wait : the wait put down for a job that leaves. error : the probability that the head of the queue,
    each time that it is looked at, rents without waiting. random : (1,) uint64, the seed.
    """

    at_once: BoolArray
    waits: bool
    limit: int
    late_wait: int
    error: float
    random: NDArray[np.uint64]


class Placed(NamedTuple):
    """Where each job runs and when it starts, written. machine, start : (J,) int64."""

    machine: IntArray
    start: IntArray


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
