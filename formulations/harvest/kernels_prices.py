"""The loops behind the bound of prices: each task in the cheapest of its windows, each group of tasks at its best end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np

DEAR = 1 << 61


@kernel
def cheapest_windows(
    ready: int,
    length: int,
    begin: np.ndarray,
    reach: np.ndarray,
    cell: int,
    price: np.ndarray,
    sums: np.ndarray,
    cells: int,
    least: np.ndarray,
    since: np.ndarray,
) -> None:
    """Find for each of the first cells the cheapest window of a task that ends in it, or DEAR, and its start.

    Moments are ms; cell c is from after c x cell to (c + 1) x cell. begin, reach : (S,) int64, ascending: a task that
    starts from begin[q] on, and before begin[q + 1], may end until reach[q]. price : (C,) int64, of a ms. sums : (C + 1,)
    int64, of price x cell. least, since : (C,) int64, written up to `cells`.

    The price is linear in the start between the moments at which start or end meets the end of a cell, so these and the
    ends of the starts that are possible are all that need be looked at. O(S + cells).
    """
    least[:cells] = DEAR
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
    first: np.ndarray,
    release: np.ndarray,
    earliest: np.ndarray,
    cells: np.ndarray,
    ready: np.ndarray,
    length: np.ndarray,
    units: np.ndarray,
    kind: np.ndarray,
    first_start: np.ndarray,
    begin: np.ndarray,
    reach: np.ndarray,
    cell: int,
    price: np.ndarray,
    sums: np.ndarray,
    bits: int,
    work: np.ndarray,
    value: np.ndarray,
    load: np.ndarray,
) -> None:
    """Find for each group of tasks the least of its delay and the prices of its tasks' windows, over all ends.

    Letters: G groups, N tasks, K kinds, C cells. first : (G + 1,) int64, of a group's tasks. release, earliest, cells :
    (G,) int64, ms; no end is before `earliest`, and after so many cells only the delay counts. ready, length, units, kind :
    (N,) int64; tasks of no units need no window. first_start : (K + 1,) int64, of a kind's begin and reach. price : for a
    unit, times 2^bits. work : (3, C) int64. value : (G,) int64, written, times 2^bits. load : (C,) float64, units x ms of
    the chosen windows, added to.

    A group that ends in a cell is delayed to its begin and 1 ms more at least, and each of its tasks takes the cheapest
    window that ends by the cell's end. O(G C + N (S + C)).
    """
    least, since, total = work
    for g in range(first.shape[0] - 1):
        low = (earliest[g] - 1) // cell
        high = cells[g]
        value[g] = (max(high * cell + 1, earliest[g]) - release[g]) << bits
        if high <= low:
            continue
        total[low:high] = 0
        for t in range(first[g], first[g + 1]):
            if units[t] == 0:
                continue
            p, q = first_start[kind[t]], first_start[kind[t] + 1]
            cheapest_windows(ready[t], length[t], begin[p:q], reach[p:q], cell, price, sums, high, least, since)
            best = DEAR
            for c in range(high):
                best = min(best, least[c])
                if c >= low:
                    total[c] += best * units[t]
        chosen = -1
        for c in range(low, high):
            cost = ((max(c * cell + 1, earliest[g]) - release[g]) << bits) + total[c]
            if cost < value[g]:
                value[g] = cost
                chosen = c
        if chosen < 0:
            continue
        for t in range(first[g], first[g + 1]):
            if units[t] == 0:
                continue
            p, q = first_start[kind[t]], first_start[kind[t] + 1]
            cheapest_windows(ready[t], length[t], begin[p:q], reach[p:q], cell, price, sums, chosen + 1, least, since)
            found = 0
            for c in range(chosen + 1):
                if least[c] < least[found]:
                    found = c
            start = since[found]
            end = start + length[t]
            for c in range(start // cell, (end - 1) // cell + 1):
                load[c] += units[t] * (min(end, (c + 1) * cell) - max(start, c * cell))
