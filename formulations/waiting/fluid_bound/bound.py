"""The bound for whole traces: prices on machine time, on top of the cheap bounds."""

from __future__ import annotations

import time

from schedgap.formulations.waiting.demand_curve import demand_curve
from schedgap.formulations.waiting.fluid_bound.end_ranges import MOST_GRID, priced
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.work_bound import work_amount
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.model import FAMILY, WaitingInstance


@method("bound-fluid", version=7, family=FAMILY, bounds=True)
def bound_fluid(
    instance: WaitingInstance, *, time_limit_s: float | None = None, rounds: int = 120, max_grid: int = MOST_GRID
) -> Outcome:
    """Bound the cost by prices on machine time; exact integers, proven for whole jobs, waits and late ends.

    rounds : of improving the prices for a number of machines on a grid, thrice that for the first one on the coarsest.
    max_grid : intervals of the finest.

    The bound is that of the number of machines for which it is least: every evaluation proves a line over that number.
    O(rounds x (jobs + starts in the jobs' windows)), on the coarsest grid for
    each of up to 33 ranges of ends (`end_ranges`).

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
