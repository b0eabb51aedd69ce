"""The time-indexed integer program: one column for each start of each job (Dyer and Wolsey, 1990).

Sets        j jobs; t starts of j in its window, in units of the times' common divisor; m machines, or one kind of
            slots for all of them (`slots`)
Variables   x[j, t, m] in {0, 1}: j runs fixed from t, on m;  Y[m] in {0, 1}: m is bought;
            L >= 0 time paid after the horizon;  P[m] >= 0 the same for machine m
Minimise    price x horizon x sum Y + price x sum P + sum x[j, t, m] (wait_price (t - submit) - rent)  + all rents
Rows        sum_{t, m} x[j, t, m] <= 1                                      for each job
            sum of sizes of jobs that run at t' on m <= size Y[m]          for each t' at which any x starts, m, cores and
            memory; with slots: number of jobs that run at t' <= k sum Y
            Y[m] <= Y[m - 1]
            L >= sum_{t, m} x[j, t, m] (t + runtime - horizon)              for each job that may end so late
            P[m] >= L - L_max (1 - Y[m])

Columns and rows are limited; a longer window is for the bounds.

A back end computes in floats, with tolerances. Its claims are believed where these cannot swallow a unit: sizes are
divided by their common divisor, and no row may have numbers too far apart (`separable`); amounts count steps of their
common divisor and must add up to at most `MAX_AMOUNT`; a bound is believed to a billionth of its size (`trusted`). Other
instances are unsupported. What a back end calls a solution is verified; one that is infeasible after rounding is none.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import INFEASIBLE_SOLUTION, LinearModel, Rows, is_feasible, trusted
from schedgap.formulations.separable import inseparable
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.instances.arrays import BoolArray, IntArray, ranges
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, RENTED, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.verify import verify


def slots_per_machine(instance: WaitingInstance) -> int | None:
    """Return k if any k of the jobs that fit a machine fit it together, and no k + 1 do; None if there is no such k.

    Then s machines are s k slots: jobs that overlap at most s k times at any moment can be coloured with s k colours,
    and the slots shared out among the machines.
    """
    fits = instance.fits_fixed()
    if not fits.any():
        return 1
    kinds = (instance.cores[fits], instance.machine_cores), (instance.memory_mib[fits], instance.machine_memory_mib)
    k = min(_first_that_fit(np.sort(sizes)[::-1], room) for sizes, room in kinds)
    if k == int(fits.sum()):
        return k
    apart = any(_first_that_fit(np.sort(sizes), room) <= k for sizes, room in kinds)
    return k if apart else None


def _first_that_fit(sizes: IntArray, room: int) -> int:
    """Return how many of the first sizes, none above the room, fit it together.

    Where their sum may wrap, it is one of Python's integers.
    """
    if sizes.size * room < 2**63:
        return int(np.searchsorted(np.cumsum(sizes), room, "right"))
    return sum(total <= room for total in accumulate(sizes.tolist()))


def schedule_in_slots(
    instance: WaitingInstance, fixed: BoolArray, start_us: IntArray, per_machine: int
) -> WaitingSchedule:
    """Return the schedule that runs the `fixed` jobs from given starts, on as few machines as that takes.

    Interval colouring: a job takes the lowest free slot. O(J log J).
    """
    machine = np.full(instance.num_jobs, RENTED)
    chosen = np.flatnonzero(fixed)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    slots = 0
    for job in chosen[np.argsort(start_us[chosen], kind="stable")].tolist():
        begins = int(start_us[job])
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            slot = heapq.heappop(free)
        else:
            slot, slots = slots, slots + 1
        machine[job] = slot // per_machine
        heapq.heappush(busy, (begins + int(instance.runtime_us[job]), slot))
    starts = np.where(fixed, start_us, instance.submit_us)
    return WaitingSchedule(-(-slots // per_machine), machine, starts)


# Whole amounts stay exact in floats, as which CP-SAT too tells objectives and bounds.
MAX_WINDOW_AMOUNT = 2**52


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Jobs that fit a machine, with all that an optimal schedule can do.

    latest : (N,) int64, last start, in units of `Scaled`. max_machines : more cost more than renting for all jobs.
    step : greatest common divisor of all amounts. rents : (N,) int64, amount of renting a job, in steps.
    price, wait_price : of a unit of time, in steps.
    """

    scaled: Scaled
    latest: IntArray
    max_machines: int
    slots: int | None
    step: int
    rents: IntArray
    price: int
    wait_price: int


