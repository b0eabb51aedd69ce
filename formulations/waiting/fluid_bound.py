"""The bound for whole traces: prices on machine time, on top of the cheap bounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.demand_curve import demand_curve
from schedgap.formulations.waiting.machine_prices import MachineTime
from schedgap.formulations.waiting.price_ascent import Ascent
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.work_bound import work_amount
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.model import FAMILY

if TYPE_CHECKING:
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.waiting.model import WaitingInstance

# One evaluation looks at up to so many starts of jobs; grids have between so many intervals, each so often those before.
STARTS, LEAST_GRID, MOST_GRID, FINER = 20_000_000, 64, 100_000, 4
# Rounds are cheap on the coarsest grid, and prices have the longest way to go.
FIRST_ROUNDS = 3


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


@method("bound-fluid", version=3, family=FAMILY, bounds=True)
def bound_fluid(
    instance: WaitingInstance, *, time_limit_s: float | None = None, rounds: int = 120, max_grid: int = MOST_GRID
) -> Outcome:
    """Bound the cost by prices on machine time; exact integers, proven for whole jobs, waits and late ends.

    rounds : of improving the prices for a number of machines on a grid, thrice that on the coarsest one. max_grid :
    intervals of the finest.

    The bound is that of the number of machines for which it is least: every evaluation proves a line over that number.
    O(rounds x (jobs + starts in the jobs' windows)).

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
        found = priced(scaled, rounds, min(max_grid, grid_size(scaled)), deadline)
        machines, least_amount = found.problem.least(found.lines)
        amount = max(amount, least_amount)
        details |= {"grid": found.grid.shape[0] - 1, "rounds": len(found.lines), "machines": machines}
    return Outcome(
        bound=scaled.objective(min(amount, scaled.all_rented)),
        status=Status.NO_SOLUTION,
        build_s=built - begun,
        solve_s=time.perf_counter() - built,
        details=details,
    )


def priced(scaled: Scaled, rounds: int, most: int, deadline: float | None = None) -> Ascent:
    """Return prices found on ever finer grids, of up to so many intervals."""
    found = Ascent(MachineTime(scaled, by_memory=_by_memory(scaled)), deadline)
    sizes = [most]
    while sizes[-1] >= FINER * LEAST_GRID:
        sizes.append(sizes[-1] // FINER)
    for size in reversed(sizes):
        if not found.is_late() or not found.lines:
            grid = moments(scaled, size)
            if grid.shape != found.grid.shape:
                found.improve(grid, rounds if found.lines else FIRST_ROUNDS * rounds)
    return found


def _by_memory(scaled: Scaled) -> bool:
    """Whether the jobs need more of the machines' memory than of their cores."""
    instance, run = scaled.instance, scaled.runtime.astype(np.float64)
    cores = float(instance.cores[scaled.jobs] @ run) / instance.machine_cores
    return float(instance.memory_mib[scaled.jobs] @ run) / instance.machine_memory_mib > cores
