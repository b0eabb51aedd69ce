"""The bound for whole traces: prices on machine time, on top of the cheap bounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.demand_curve import demand_curve
from schedgap.formulations.waiting.machine_prices import MachineTime, Side
from schedgap.formulations.waiting.price_ascent import ascend
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.work_bound import work_amount
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.model import FAMILY

if TYPE_CHECKING:
    from schedgap.formulations.waiting.demand_curve import DemandCurve
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance

# One evaluation looks at up to so many starts of jobs; grids have between so many intervals.
STARTS, LEAST_GRID, MOST_GRID = 20_000_000, 64, 20_000
# From so many machines on, a whole number of them adds less than a hundredth of a machine's worth in a few hundred.
WHOLE_BELOW = 50


def moments(scaled: Scaled, most: int) -> IntArray:
    """Return a grid from 0 to the horizon: every moment at which a job may have to start or end, if these are few.

    Else half of the `most` intervals are of equal length, half have equally many of these moments.
    """
    limited = scaled.longest >= 0
    late = scaled.submit[limited] + scaled.longest[limited]
    ends = scaled.submit + scaled.runtime
    points = np.concatenate((scaled.submit, ends, late, late + scaled.runtime[limited]))
    points = np.unique(np.concatenate(([0, scaled.horizon], points[points < scaled.horizon])))
    if points.shape[0] <= most + 1:
        return points
    half = max(2, most // 2 + 1)
    # Floats round the longest horizons up.
    even = np.minimum(np.linspace(0, scaled.horizon, half).astype(np.int64), scaled.horizon)
    picked = points[np.linspace(0, points.shape[0] - 1, half).astype(np.int64)]
    return np.unique(np.concatenate((even, picked)))


def grid_size(scaled: Scaled) -> int:
    """Return how many intervals an evaluation can afford."""
    waits = np.where(scaled.longest >= 0, np.minimum(scaled.longest, scaled.horizon), scaled.horizon)
    spans = 2 * float(waits.sum(dtype=np.float64)) / scaled.horizon
    return int(min(MOST_GRID, max(LEAST_GRID, STARTS / max(spans, 1e-9))))


def first_shares(
    problem: MachineTime, curve: DemandCurve | str, machines: int | None, side: Side, known: FloatArray | None = None
) -> list[FloatArray]:
    """Return shares to start with: known or even ones, the demand curve's, and these mixed with even ones.

    The demand curve's own prices are the rent of a core whenever machines are short. machines : None for any number.
    """
    even = problem.lengths / problem.lengths.sum()
    starts = [even if known is None else known]
    if not isinstance(curve, str):
        bought = curve.best_machines() if machines is None else machines
        summed = np.concatenate(([0], np.cumsum(curve.congested(bought))))
        short = np.diff(np.interp(problem.grid, curve.moments, summed))
        budget = float(problem.budget >> problem.bits)
        worth = short * float(curve.rent) * problem.scaled.instance.machine_cores / budget
        if side is Side.AT_LEAST or worth.sum() < 1:
            worth /= max(worth.sum(), 1e-300)
        if worth.any():
            starts += [worth, 0.9 * worth + 0.1 * even]
    if known is not None:
        starts += [0.95 * known + 0.05 * even]
    return starts


@method("bound-fluid", family=FAMILY, bounds=True)
def bound_fluid(
    instance: WaitingInstance, *, time_limit_s: float | None = None, rounds: int = 300, max_grid: int = MOST_GRID
) -> Outcome:
    """Bound the cost by prices on machine time; exact integers, proven for whole jobs, waits and late ends.

    rounds : of improving the prices, thrice that where whole numbers of machines matter. max_grid : intervals.

    Schedules with s machines are covered by two bounds, for s <= k and s > k, where k is the number that the bound for
    any s would buy: the optimum buys whole machines. O(rounds x (jobs + starts in the jobs' windows)).

    A proof at every size: prices are found in floats, and what they prove is computed in integers, whatever they are
    (`machine_prices`). Where a job's rent has more than 61 bits it counts as 2^61, which makes the bound weaker.
    """
    if rounds < 1 or max_grid < 1:
        raise MethodError(f"rounds is {rounds}, max_grid {max_grid}; give at least 1.")
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    scaled = scale(instance)
    curve = demand_curve(scaled)
    details: dict[str, int | float] = {}
    amount = work_amount(scaled)
    if not isinstance(curve, str):
        least = curve.cost(curve.best_machines()) + scaled.always_rented
        amount = max(amount, -(-least.numerator // least.denominator))
    details["cheap_bound"] = scaled.objective(amount) / DOLLAR
    built = time.perf_counter()
    if scaled.num_jobs and (deadline is None or built < deadline):
        problem = MachineTime(scaled, moments(scaled, min(max_grid, grid_size(scaled))), by_memory=_by_memory(scaled))
        amount = max(amount, _priced_amount(problem, curve, rounds, deadline, details))
    return Outcome(
        bound=scaled.objective(min(amount, scaled.all_rented)),
        status=Status.NO_SOLUTION,
        build_s=built - begun,
        solve_s=time.perf_counter() - built,
        details=details,
    )


def _priced_amount(
    problem: MachineTime,
    curve: DemandCurve | str,
    rounds: int,
    deadline: float | None,
    details: dict[str, int | float],
) -> int:
    """Return the best bound of prices, for any number of machines or for whole ones."""
    parts = 1 if deadline is None else 3
    first = None if deadline is None else time.perf_counter() + (deadline - time.perf_counter()) / parts
    start = first_shares(problem, curve, None, Side.AT_LEAST)
    relaxed = ascend(problem, start, 0, Side.AT_LEAST, rounds, first)
    level = float(relaxed.shares @ relaxed.levels)
    details |= {"grid": problem.lengths.shape[0], "rounds": relaxed.rounds, "machines": level}
    amount = relaxed.amount or 0
    if level < WHOLE_BELOW and (deadline is None or time.perf_counter() < deadline):
        below = problem.scaled.all_rented
        k = int(level)
        if k:
            half = None if deadline is None else (time.perf_counter() + deadline) / 2
            start = first_shares(problem, curve, k, Side.AT_MOST, relaxed.shares)
            low = ascend(problem, start, k, Side.AT_MOST, rounds, half)
            below = low.amount or 0
            details["rounds"] += low.rounds
        start = first_shares(problem, curve, k + 1, Side.AT_LEAST, relaxed.shares)
        high = ascend(problem, start, k + 1, Side.AT_LEAST, rounds, deadline)
        details["rounds"] += high.rounds
        amount = max(amount, min(below, high.amount or 0))
    return amount


def _by_memory(scaled: Scaled) -> bool:
    """Whether the jobs need more of the machines' memory than of their cores."""
    instance, run = scaled.instance, scaled.runtime.astype(np.float64)
    cores = float(instance.cores[scaled.jobs] @ run) / instance.machine_cores
    return float(instance.memory_mib[scaled.jobs] @ run) / instance.machine_memory_mib > cores
