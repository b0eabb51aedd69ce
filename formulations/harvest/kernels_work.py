"""The loops behind harvest's bounds: of work, of tasks alone, of prices; and the rows of time-indexed programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.heap import heap_pop, heap_push
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
    int64, first end. now : the moment. done : what the machine has done until then. heap : (2, N) int64, work space.

    Chosen items can be completed if for each release those from it on fit into what is done after it. From the last
    release back, an item too many is made up for by leaving out the largest (Moore 1968, time reversed). O(N log N).
    """
    count, total = 0, 0
    for i in range(release.shape[0] - 1, -1, -1):
        if earliest[i] > now or release[i] >= done:
            continue
        total += work[i]
        heap_push(heap[0], heap[1], count, -work[i], i)
        count += 1
        if total > done - release[i]:
            total += heap[0, 0]
            heap_pop(heap[0], heap[1], count)
            count -= 1
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


@kernel
def covering(
    column: np.ndarray,
    length: np.ndarray,
    weight: np.ndarray,
    row_place: np.ndarray,
    row_begin: np.ndarray,
    row_end: np.ndarray,
    row_kind: np.ndarray,
    out_row: np.ndarray,
    out_column: np.ndarray,
    out_value: np.ndarray,
) -> int:
    """Write the entries of rows; return how many there are. With outputs of no length, only count them.

    column : (N, G, H) int64, of the start of group g in slot s at place n, or -1. length : (G,) int64. weight : (K, G).
    row_place, row_begin, row_end, row_kind : (R,) int64: the row counts weight[kind, g] for each column of its place that
    covers all of the slots row_begin to row_end - 1. out_row, out_column, out_value : int64. O(entries + R G).
    """
    count = 0
    writes = out_row.shape[0] > 0
    for r in range(row_place.shape[0]):
        place, begin, end, kind = row_place[r], row_begin[r], row_end[r], row_kind[r]
        for g in range(length.shape[0]):
            if weight[kind, g] == 0:
                continue
            for s in range(max(0, end - length[g]), begin + 1):
                if column[place, g, s] < 0:
                    continue
                if writes:
                    out_row[count] = r
                    out_column[count] = column[place, g, s]
                    out_value[count] = weight[kind, g]
                count += 1
    return count


# The price where there is none.
NO_WINDOW = 1 << 61


class Prices(NamedTuple):
    """Moments are ms; cell c is from after c x cell to (c + 1) x cell.

    of_ms : (C,) int64, of a ms. sums : (C + 1,) int64, of price x cell. All times 2^bits.
    """

    cell: int
    of_ms: np.ndarray
    sums: np.ndarray
    bits: int


class Starts(NamedTuple):
    """When tasks of each kind may start: first : (K + 1,) int64, of a kind's begin and reach.

    begin, reach : (S,) int64, ascending: a task that starts from begin[q] on, and before begin[q + 1], may end until reach[q].
    """

    first: np.ndarray
    begin: np.ndarray
    reach: np.ndarray


class Groups(NamedTuple):
    """first : (G + 1,) int64, of a group's tasks. release, earliest, cells : (G,) int64, ms.

    No end is before `earliest`, and after so many cells only the delay counts.
    """

    first: np.ndarray
    release: np.ndarray
    earliest: np.ndarray
    cells: np.ndarray


class Tasks(NamedTuple):
    """(N,) int64; tasks of no units need no window."""

    ready: np.ndarray
    length: np.ndarray
    units: np.ndarray
    kind: np.ndarray


@kernel
def cheapest_windows(
    ready: int,
    length: int,
    begin: np.ndarray,
    reach: np.ndarray,
    prices: Prices,
    cells: int,
    least: np.ndarray,
    since: np.ndarray,
) -> None:
    """Find for each of the first cells the cheapest window of a task that ends in it, or NO_WINDOW, and its start.

    begin, reach : of its kind's `Starts`. least, since : (C,) int64, written up to `cells`.

    The price is linear in the start between the moments at which start or end meets the end of a cell, so these and the
    ends of the starts that are possible are all that need be looked at. O(S + cells).
    """
    cell, price, sums = prices.cell, prices.of_ms, prices.sums
    least[:cells] = NO_WINDOW
    last = cells * cell - length
    for q in range(begin.shape[0]):
        start = max(begin[q], ready)
        stop = min(last, reach[q] - length)
        if q + 1 < begin.shape[0]:
            stop = min(stop, begin[q + 1] - 1)
        if start > last:
            break
        if start > stop:
            continue
        a = start // cell
        b = (start + length - 1) // cell
        while True:
            end = start + length
            cost = sums[b] + price[b] * (end - b * cell) - sums[a] - price[a] * (start - a * cell)
            if cost < least[b]:
                least[b] = cost
                since[b] = start
            if start == stop:
                break
            left = (b + 1) * cell - end
            if left == 0:
                b += 1
                left = cell
            start += min(stop - start, (a + 1) * cell - start, left)
            a = start // cell


