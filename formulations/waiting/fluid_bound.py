"""The bound for whole traces: prices on machine time, on top of the bound of work.

Prices up to the horizon know nothing of what comes behind it: a job of weeks in the log of a day costs no more there than
its share of machines that others fill, though it would keep one for itself alone. So what the last end may be is cut into
ranges. In one, machines are paid until its first moment at least, and have room until its last one; a job that cannot end
by then rents: an instance of its own to `machine_prices`, with that first moment for a horizon. The least that is proven of
any range holds for all schedules.

Best first: the range that proves least is cut in two at the geometric mean, on the coarsest grid, and once it is narrow or
neither half proves more, its prices are improved on ever finer grids, as those of all ends together are where cutting makes
no difference. No schedule need end after all jobs in turn: where jobs start as early as they can, each does when another
ends, or at once.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from schedgap.formulations.waiting.machine_prices import LATER_STEP, Ascent, MachineTime
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.model import FAMILY, MAX_END_US, WaitingInstance
from schedgap.instances.waiting.verify import exact_sum, rent_of

# Weights of cores and of memory in a job's size, as (cores, memory).
WEIGHTS = ((1, 0), (0, 1), (1, 1))


def work_amount(scaled: Scaled) -> int:
    """Return a lower bound on the amount of every schedule, waits or none.

    s machines that are paid for P do at most s P of work, counting a job as its share of a machine's cores, of its
    memory, or as a weighted mean of both. So fixed jobs cost at least price x share x runtime each, and with any fixed
    job at least one machine is paid for the horizon. O(N log N).

    Runtimes add up to less than 2^62, and everything else is Python's integers: a proof at every size.
    """
    instance = scaled.instance
    cores, memory = instance.cores[scaled.jobs], instance.memory_mib[scaled.jobs]
    kinds, which = np.unique(np.stack((scaled.rent, cores, memory)), axis=1, return_inverse=True)
    runtimes = np.zeros(kinds.shape[1], np.int64)
    np.add.at(runtimes, which.reshape(-1), scaled.runtime)
    best = instance.fixed_price * scaled.horizon + scaled.always_rented
    for of_cores, of_memory in WEIGHTS:
        parts = (of_cores + of_memory) * instance.machine_cores * instance.machine_memory_mib
        total = 0
        for (rent, c, m), runtime in zip(kinds.T.tolist(), runtimes.tolist(), strict=True):
            size = of_cores * c * instance.machine_memory_mib + of_memory * m * instance.machine_cores
            total += runtime * min(rent * parts, instance.fixed_price * size)
        best = max(best, -(-total // parts) + scaled.always_rented)
    return min(best, scaled.all_rented)


@method("bound-work", family=FAMILY, bounds=True)
def bound_work(instance: WaitingInstance) -> Outcome:
    """Bound the cost by the work of the jobs at the lower of two prices; exact integers."""
    scaled = scale(instance)
    return Outcome(bound=scaled.objective(work_amount(scaled)), status=Status.NO_SOLUTION)


# One evaluation looks at up to so many starts of jobs; grids have between so many intervals, each so often those before.
STARTS, LEAST_GRID, MOST_GRID, FINER = 20_000_000, 64, 100_000, 4
# Ends are cut where jobs that never wait end later than that, in shares of the horizon, or where at the best prices for all ends
# more than this share of the machines' time is used behind it.
LATE, BEHIND = 1.01, 0.01
# Up to so many cuts, with so many rounds; they are given up where so many, or all, raise the bound by less than this share.
CUTS, CUT_ROUNDS, CUT_STEP, TRIED, WORTH = 32, 40, 0.03, 8, 0.002
# Prices are free until the last moment of a range, or so often its first one.
FREE = 2
# Of more jobs, ranges take half the rounds on finer grids.
MANY = 20_000
# A range is narrow, and done, if its last moment is, and if a finer grid raises its bound, by less than these shares.
NARROW, DONE = 0.005, 0.0005


@dataclass(slots=True, eq=False)
class EndRange:
    """Schedules whose machines are paid until a moment from the horizon of `scaled` to `last`: a range of ends.

    scaled : their jobs; others rent. ascent : prices that were found. machines, amount : for how many machines they prove least,
    and what, in amounts of `Scaled`. level : how many grids prices were improved on, -1 for the coarsest in a hurry. step : the
    first, of prices that are known.
    """

    scaled: Scaled
    last: int
    ascent: Ascent
    machines: int = 1
    amount: int = 0
    level: int = -1
    step: float = LATER_STEP

    def improve(self, size: int, rounds: int) -> None:
        """Improve prices on a grid of such a size, if it is finer than the last one; a bound never falls."""
        grid = moments(self.scaled, size, self.ascent.problem.until)
        if self.level > 0 and grid.shape == self.ascent.grid.shape:
            return
        self.ascent.improve(grid, rounds, self.step)
        self.machines, amount = self.ascent.problem.least(self.ascent.lines)
        self.amount = max(self.amount, amount)

    def share_behind(self) -> float:
        """Return the work behind the horizon at the best prices, as a share of the machines' time until then."""
        problem, rates = self.ascent.problem, self.ascent.rates
        problem.evaluate(self.ascent.grid, rates[min(rates, key=lambda number: abs(number - self.machines))])
        behind = np.maximum(problem.submit + problem.wait + problem.runtime - self.scaled.horizon, 0)
        used = float(problem.size[0] @ np.where(problem.wait >= 0, behind, 0).astype(np.float64))
        return used / (float(problem.capacity[0]) * self.machines * self.scaled.horizon)

    def least(self, machines: int) -> int:
        """Return what so many machines cost at least."""
        amount = max(line.at(machines) for line in self.ascent.lines) >> self.ascent.problem.bits
        return amount + self.scaled.always_rented


