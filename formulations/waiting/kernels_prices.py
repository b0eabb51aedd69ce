"""The loop behind the bounds from prices on machine time: each job takes the cheapest start that it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np


@kernel
def cheapest_starts(
    submit: np.ndarray,
    runtime: np.ndarray,
    size: np.ndarray,
    rent: np.ndarray,
    longest: np.ndarray,
    wait_price: int,
    grid: np.ndarray,
    price: np.ndarray,
    sums: np.ndarray,
    value: np.ndarray,
    wait: np.ndarray,
    load: np.ndarray,
) -> None:
    """Find for each job the least of its rent and of wait_price w + size x priced time from submit + w, w <= longest.

    submit, runtime, size, rent, longest : (J,) int64. grid : (G,)
    int64, ascending from 0, no job is submitted before it. price : (G,) int64, of a unit of size and time from
    grid[k] on, the last one for ever. sums : (G,) int64, prices summed up to grid[k]; it may wrap around, sums over
    one job's runtime may not. rent + wait_price x longest fits too.
    submit + runtime + longest fits.
    value, wait : (J,) int64, written; wait is -1 for jobs that rent. load : (G,) float64, size x time of the jobs
    between two grid points, added to; the last one is left alone.

    The cost is linear in w between the moments at which the job's start or end meets a grid point, so these and the
    ends of the window are all that need be looked at. O(grid points in the window and the runtime) a job.
    """
    last = grid.shape[0] - 1
    at = 0
    for j in range(submit.shape[0]):
        best = rent[j]
        best_wait = -1
        while at < last and grid[at + 1] <= submit[j]:
            at += 1
        first = at
        end = submit[j] + runtime[j]
        low, high = first, last
        while low < high:
            middle = (low + high + 1) // 2
            if grid[middle] <= end:
                low = middle
            else:
                high = middle - 1
        final = low
        w = 0
        while True:
            paid = wait_price * w
            if paid >= best:
                break
            start = submit[j] + w
            end = start + runtime[j]
            priced = (
                sums[final] + price[final] * (end - grid[final]) - sums[first] - price[first] * (start - grid[first])
            )
            # Dividing keeps the product within 64 bits.
            if priced <= (best - paid) // size[j] and paid + size[j] * priced < best:
                best = paid + size[j] * priced
                best_wait = w
            if w == longest[j]:
                break
            step = longest[j] - w
            if first < last:
                step = min(step, grid[first + 1] - start)
            if final < last:
                step = min(step, grid[final + 1] - end)
            w += step
            if first < last and grid[first + 1] == start + step:
                first += 1
            if final < last and grid[final + 1] == end + step:
                final += 1
        value[j] = best
        wait[j] = best_wait
        if best_wait >= 0:
            start = submit[j] + best_wait
            end = start + runtime[j]
            k = at
            while k < last and grid[k + 1] <= start:
                k += 1
            while k < last and start < end:
                until = min(end, grid[k + 1])
                # In floats: the largest sizes times the longest times have more than 64 bits.
                load[k] += float(size[j]) * (until - start)
                start = until
                k += 1
