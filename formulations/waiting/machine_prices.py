"""Bounds from prices on the time of fixed machines: Lagrangian relaxation of their capacity, exact in integers.

Let y(t) >= 0 be a price for a unit of machine size (a core, or a MiB) and time, S the size of a machine, p its price,
T the horizon of `Scaled`, and P >= T for how long machines are paid. For every schedule with s machines, whose fixed jobs never
use more than s S at a moment, and end by P,

    s p P = s (p P - S Y(P)) + s S Y(P)      with Y(P) = integral of y up to P
         >= s (p P - S Y(P)) + sum over fixed jobs of size x integral of y while the job runs

so its cost is at least, for the P from T on at which that is least,

    s (p P - S Y(P)) + sum over jobs of min(rent, min over waits w of wait_price w + size x integral of y while it runs).

If y(t) <= p / S after some U >= T, that P is at most U. Where P is known to be in a short range, U is its end; else U = T.

Two jobs larger than half of a machine never share one, though by size alone two machines of 64 cores hold three of 36.
So half a machine has a second price z(t), zero after U, where there are jobs between half a machine and a whole one: each
job above half takes two halves, one of exactly half takes one, others none. No machine has more than two at a moment, so
that with Z(P), the integral of z up to P, the line becomes s (p P - S Y(P) - 2 Z(P)), and each job also pays for its halves.
(Sizes and halves are dual feasible functions: Fekete and Schepers, 2001.)

The jobs' part does not depend on s, so prices are a straight line over s, and so many machines cost at least the
highest of all lines there. Maximised over y alone this is the bound of the time-indexed linear program, whose columns are
the starts of each job, in continuous time: jobs stay whole and uninterrupted, only their shapes inside the machines
are relaxed. Prices are constant between the points of a grid and a whole multiple of 2^-q micro-dollars per hour; every sum
is one of integers: of one job below 2^61, since prices are, times the longest runtime, and larger rents are cut to that; of all
jobs in Python's integers. So what is proven holds at every size.

The bound of `machine_prices` for s machines is concave in the prices, and a subgradient with respect to the price between two
moments is the number of machines that the jobs would use there, less s while they are paid: where more is asked for, time gets
dearer. Prices are first found on a coarse grid, whose rounds are cheap and whose prices move far, and then on finer ones that
begin where the coarser one ended.

What every round proves is a line over the number of machines. So the number to work on is always that for which all lines
together prove least: once it is one for which the prices of this grid were improved already, the grid is done. Prices for
a number that proves as much as one before it does are good enough: the bound is what the least of all numbers proves.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from schedgap.formulations.column_generation.ascent import ByHistory, ascend
from schedgap.formulations.waiting.models import Scaled
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.waiting.verify import exact_sum, rent_of

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


# In shares of a machine's price over its size: the first steps on the coarsest grid, and on all others. Rounds are cheap
# on the coarsest one, and prices for the first number of machines have the longest way to go there.
FIRST_STEP, LATER_STEP, FIRST_ROUNDS = 0.3, 0.1, 3


class Ascent:
    """What was found so far: lines of all rounds, and by number of machines prices on the last grid, best or good enough."""

    def __init__(self, problem: MachineTime, deadline: float | None = None) -> None:
        """Prepare. deadline : of `time.perf_counter`."""
        self.problem, self.deadline = problem, deadline
        self.lines: list[Line] = []
        self.grid: IntArray = np.zeros(0, np.int64)
        self.rates: dict[int, FloatArray] = {}

    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() > self.deadline

    def begin_with(self, other: Ascent) -> None:
        """Begin with prices for more jobs and all ends; behind those, a machine is worth its price."""
        until, measures = self.problem.until, self.problem.capacity.shape[0]
        behind = np.zeros((measures, 1))
        behind[0] = 1.0
        self.grid = np.union1d(other.grid[other.grid < until], [self.problem.scaled.horizon, until])
        for number, rate in other.rates.items():
            self.rates[number] = _on_grid(np.hstack((rate[:measures], behind)), other.grid, self.grid)
        nothing = np.zeros_like(next(iter(self.rates.values())))
        self.lines = [self.problem.evaluate(self.grid, rate).line for rate in (nothing, *self.rates.values())]

    def improve(self, grid: IntArray, rounds: int, step: float = LATER_STEP) -> None:
        """Improve the prices on a grid, one after the other for all numbers of machines for which lines prove least.

        grid : (G + 1,) int64, as of `MachineTime.evaluate`. rounds : for one number, more for the very first one. step : the
        first, where prices are known. O(rounds x one evaluation).
        """
        if self.rates:
            known = {number: _on_grid(rate, self.grid, grid) for number, rate in self.rates.items()}
            first_rounds, machines = rounds, self.problem.least(self.lines)[0]
        else:
            # At even prices machines are worth their price where all jobs keep them busy; at none, nothing is.
            even = np.zeros((self.problem.capacity.shape[0], grid.shape[0] - 1))
            even[0] = 1.0
            proof = self.problem.evaluate(grid, even)
            self.lines += [proof.line, self.problem.evaluate(grid, np.zeros_like(even)).line]
            step, first_rounds = FIRST_STEP, FIRST_ROUNDS * rounds
            machines = max(1, int(proof.levels[0] @ np.diff(grid) / grid[-1]))
            known = {machines: even}
        self.grid, self.rates = grid, {}
        while machines not in self.rates and not (self.rates and self.is_late()):
            enough = min((max(line.at(number) for line in self.lines) for number in self.rates), default=None)
            nearest = min(known, key=lambda number: (abs(number - machines), number))
            now = rounds if self.rates else first_rounds
            known[machines] = self.rates[machines] = self._ascend(grid, known[nearest], machines, now, step, enough)
            machines = self.problem.least(self.lines)[0]

    def prices_for(self, machines: float, grid: IntArray, rounds: int) -> FloatArray:
        """Return prices on a grid for a number of machines, whole or not: those for what proves least, improved for it."""
        lowest = self.problem.least(self.lines)[0]
        rate = self.rates[min(self.rates, key=lambda number: abs(number - lowest))]
        return self._ascend(grid, _on_grid(rate, self.grid, grid), machines, rounds, LATER_STEP, None)

    def _ascend(
        self, grid: IntArray, rate: FloatArray, machines: float, rounds: int, first_step: float, enough: int | None
    ) -> FloatArray:
        """Return the best prices for a number of machines found from given ones, or the first that prove enough."""

        def evaluate(rate: FloatArray) -> tuple[float, FloatArray]:
            line, levels, paid = self.problem.evaluate(grid, rate)
            self.lines.append(line)
            return line.base + machines * line.slope, levels / machines - paid

        def is_enough(best: float) -> bool:
            return (enough is not None and best >= enough) or self.is_late()

        return ascend(evaluate, rate, rounds, ByHistory(first_step, rounds), is_enough)


def _on_grid(rate: FloatArray, grid: IntArray, finer: IntArray) -> FloatArray:
    """Return prices on another grid: those at the middle of its intervals."""
    middle = finer[:-1] + np.diff(finer) // 2
    return rate[:, np.searchsorted(grid, middle, side="right") - 1]


# Amounts of one job stay below 2^61, and are multiples of at least 2^-20 of their unit.
AMOUNT_BITS, MOST_FRACTION_BITS = 61, 20


class Line(NamedTuple):
    """What prices prove: s machines and their jobs cost at least base + s x slope, in amounts of `MachineTime.bits`."""

    base: int
    slope: int

    def at(self, machines: int) -> int:
        """Return what so many machines cost at least."""
        return self.base + machines * self.slope


class Proof(NamedTuple):
    """A line, (K, G) float64 how many machines the jobs use when, and (G,) float64, 1 while machines are paid, else 0."""

    line: Line
    levels: FloatArray
    paid: FloatArray


class MachineTime:
    """The jobs of an instance against prices of machine time.

    by_memory : a job's size is its memory, not its cores. shares : (K, N) float64, what the jobs of `Scaled` take of a
    machine by each measure that has a price: its size, and halves, if they make a difference. bits : of fractions of an
    amount of `Scaled`. until : up to when prices are free, from the horizon on. wait : (J,) int64, the waits of the J jobs
    with a size at the last prices, -1 for rent.
    """

    def __init__(self, scaled: Scaled, *, by_memory: bool, until: int | None = None) -> None:
        instance = scaled.instance
        self.until = scaled.horizon if until is None else until
        self.scaled, self.by_memory = scaled, by_memory
        # A job without memory costs nothing by memory, and adds nothing to the bound.
        sizes = (instance.memory_mib if by_memory else instance.cores)[scaled.jobs]
        machine = instance.machine_memory_mib if by_memory else instance.machine_cores
        halves = (2 * sizes >= machine).astype(np.int64) + (2 * sizes > machine)
        differ = ((sizes > machine // 2) & (sizes < machine)).any()
        size, capacity = (np.stack((sizes, halves)), [machine, 2]) if differ else (sizes[None], [machine])
        self.used = np.flatnonzero(sizes)
        self.size, self.capacity = np.ascontiguousarray(size[:, self.used]), np.array(capacity)
        self.shares = size / self.capacity[:, None]
        self.submit, self.runtime = scaled.submit[self.used], scaled.runtime[self.used]
        rent = scaled.rent[self.used]
        most = int(rent.max(initial=1)) * int(self.runtime.max(initial=1))
        self.bits = min(MOST_FRACTION_BITS, max(0, AMOUNT_BITS - most.bit_length()))
        cap = 1 << (AMOUNT_BITS - self.bits)
        payable = self.runtime <= cap // np.maximum(rent, 1)
        self.rent = np.where(payable, rent * np.where(payable, self.runtime, 0), cap) << self.bits
        # At a price above every rent nobody waits, whatever it is.
        self.wait_price = min(instance.wait_price << self.bits, 2 << AMOUNT_BITS)
        # From then on prices never change: no start there beats the first one.
        self.longest = np.maximum(self.until - self.submit, 0)
        limit = scaled.longest[self.used]
        self.longest = np.where(limit >= 0, np.minimum(limit, self.longest), self.longest)
        if instance.wait_price:
            self.longest = np.minimum(self.longest, self.rent // self.wait_price)
        self.unit_price = instance.fixed_price
        self.afterwards = (instance.fixed_price << self.bits) // machine
        self.highest = (1 << AMOUNT_BITS) // max(1, int(self.runtime.max(initial=1)))
        self._value, self.wait = np.empty_like(self.rent), np.full_like(self.rent, -1)

    def evaluate(self, grid: IntArray, rate: FloatArray) -> Proof:
        """Return what prices prove, what the jobs at their cheapest use, and until when paid machines prove least.

        grid : (G + 1,) int64, ascending, from 0 to `until`, with the horizon. rate : (K, G) float64, between two of its points
        the price of all of a machine by a measure, in shares of a machine's; rounded down to whole prices of a unit that fit
        64 bits. Deterministic.
        """
        lengths, capacity = np.diff(grid), self.capacity[:, None]
        whole = np.floor(rate * (float(self.unit_price << self.bits) / capacity))
        price = np.clip(whole, 0.0, float(min(self.highest, 2**62))).astype(np.int64)
        last = np.zeros_like(capacity)
        last[0] = min(self.afterwards, self.highest)
        with np.errstate(over="ignore"):
            sums = np.pad(np.cumsum(price * lengths, axis=1), ((0, 0), (1, 0)))
        prices = Prices(grid, np.concatenate((price, last), axis=1), sums)
        found = Cheapest(self._value, self.wait, np.zeros(sums.shape))
        jobs = PricedJobs(self.submit, self.runtime, self.size, self.rent, self.longest)
        cheapest_starts(jobs, self.wait_price, prices, found)
        slope, number = self._slope(grid, price)
        levels: FloatArray = found.load[:, :-1] / (capacity * lengths.astype(np.float64))
        return Proof(
            Line(exact_sum(self._value), slope), levels, (np.arange(lengths.shape[0]) < number).astype(np.float64)
        )

    def _slope(self, grid: IntArray, price: IntArray) -> tuple[int, int]:
        """Return what a machine costs beyond its time at prices, where that is least, and how many intervals it is paid for."""
        lengths, first = np.diff(grid), int(np.searchsorted(grid, self.scaled.horizon))
        whole, sizes = self.unit_price << self.bits, self.capacity.tolist()
        spent = sum(size * rent_of(row[:first], lengths[:first]) for size, row in zip(sizes, price, strict=True))
        slope = least = whole * self.scaled.horizon - spent
        number = first
        later = zip(lengths[first:].tolist(), *price[:, first:].tolist(), strict=True)
        for i, (length, *prices) in enumerate(later, first + 1):
            slope += length * (whole - sum(size * each for size, each in zip(sizes, prices, strict=True)))
            if slope < least:
                least, number = slope, i
        return least, number

    def least_costs(self, grid: IntArray, rate: FloatArray) -> FloatArray:
        """Return what each job of `Scaled` costs at prices where it costs least, in amounts of `Scaled`. (N,) float64."""
        self.evaluate(grid, rate)
        least = np.zeros(self.scaled.num_jobs)
        least[self.used] = self._value / 2.0**self.bits
        return least

    def least(self, lines: list[Line]) -> tuple[int, int]:
        """Return the number of machines above 0 for which lines prove least, and that amount, in those of `Scaled`.

        The highest of lines is convex in the number, and a line of slope above 0 must be among them. O(lines x bits).
        """

        def cost(machines: int) -> int:
            return max(line.at(machines) for line in lines)

        low, high = 1, 1
        while cost(high + 1) < cost(high):
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            if cost(middle + 1) < cost(middle):
                low = middle + 1
            else:
                high = middle
        return low, (cost(low) >> self.bits) + self.scaled.always_rented
