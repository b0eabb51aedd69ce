"""The loops behind the bound of work: what cores can be used, and how much can be done by a moment.

The loops behind the bound of tasks that have the pool to themselves.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.units import NEVER


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


@kernel
def segments(
    first_event: np.ndarray,
    event_ms: np.ndarray,
    event_cores: np.ndarray,
    fits: np.ndarray,
    cores: int,
    vm: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> int:
    """Write the longest times for which a VM has so many cores without a break; return how many there are.

    fits : (V,) bool, other VMs are left out. vm, begin, end : (E,) int64, written, VM by VM; NEVER for no end. O(E).
    """
    count = 0
    for v in range(first_event.shape[0] - 1):
        if not fits[v]:
            continue
        is_open = False
        for e in range(first_event[v], first_event[v + 1]):
            if (event_cores[e] >= cores) == is_open:
                continue
            if is_open:
                end[count] = event_ms[e]
                count += 1
            else:
                vm[count] = v
                begin[count] = event_ms[e]
            is_open = not is_open
        if is_open:
            end[count] = NEVER
            count += 1
    return count


@kernel
def earliest_ends(
    begin: np.ndarray,
    end: np.ndarray,
    reach: np.ndarray,
    task: np.ndarray,
    ready: np.ndarray,
    length: np.ndarray,
    stack: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Find for each task the first end of a segment's part that is as long as the task and begins when it is ready.

    begin, end : (S,) int64, in ascending order of begin; one of them has no end. reach : (S,) int64, the last end of the
    segments up to each. task : (N,) int64, in descending order of ready. ready, length, ends : (T,) int64, ends written.
    stack : (S,) int64, work.

    If none that has begun lasts long enough, it is the first later one that is as long. Of the later ones, those that
    begin after one that is no shorter do not matter, so the others are longer and longer. O((S + N) log S) in all.
    """
    top = 0
    i = begin.shape[0]
    for n in range(task.shape[0]):
        t = task[n]
        while i > 0 and begin[i - 1] > ready[t]:
            i -= 1
            size = end[i] - begin[i]
            while top > 0 and end[stack[top - 1]] - begin[stack[top - 1]] <= size:
                top -= 1
            stack[top] = i
            top += 1
        if i > 0 and reach[i - 1] - ready[t] >= length[t]:
            ends[t] = ready[t] + length[t]
            continue
        low, high = 0, top - 1
        while low < high:
            middle = (low + high + 1) // 2
            if end[stack[middle]] - begin[stack[middle]] >= length[t]:
                low = middle
            else:
                high = middle - 1
        ends[t] = begin[stack[low]] + length[t]
