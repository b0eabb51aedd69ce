"""The loop behind the bounds from prices on machine time: each job takes the cheapest start that it may."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import inner_kernel, lean_kernel

if TYPE_CHECKING:
    import numpy as np


class PricedJobs(NamedTuple):
    """Jobs in order of submission: (J,) int64 each; `rent` of all of the runtime, `longest` wait."""

    submit: np.ndarray
    runtime: np.ndarray
    size: np.ndarray
    rent: np.ndarray
    longest: np.ndarray


class Prices(NamedTuple):
    """Prices of a unit of size and time.

    grid : (G,) int64, ascending from 0, no job is submitted before it. price : (G,) int64, from grid[k] on, the last one for
    ever. sums : (G,) int64, prices summed up to grid[k]; it may wrap around, sums over one job's runtime may not.
    """

    grid: np.ndarray
    price: np.ndarray
    sums: np.ndarray


class Cheapest(NamedTuple):
    """What is found. value, wait : (J,) int64, written; wait is -1 for jobs that rent.

    wait is read too: a wait within the limit, or -1, that may be good and spares looking at many worse ones.

    load : (G,) float64, size x time of the jobs between two grid points, added to; the last one is left alone.
    """

    value: np.ndarray
    wait: np.ndarray
    load: np.ndarray


@lean_kernel
def cheapest_starts(jobs: PricedJobs, wait_price: int, prices: Prices, found: Cheapest) -> None:
    """Find for each job the least of its rent and of wait_price w + size x priced time from submit + w, w <= longest.

    rent + wait_price x longest and submit + runtime + longest fit 64 bits.

    The cost is linear in w between the moments at which the job's start or end meets a grid point, so these and the
    ends of the window are all that need be looked at. O(grid points in the window and the runtime) a job.
    """
    grid = prices.grid
    at = 0
    for j in range(jobs.submit.shape[0]):
        while at < grid.shape[0] - 1 and grid[at + 1] <= jobs.submit[j]:
            at += 1
        found.value[j], found.wait[j] = _cheapest_wait(jobs, wait_price, prices, j, at, found.wait[j])
        if found.wait[j] >= 0:
            _add_load(jobs, grid, j, jobs.submit[j] + found.wait[j], at, found.load)


@inner_kernel
def _cheapest_wait(jobs: PricedJobs, wait_price: int, prices: Prices, j: int, first: int, hint: int) -> tuple[int, int]:
    """Return the least cost of a job that is submitted after grid point `first`, and its wait. hint : a good one."""
    grid, price, sums = prices
    last = grid.shape[0] - 1
    submit, runtime, size, longest = jobs.submit[j], jobs.runtime[j], jobs.size[j], jobs.longest[j]
    best, best_wait = jobs.rent[j], -1
    # Priced time above it costs more than the best: products stay within 64 bits.
    most = best // size
    if hint > 0:
        start = submit + hint
        begin = _point_before(grid, start, first)
        end = _point_before(grid, start + runtime, begin)
        priced = (
            sums[end] + price[end] * (start + runtime - grid[end]) - sums[begin] - price[begin] * (start - grid[begin])
        )
        if wait_price * hint < best and priced <= most and wait_price * hint + size * priced < best:
            best, best_wait = wait_price * hint + size * priced, hint
            most = best // size
    final = _point_before(grid, submit + runtime, first)
    w = 0
    while True:
        paid = wait_price * w
        if paid >= best:
            break
        start = submit + w
        end = start + runtime
        priced = sums[final] + price[final] * (end - grid[final]) - sums[first] - price[first] * (start - grid[first])
        if priced <= most and paid + size * priced < best:
            best, best_wait = paid + size * priced, w
            most = best // size
        if w == longest:
            break
        step = longest - w
        if first < last:
            step = min(step, grid[first + 1] - start)
        if final < last:
            step = min(step, grid[final + 1] - end)
        w += step
        if first < last and grid[first + 1] == start + step:
            first += 1
        if final < last and grid[final + 1] == end + step:
            final += 1
    return best, best_wait


@inner_kernel
def _point_before(grid: np.ndarray, moment: int, low: int) -> int:
    """Return the last grid point that is not after a moment, which is not before point `low`."""
    high = grid.shape[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if grid[middle] <= moment:
            low = middle
        else:
            high = middle - 1
    return low


@inner_kernel
def _add_load(jobs: PricedJobs, grid: np.ndarray, j: int, start: int, k: int, load: np.ndarray) -> None:
    """Add a job's size x time between the grid points, from point `k` on."""
    last = grid.shape[0] - 1
    end = start + jobs.runtime[j]
    while k < last and grid[k + 1] <= start:
        k += 1
    while k < last and start < end:
        until = min(end, grid[k + 1])
        # In floats: the largest sizes times the longest times have more than 64 bits.
        load[k] += float(jobs.size[j]) * (until - start)
        start = until
        k += 1