def windows(instance: WaitingInstance) -> Windows | str:
    """Return the windows of an instance, or why there are none: amounts that the back ends' numbers do not hold.

    Starts are whole multiples of the common divisor of all times, and a job starts when it is submitted or when
    another one ends: moving a job to an earlier start that is free keeps a schedule feasible and no dearer. So no
    start is later than the last submission and all other jobs' runtimes one after the other.
    """
    scaled = scale(instance)
    end = int(scaled.submit.max(initial=0)) + int(scaled.runtime.sum())
    limit = np.where(scaled.longest >= 0, scaled.submit + scaled.longest, end)
    latest = np.minimum(limit, end - scaled.runtime)
    rents = [int(r) * int(t) for r, t in zip(scaled.rent, scaled.runtime, strict=True)]
    most = min(scaled.num_jobs, sum(rents) // (instance.fixed_price * scaled.horizon))
    step = math.gcd(instance.fixed_price, instance.wait_price, *rents)
    last_end = max(scaled.horizon, int((latest + scaled.runtime).max(initial=0)))
    waits = sum((latest - scaled.submit).tolist())
    largest = (instance.fixed_price * most * last_end + sum(rents) + instance.wait_price * waits) // step
    if largest > MAX_WINDOW_AMOUNT:
        return f"has amounts up to {largest:.3g} steps, more than {MAX_AMOUNT:.3g}; use bound-fluid, or coarser times"
    return Windows(
        scaled,
        latest,
        most,
        # Where no machine pays, what it could hold does not matter.
        slots_per_machine(instance) if most else 1,
        step,
        np.array([rent // step for rent in rents], dtype=np.int64),
        # Without limit, and of no use, where no machine pays or nobody can wait.
        instance.fixed_price // step if most else 0,
        instance.wait_price // step if waits else 0,
    )


def sizes_of(scaled: Scaled) -> list[tuple[IntArray, int]]:
    """Return the sizes of jobs and what a machine holds, of cores and of memory, in the largest exact units."""
    instance = scaled.instance
    return [
        _by_gcd(instance.cores[scaled.jobs], instance.machine_cores),
        _by_gcd(instance.memory_mib[scaled.jobs], instance.machine_memory_mib),
    ]


def _by_gcd(sizes: IntArray, room: int) -> tuple[IntArray, int]:
    """Return sizes and what holds them, divided by the sizes' common divisor: the same ones fit together."""
    divisor = max(1, int(np.gcd.reduce(sizes, initial=0)))
    return sizes // divisor, min(room, int(sizes.sum(dtype=object) or 0)) // divisor


def schedule_of(found: Windows, present: BoolArray, start: IntArray, machine: IntArray | None) -> WaitingSchedule:
    """Return the schedule of jobs that run fixed. present, start, machine : (N,); machine is None with slots."""
    scaled = found.scaled
    instance = scaled.instance
    start_us = instance.submit_us.copy()
    start_us[scaled.jobs[present]] = start[present] * scaled.unit_us
    fixed = np.zeros(instance.num_jobs, np.bool_)
    fixed[scaled.jobs[present]] = True
    if machine is None:
        return schedule_in_slots(instance, fixed, start_us, found.slots or 1)
    used, numbers = np.unique(machine[present], return_inverse=True)
    where = np.full(instance.num_jobs, RENTED)
    where[scaled.jobs[present]] = numbers
    return WaitingSchedule(used.shape[0], where, start_us)


MAX_ENTRIES = 2_000_000
# Whole numbers of costs stay exact in floats.
MAX_AMOUNT = 2**50


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Starts of jobs, as columns in order: (n,) int64 each. machine is 0 with slots."""

    job: IntArray
    start: IntArray
    machine: IntArray


def too_large(found: Windows) -> str | None:
    """Return None, or why the program would be too large."""
    kinds = 1 if found.slots else found.max_machines
    starts = (found.latest - found.scaled.submit + 1).astype(np.float64)
    entries = float((starts * (found.scaled.runtime + 2)).sum()) * kinds
    if entries > MAX_ENTRIES:
        return f"has some {entries:.3g} starts x runtimes in units of {found.scaled.unit_us} us; use bound-fluid"
    if float(found.rents.sum(dtype=np.float64)) > MAX_AMOUNT:
        return "has amounts that floats do not hold; use bound-fluid"
    return None


def columns(found: Windows) -> Columns:
    """Return all starts of all jobs on all machines."""
    counts = found.latest - found.scaled.submit + 1
    job = np.repeat(np.arange(found.scaled.num_jobs), counts)
    start = ranges(found.scaled.submit, counts)
    kinds = 1 if found.slots else found.max_machines
    machine = np.tile(np.arange(kinds), job.shape[0])
    return Columns(np.repeat(job, kinds), np.repeat(start, kinds), machine)


def time_indexed_model(found: Windows, cols: Columns) -> LinearModel:
    """Build the program; its objective counts multiples of the amounts' step."""
    scaled = found.scaled
    instance = scaled.instance
    num_x, machines = cols.job.shape[0], found.max_machines
    first_y, first_p, paid = num_x, num_x + machines, num_x + 2 * machines
    rows = Rows(paid + 1)
    rows.add("once", (cols.job, np.arange(num_x), 1.0), upper=np.ones(scaled.num_jobs))
    if found.slots:
        _add_capacity(rows, found, cols, np.ones(scaled.num_jobs, np.int64), found.slots, first_y)
    else:
        for sizes, room in sizes_of(found.scaled):
            _add_capacity(rows, found, cols, sizes, room, first_y)
    order = np.arange(max(0, machines - 1))
    before, after = (order, first_y + order, 1.0), (order, first_y + order + 1, -1.0)
    rows.add("order", before, after, lower=np.zeros(order.shape[0]))
    late = np.maximum(cols.start + scaled.runtime[cols.job] - scaled.horizon, 0)
    most_late = int(late.max(initial=0))
    if most_late:
        _add_paid_time(rows, found, cols, late, (first_y, first_p, paid))
    waits = cols.start - scaled.submit[cols.job]
    cost = np.concatenate(
        (
            (found.wait_price * waits - found.rents[cols.job]).astype(np.float64),
            np.full(machines, float(found.price * scaled.horizon)),
            np.full(machines, float(found.price)),
            [0.0],
        )
    )
    upper = np.concatenate((np.ones(num_x + machines), np.full(machines + 1, float(most_late))))
    return rows.model(f"time-indexed-{instance.name}", cost, upper, 1)


def _add_capacity(rows: Rows, found: Windows, cols: Columns, sizes: IntArray, room: int, first_y: int) -> None:
    """Add a row for each time at which a job may start, on each machine: what runs later, all runs at one of these too."""
    times = np.unique(cols.start)
    span = times.shape[0]
    first = np.searchsorted(times, cols.start)
    number = np.searchsorted(times, cols.start + found.scaled.runtime[cols.job]) - first
    column = np.repeat(np.arange(cols.job.shape[0]), number)
    moment = ranges(first, number)
    kinds = 1 if found.slots else found.max_machines
    machines = np.arange(found.max_machines)
    if found.slots:
        row_y, column_y = np.repeat(np.arange(span), machines.shape[0]), np.tile(first_y + machines, span)
    else:
        row_y, column_y = np.arange(span * kinds), first_y + np.repeat(machines, span)
    taken = cols.machine[column] * span + moment, column, sizes[cols.job[column]]
    rows.add("room", taken, (row_y, column_y, -room), upper=np.zeros(span * kinds))


def _add_paid_time(rows: Rows, found: Windows, cols: Columns, late: IntArray, at: tuple[int, int, int]) -> None:
    """Add the rows of the time paid after the horizon."""
    first_y, first_p, paid = at
    jobs, number = np.unique(cols.job[late > 0], return_inverse=True)
    rows.add(
        "late",
        (np.arange(jobs.shape[0]), np.full(jobs.shape[0], paid), 1.0),
        (number, np.flatnonzero(late > 0), -late[late > 0]),
        lower=np.zeros(jobs.shape[0]),
    )
    machines = np.arange(found.max_machines)
    most = float(late.max())
    rows.add(
        "paid",
        (machines, first_p + machines, 1.0),
        (machines, np.full(machines.shape[0], paid), -1.0),
        (machines, first_y + machines, -most),
        lower=np.full(machines.shape[0], -most),
    )


@model_builder("time-indexed", family=FAMILY)
def build(instance: WaitingInstance) -> LinearModel:
    """Build the program that the method `time-indexed` solves, without the rents that are due anyway.

    Raises `MethodError` if it would be too large, or no machine pays.
    """
    found = windows(instance)
    if isinstance(found, str):
        raise MethodError(f"{instance.name} {found}.")
    reason = too_large(found) or (None if found.max_machines else "has no job for which a fixed machine pays")
    if reason is not None:
        raise MethodError(f"{instance.name} {reason}.")
    return time_indexed_model(found, columns(found))


@method("time-indexed", family=FAMILY, version=2, exact=True, choices=MIP_CHOICES)
def time_indexed(
    instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Find the clairvoyant optimum by the time-indexed integer program: short windows in coarse times."""
    begun = time.perf_counter()
    found = windows(instance)
    reason = found if isinstance(found, str) else too_large(found)
    if isinstance(found, str) or reason is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": str(reason)})
    scaled = found.scaled
    nobody, nothing = np.zeros(scaled.num_jobs, np.bool_), np.zeros(scaled.num_jobs, np.int64)
    if not found.max_machines:
        return Outcome(schedule_of(found, nobody, nothing, None), scaled.objective(scaled.all_rented), Status.OPTIMAL)
    cols = columns(found)
    model = time_indexed_model(found, cols)
    reason = inseparable(model)
    if reason is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{reason}; use bound-fluid"})
    built = time.perf_counter()
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    result = solve(model, backend, time_limit_s=left_s, threads=threads)
    solution, present, start, machine = None, nobody.copy(), nothing.copy(), nothing.copy()
    if result.x is not None:
        chosen = np.flatnonzero(result.x[: cols.job.shape[0]] > 0.5)
        present[cols.job[chosen]] = True
        start[cols.job[chosen]] = cols.start[chosen]
        machine[cols.job[chosen]] = cols.machine[chosen]
        solution = schedule_of(found, present, start, None if found.slots else machine)
        if not is_feasible(verify, instance, solution):
            return Outcome(status=Status.NO_SOLUTION, backend=backend, details={"reason": INFEASIBLE_SOLUTION})
    bound = None
    if result.bound is not None and math.isfinite(result.bound):
        bound = scaled.objective(trusted(result.bound) * found.step + scaled.all_rented)
    return Outcome(
        solution,
        bound,
        result.status,
        build_s=built - begun,
        solve_s=result.solve_s,
        trajectory=(),
        backend=backend,
        details={"columns": model.cost.shape[0], "rows": model.row_lower.shape[0], **result.details},
    )
