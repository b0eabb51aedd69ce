"""The loops behind the bound of prices: each task in the cheapest of its windows, each group of tasks at its best end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import kernel

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
