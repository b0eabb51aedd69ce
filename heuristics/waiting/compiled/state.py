"""What the loops work on, by concern: named tuples of arrays and scalars. Letters: J jobs, s machines, R running jobs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import BoolArray, IntArray

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