@kernel
def cheapest_groups(
    groups: Groups, tasks: Tasks, starts: Starts, prices: Prices, work: np.ndarray, value: np.ndarray, load: np.ndarray
) -> None:
    """Find for each group of tasks the least of its delay and the prices of its tasks' windows, over all ends.

    Letters: G groups, N tasks, K kinds, C cells. work : (3, C) int64. value : (G,) int64, written, times 2^bits. load : (C,)
    float64, units x ms of the chosen windows, added to.

    A group that ends in a cell is delayed to its begin and 1 ms more at least, and each of its tasks takes the cheapest
    window that ends by the cell's end. O(G C + N (S + C)).
    """
    cell = prices.cell
    for g in range(groups.first.shape[0] - 1):
        earliest, release = groups.earliest[g], groups.release[g]
        low = (earliest - 1) // cell
        high = groups.cells[g]
        value[g] = (max(high * cell + 1, earliest) - release) << prices.bits
        if high <= low:
            continue
        total = _totals(groups, tasks, starts, prices, g, work)
        chosen = -1
        for c in range(low, high):
            cost = ((max(c * cell + 1, earliest) - release) << prices.bits) + total[c]
            if cost < value[g]:
                value[g] = cost
                chosen = c
        if chosen >= 0:
            for t in range(groups.first[g], groups.first[g + 1]):
                if tasks.units[t] > 0:
                    _add_load(tasks, starts, t, prices, chosen + 1, work, load)


@kernel
def paid_by_end(
    groups: Groups, tasks: Tasks, starts: Starts, prices: Prices, work: np.ndarray, paid: np.ndarray
) -> None:
    """Find what the tasks of each group pay at least if it ends by the end of a cell.

    paid : (G, C) int64, times 2^bits, written from the cell of the earliest end to the last in which the group may end; else
    it pays nothing. O(N (S + C)).
    """
    for g in range(groups.first.shape[0] - 1):
        low, high = (groups.earliest[g] - 1) // prices.cell, groups.cells[g]
        if high > low:
            paid[g, low:high] = _totals(groups, tasks, starts, prices, g, work)[low:high]


@kernel
def _totals(groups: Groups, tasks: Tasks, starts: Starts, prices: Prices, g: int, work: np.ndarray) -> np.ndarray:
    """Add up what the tasks of a group pay at least, (C,) int64: a row of `work`, from the cell of its earliest end on."""
    low, high = (groups.earliest[g] - 1) // prices.cell, groups.cells[g]
    least: np.ndarray = work[0]
    total: np.ndarray = work[2]
    total[low:high] = 0
    for t in range(groups.first[g], groups.first[g + 1]):
        if tasks.units[t] == 0:
            continue
        _windows_of(tasks, starts, t, prices, high, work)
        best = NO_WINDOW
        for c in range(high):
            best = min(best, least[c])
            if c >= low:
                total[c] += best * tasks.units[t]
    return total


@kernel
def _windows_of(tasks: Tasks, starts: Starts, t: int, prices: Prices, cells: int, work: np.ndarray) -> None:
    """Write the cheapest windows of a task and their starts into the first two rows of `work`."""
    p, q = starts.first[tasks.kind[t]], starts.first[tasks.kind[t] + 1]
    begin, reach = starts.begin[p:q], starts.reach[p:q]
    cheapest_windows(tasks.ready[t], tasks.length[t], begin, reach, prices, cells, work[0], work[1])


@kernel
def _add_load(
    tasks: Tasks, starts: Starts, t: int, prices: Prices, cells: int, work: np.ndarray, load: np.ndarray
) -> None:
    """Add what a task uses in the cheapest of its windows that end in the first cells."""
    cell = prices.cell
    _windows_of(tasks, starts, t, prices, cells, work)
    least, since = work[0], work[1]
    found = 0
    for c in range(cells):
        if least[c] < least[found]:
            found = c
    start = since[found]
    end = start + tasks.length[t]
    for c in range(start // cell, (end - 1) // cell + 1):
        load[c] += tasks.units[t] * (min(end, (c + 1) * cell) - max(start, c * cell))
