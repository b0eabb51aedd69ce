"""The loops behind the bound of work: what cores can be used, and how much can be done by a moment."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel


@kernel
def most_used(sizes: np.ndarray, usable: np.ndarray) -> None:
    """Write for each number of cores the most of them that tasks of these sizes can use at once.

    sizes : (S,) int64. usable : (C + 1,) int64, written. O(S C).
    """
    usable[0] = 0
    for c in range(1, usable.shape[0]):
        usable[c] = usable[c - 1]
        for size in sizes:
            if size <= c and usable[c - size] == c - size:
                usable[c] = c
                break


@kernel
def leased_levels(before: np.ndarray, after: np.ndarray, amounts: np.ndarray, most: int, level: np.ndarray) -> None:
    """Write after each event how much those `most` VMs have that have most.

    before, after : (E,) int64, of the event's VM, as indices of `amounts`. amounts : (D,) int64, ascending from 0.
    level : (E,) int64, written. O(E D).
    """
    having = np.zeros(amounts.shape[0], np.int64)
    for e in range(before.shape[0]):
        having[before[e]] -= 1
        having[after[e]] += 1
        left = most
        total = 0
        for d in range(amounts.shape[0] - 1, 0, -1):
            some = min(left, having[d])
            total += some * amounts[d]
            left -= some
            if left == 0:
                break
        level[e] = total


@kernel
def most_done(
    release: np.ndarray, work: np.ndarray, earliest: np.ndarray, now: int, done: int, heap: np.ndarray
) -> int:
    """Return how many items one machine can have completed by a moment, of those that may end by then.

    release : (N,) int64, ascending, what the machine has done until the item is there. work : (N,) int64. earliest : (N,)
    int64, first end. now : the moment. done : what the machine has done until then. heap : (N,) int64, work space.

    Chosen items can be completed if for each release those from it on fit into what is done after it. From the last
    release back, an item too many is made up for by leaving out the largest (Moore 1968, time reversed). O(N log N).
    """
    count = 0
    total = 0
    for i in range(release.shape[0] - 1, -1, -1):
        if earliest[i] > now or release[i] >= done:
            continue
        total += work[i]
        k = count
        count += 1
        while k > 0 and heap[(k - 1) // 2] < work[i]:
            heap[k] = heap[(k - 1) // 2]
            k = (k - 1) // 2
        heap[k] = work[i]
        if total > done - release[i]:
            total -= heap[0]
            count -= 1
            last = heap[count]
            k = 0
            while 2 * k + 1 < count:
                child = 2 * k + 1
                if child + 1 < count and heap[child + 1] > heap[child]:
                    child += 1
                if heap[child] <= last:
                    break
                heap[k] = heap[child]
                k = child
            heap[k] = last
    return count