def priced(scaled: Scaled, rounds: int, max_grid: int = MOST_GRID, deadline: float | None = None) -> list[EndRange]:
    """Return ranges of all ends, with prices, from what proves least on; that is the bound.

    rounds : of improving the prices for a number of machines on a grid. max_grid : its intervals. There is a job at least.
    """
    whole = _whole(scaled, deadline)
    ranges, coarsest = [whole], _grids(scaled, max_grid)[0]
    if int((scaled.submit + scaled.runtime).max()) > LATE * scaled.horizon:
        whole.improve(coarsest, min(rounds, CUT_ROUNDS))
        ranges = _cut(whole, rounds, max_grid, deadline) or [_whole(scaled, deadline)]
    else:
        whole.level = 0
        whole.improve(coarsest, rounds)
        if whole.share_behind() > BEHIND:
            ranges = _cut(whole, rounds, max_grid, deadline) or ranges
    # Ranges begin with prices that are good for all of them, and rounds take long for many jobs.
    halved = max(1, rounds // 2) if scaled.num_jobs > MANY else rounds
    while True:
        lowest = min(ranges, key=_amount)
        before, sizes = lowest.amount, _grids(lowest.scaled, max_grid)
        lowest.level += 1
        if lowest.level == len(sizes) or (lowest.ascent.lines and lowest.ascent.is_late()):
            break
        lowest.improve(sizes[lowest.level], halved if len(ranges) > 1 else rounds)
        if len(ranges) > 1 and lowest.level > 0 and lowest.amount - before < DONE * before:
            break
    return sorted(ranges, key=_amount)


def _amount(ends: EndRange) -> int:
    return ends.amount


def _cut(whole: EndRange, rounds: int, max_grid: int, deadline: float | None) -> list[EndRange]:
    """Return ranges of which the one that proves least is narrow, or as many as are to be; none where that is no use."""
    scaled, rounds = whole.scaled, min(rounds, CUT_ROUNDS)
    begun = time.perf_counter()
    give_up = math.inf if deadline is None else begun + (deadline - begun) / 3
    ranges, lowest, worth = [whole], whole, (1 + WORTH) * whole.amount
    for cuts in range(CUTS):
        first, last = lowest.scaled.horizon, lowest.last
        if last - first <= NARROW * first or lowest.amount >= scaled.all_rented or time.perf_counter() > give_up:
            break
        if cuts >= TRIED and lowest.amount < worth:
            break
        middle, halves = math.isqrt(first * last), []
        for begin, end in ((first, middle), (middle + 1, last)):
            within = _within(scaled, begin, end)
            if within.num_jobs:
                until = min(end, FREE * begin)
                problem = MachineTime(within, by_memory=whole.ascent.problem.by_memory, until=until)
                half = EndRange(within, end, Ascent(problem, deadline), amount=lowest.amount, step=CUT_STEP)
                half.ascent.begin_with(lowest.ascent)
                half.improve(_grids(within, max_grid)[0], rounds)
                halves.append(half)
        # Where prices are not free in all of a range, halves may prove nothing more, and theirs do.
        if last <= FREE * first and all(half.amount - lowest.amount < DONE * lowest.amount for half in halves):
            break
        ranges.remove(lowest)
        ranges += halves
        lowest = min(ranges, key=_amount)
    return ranges if lowest.amount >= worth else []


def _whole(scaled: Scaled, deadline: float | None) -> EndRange:
    """Return all ends that schedules need."""
    latest = MAX_END_US // scaled.unit_us
    last = int(scaled.submit.max()) + exact_sum(scaled.runtime)
    if (scaled.longest >= 0).all():
        last = min(last, int((scaled.submit + scaled.longest + scaled.runtime).max()))
    problem = MachineTime(scaled, by_memory=_by_memory(scaled))
    return EndRange(scaled, max(scaled.horizon, min(last, latest)), Ascent(problem, deadline))


def _within(scaled: Scaled, first: int, last: int) -> Scaled:
    """Return the instance of schedules whose machines are paid until a moment from `first` to `last`."""
    slack = last - scaled.submit - scaled.runtime
    longest = np.where(scaled.longest >= 0, np.minimum(scaled.longest, slack), slack)
    may, rents = slack >= 0, slack < 0
    return replace(
        scaled,
        jobs=scaled.jobs[may],
        submit=scaled.submit[may],
        runtime=scaled.runtime[may],
        rent=scaled.rent[may],
        longest=longest[may],
        horizon=first,
        always_rented=scaled.always_rented + rent_of(scaled.rent[rents], scaled.runtime[rents]),
    )


def _by_memory(scaled: Scaled) -> bool:
    """Whether the jobs need more of the machines' memory than of their cores."""
    instance, run = scaled.instance, scaled.runtime.astype(np.float64)
    cores = float(instance.cores[scaled.jobs] @ run) / instance.machine_cores
    memory = float(instance.memory_mib[scaled.jobs] @ run) / instance.machine_memory_mib
    return memory > cores


def moments(scaled: Scaled, most: int, until: int) -> IntArray:
    """Return a grid from 0 to `until`, with the horizon: every moment at which a job may have to start or end, if these are few.

    Else half of the `most` intervals are of equal length, half have equally many of these moments.
    """
    limited = scaled.longest >= 0
    late = scaled.submit[limited] + scaled.longest[limited]
    ends = scaled.submit + scaled.runtime
    points = np.concatenate((scaled.submit, ends, late, late + scaled.runtime[limited]))
    points = np.unique(np.concatenate(([0, scaled.horizon, until], points[points < until])))
    if points.shape[0] <= most + 1:
        return points
    half = max(2, most // 2 + 1)
    # Floats round the longest horizons up.
    even = np.minimum(np.linspace(0, until, half).astype(np.int64), until)
    picked = points[np.linspace(0, points.shape[0] - 1, half).astype(np.int64)]
    return np.unique(np.concatenate((even, picked, [scaled.horizon])))


def grid_size(scaled: Scaled) -> int:
    """Return how many intervals an evaluation can afford."""
    waits = np.where(scaled.longest >= 0, np.minimum(scaled.longest, scaled.horizon), scaled.horizon)
    passes = 2 * float(waits.sum(dtype=np.float64)) / scaled.horizon
    return int(min(MOST_GRID, max(LEAST_GRID, STARTS / max(passes, 1e-9))))


def _grids(scaled: Scaled, max_grid: int) -> list[int]:
    """Return the sizes of grids, from the coarsest on."""
    sizes = [min(max_grid, grid_size(scaled))]
    while sizes[-1] >= FINER * LEAST_GRID:
        sizes.append(sizes[-1] // FINER)
    return sizes[::-1]


@method("bound-fluid", version=7, family=FAMILY, bounds=True)
def bound_fluid(
    instance: WaitingInstance, *, time_limit_s: float | None = None, rounds: int = 120, max_grid: int = MOST_GRID
) -> Outcome:
    """Bound the cost by prices on machine time; exact integers, proven for whole jobs, waits and late ends.

    rounds : of improving the prices for a number of machines on a grid, thrice that for the first one on the coarsest.
    max_grid : intervals of the finest.

    The bound is that of the number of machines for which it is least: every evaluation proves a line over that number. O(rounds
    x (jobs + starts in the jobs' windows)), on the coarsest grid for each of up to 33 ranges of ends (`priced`).

    A proof at every size: prices are found in floats, and what they prove is computed in integers, whatever they are
    (`machine_prices`). Where a job's rent has more than 61 bits it counts as 2^61, which makes the bound weaker.
    """
    if rounds < 1 or max_grid < 1:
        raise MethodError(f"rounds is {rounds}, max_grid {max_grid}; give at least 1.")
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    scaled = scale(instance)
    amount = work_amount(scaled)
    details: dict[str, int | float] = {"cheap_bound": scaled.objective(amount) / DOLLAR}
    built = time.perf_counter()
    if scaled.num_jobs and (deadline is None or built < deadline):
        ranges = priced(scaled, rounds, max_grid, deadline)
        amount = max(amount, ranges[0].amount)
        ascent = ranges[0].ascent
        details |= {
            "grid": ascent.grid.shape[0] - 1,
            "rounds": len(ascent.lines),
            "machines": ranges[0].machines,
            "ranges": len(ranges),
        }
    return Outcome(
        bound=scaled.objective(min(amount, scaled.all_rented)),
        status=Status.NO_SOLUTION,
        build_s=built - begun,
        solve_s=time.perf_counter() - built,
        details=details,
    )
