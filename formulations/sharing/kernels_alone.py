"""The loop behind the bound of jobs that have the cluster to themselves."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel

# Rates beyond this one are taken for it: it does all the work that an instance may have (2^52 ms, times ONE) in a millisecond.
FASTEST = 2**62


@kernel
def longest_alone(
    first_task: np.ndarray, work: np.ndarray, speed: np.ndarray, slots: np.ndarray, one: int, least: np.ndarray
) -> None:
    """Find for each job a time that its tasks take on an empty cluster, whatever the order and the machines.

    first_task : (J + 1,) int64. work : (T,) int64, of each job's tasks in descending order. speed : (J, K) int64, of each
    job's classes in descending order, `one` for a task that takes as long as its work; 0 where it may not run.
    slots : (J, K) int64, how many tasks run there at once, no more than the job has. least : (J,) int64, written.

    The i largest tasks of a job run in at most i slots at once. So they take at least their work over the rate of the i
    fastest slots, and at least as long as it takes until so many tasks, none of them smaller than the i-th, are through,
    one after the other in each slot. O(K) a task, and for each that makes the bound longer a binary search. All numbers stay
    below 2^63 for work x one up to 2^62, speeds up to 2^61 and up to 10^8 tasks.
    """
    for j in range(first_task.shape[0] - 1):
        first = first_task[j]
        best = 0
        total = 0
        rate = 0
        k = 0
        left = slots[j, 0]
        for t in range(first, first_task[j + 1]):
            while left == 0 and k + 1 < speed.shape[1] and speed[j, k + 1] > 0:
                k += 1
                left = slots[j, k]
            if left > 0:
                rate = min(rate + speed[j, k], FASTEST)
                left -= 1
            total += work[t]
            best = max(best, (total * one - 1) // rate + 1)
            wanted = t - first + 1
            if _through(work[t], speed[j], slots[j], one, best, wanted):
                continue
            low, high = best, best
            while not _through(work[t], speed[j], slots[j], one, high, wanted):
                low, high = high, 2 * high
            while high - low > 1:
                middle = (low + high) // 2
                if _through(work[t], speed[j], slots[j], one, middle, wanted):
                    high = middle
                else:
                    low = middle
            best = high
        least[j] = best


@kernel
def _through(work: int, speed: np.ndarray, slots: np.ndarray, one: int, time: int, wanted: int) -> bool:
    """Whether so many tasks of equal work can be through by a time."""
    done = 0
    for k in range(speed.shape[0]):
        if speed[k] == 0:
            break
        done += slots[k] * min(time // ((work * one + speed[k] - 1) // speed[k]), wanted)
        if done >= wanted:
            return True
    return False
