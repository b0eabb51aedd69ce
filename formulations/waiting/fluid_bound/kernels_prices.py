"""The loop behind the bounds from prices on machine time: each job takes the cheapest start that it may."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import inner_kernel, lean_kernel

# Rents are at most 2^61. Clearly more than that, even where floats round, and two of them and a rent fit 64 bits.
ABOVE_RENTS = 5 << 59


class PricedJobs(NamedTuple):
    """Jobs in order of submission: (J,) int64 each; `rent` of all of the runtime, `longest` wait.

    size : (K, J), in units of one or two measures, each with prices of its own.
    """

    submit: np.ndarray
    runtime: np.ndarray
    size: np.ndarray
    rent: np.ndarray
    longest: np.ndarray


class Prices(NamedTuple):
    """Prices of a unit of each measure and time.

    grid : (G,) int64, ascending from 0, no job is submitted before it. price : (K, G) int64, from grid[g] on, the last one
    for ever. sums : (K, G) int64, prices summed up to grid[g]; it may wrap around, sums over one job's runtime may not.
    """

    grid: np.ndarray
    price: np.ndarray
    sums: np.ndarray


class Cheapest(NamedTuple):
    """What is found. value, wait : (J,) int64, written; wait is -1 for jobs that rent.

    wait is read too: a wait within the limit, or -1, that may be good and spares looking at many worse ones.

    load : (K, G) float64, size x time of the jobs between two grid points, added to; the last one is left alone.
    """

    value: np.ndarray
    wait: np.ndarray
    load: np.ndarray


@lean_kernel
def cheapest_starts(jobs: PricedJobs, wait_price: int, prices: Prices, found: Cheapest) -> None:
    """Find for each job the least of its rent and of wait_price w + sizes x priced times from submit + w, w <= longest.

    rent and wait_price x longest are at most 2^61; submit + runtime + longest fits 64 bits.

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
    grid = prices.grid
    last = grid.shape[0] - 1
    submit, runtime, longest = jobs.submit[j], jobs.runtime[j], jobs.longest[j]
    best, best_wait = jobs.rent[j], -1
    if hint > 0 and wait_price * hint < best:
        begin = _point_before(grid, submit + hint, first)
        end = _point_before(grid, submit + hint + runtime, begin)
        cost = wait_price * hint + _priced(jobs, prices, j, submit + hint, begin, end)
        if cost < best:
            best, best_wait = cost, hint
    final = _point_before(grid, submit + runtime, first)
    w = 0
    while True:
        paid = wait_price * w
        if paid >= best:
            break
        start = submit + w
        end = start + runtime
        cost = paid + _priced(jobs, prices, j, start, first, final)
        if cost < best:
            best, best_wait = cost, w
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
def _priced(jobs: PricedJobs, prices: Prices, j: int, start: int, begin: int, end: int) -> int:
    """Return sizes x priced times of a job that runs from grid interval `begin` to `end`; `ABOVE_RENTS` for more."""
    grid, price, sums = prices
    into, until = start - grid[begin], start + jobs.runtime[j] - grid[end]
    total = 0
    for k in range(jobs.size.shape[0]):
        size = jobs.size[k, j]
        if size > 0:
            time = sums[k, end] + price[k, end] * until - sums[k, begin] - price[k, begin] * into
            # In floats: the product may have more than 64 bits.
            if float(size) * float(time) >= ABOVE_RENTS:
                return ABOVE_RENTS
            total += size * time
    return total


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
def _add_load(jobs: PricedJobs, grid: np.ndarray, j: int, start: int, g: int, load: np.ndarray) -> None:
    """Add a job's sizes x time between the grid points, from point `g` on."""
    last = grid.shape[0] - 1
    end = start + jobs.runtime[j]
    while g < last and grid[g + 1] <= start:
        g += 1
    while g < last and start < end:
        until = min(end, grid[g + 1])
        for k in range(jobs.size.shape[0]):
            # In floats: the largest sizes times the longest times have more than 64 bits.
            load[k, g] += float(jobs.size[k, j]) * (until - start)
        start = until
        g += 1
