"""The whole problem for CP-SAT: optional intervals for the jobs that may run fixed, and how many machines to buy.

Variables   present[j] whether job j runs fixed;  start[j] in its window;  machines, or which machine
Minimise    price x machines x time paid + rents of the others + wait_price x waits
Rows        cumulative: jobs in slots of all machines, or cores and memory of each machine
            start[j] = submit[j] where job j is rented;  time paid >= horizon and every end of a fixed job

Exact in whole multiples of the greatest common divisor of all times; for windows of some tens to hundreds of jobs.

CP-SAT computes in 64-bit integers, and tells its bound as a float. So amounts, in steps of their common divisor, must add
up to at most `windows.MAX_AMOUNT`, and sizes and the price of waiting x times, in units of theirs, to at most `MAX_WORK`;
beyond that the instance is unsupported. Up to there every claim is a proof.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends.scheduling import IntervalProblem, solve_intervals
from schedgap.formulations.waiting.windows import Windows, schedule_of, sizes_of, windows
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

# Choices of a machine for a job: beyond so many, building the model takes minutes.
MAX_CHOICES = 200_000
# CP-SAT sums the sizes of intervals times their lengths.
MAX_WORK = 2**60


@method("interval-model", version=2, family=FAMILY, exact=True)
def interval_model(instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Find the clairvoyant optimum by CP-SAT over starts, fixed or rented, and the number of machines."""
    begun = time.perf_counter()
    found = windows(instance)
    if isinstance(found, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": found})
    scaled = found.scaled
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    choices = scaled.num_jobs * (1 if found.slots else max(1, found.max_machines))
    if choices > MAX_CHOICES:
        reason = f"has {choices} choices of a machine for a job, more than {MAX_CHOICES}; use bound-fluid"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    if not found.max_machines:
        nobody, nothing = np.zeros(scaled.num_jobs, np.bool_), np.zeros(scaled.num_jobs, np.int64)
        return Outcome(
            schedule_of(found, nobody, nothing, None),
            scaled.objective(scaled.all_rented),
            Status.OPTIMAL,
            backend="cp-sat",
            details={"jobs": scaled.num_jobs, "max_machines": 0, "slots": found.slots or 0},
        )
    problem = _problem(found)
    if isinstance(problem, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": problem})
    if time_limit_s is not None and time.perf_counter() - begun >= time_limit_s:
        return Outcome(status=Status.NO_SOLUTION)
    built = time.perf_counter()
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    result = solve_intervals(problem, time_limit_s=left_s, threads=threads)
    solution = None
    if result.present is not None and result.start is not None:
        solution = schedule_of(found, result.present.astype(np.bool_), result.start, result.machine)
    bound = None
    if result.bound is not None:
        bound = scaled.objective(result.bound * found.step + scaled.always_rented)
    return Outcome(
        solution,
        bound,
        result.status,
        build_s=built - begun,
        solve_s=result.solve_s,
        backend="cp-sat",
        details={"jobs": scaled.num_jobs, "max_machines": found.max_machines, "slots": found.slots or 0},
    )


def _problem(found: Windows) -> IntervalProblem | str:
    """Return the problem in its largest exact units, or what of it leaves the whole numbers in which CP-SAT counts."""
    scaled = found.scaled
    last_end = max(scaled.horizon, int((found.latest + scaled.runtime).max(initial=0)))
    sizes = sizes_of(scaled)
    work = last_end * max(max(room, sum(each.tolist())) for each, room in sizes)
    # Waits are priced as starts less submissions.
    work = max(work, found.wait_price * last_end * scaled.num_jobs)
    if work > MAX_WORK:
        return (
            f"has sizes or prices x times up to {work:.3g}, more than {MAX_WORK:.3g}; use bound-fluid, or coarser units"
        )
    return IntervalProblem(
        scaled.instance.name,
        scaled.submit,
        found.latest,
        scaled.runtime,
        found.rents,
        found.wait_price,
        np.stack([each for each, _ in sizes]),
        np.array([room for _, room in sizes]),
        found.slots,
        found.max_machines,
        found.price,
        scaled.horizon,
    )
