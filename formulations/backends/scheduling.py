"""CP-SAT's scheduling side: optional intervals on machines of which any number may be bought.

CP-SAT's scheduling side: tasks of jobs that run on one of several pools of machines, each at its own length.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.formulations.backends.cp_sat import MAX_OBJECTIVE, load_cp_model, search, version
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


@dataclass(frozen=True, slots=True, eq=False)
class IntervalProblem:
    """Choose which jobs run on bought machines, and from when. Letters: N jobs, D dimensions of size.

    release, latest, length : (N,) int64, first and last start, runtime. absent_cost : (N,) int64, of not running a job
    on a machine. wait_cost : of a unit of time that a job starts after its release. sizes : (D, N) int64.
    capacity : (D,) int64, of one machine. slots : None, or how many jobs a machine runs whatever their sizes.
    max_machines : no more are bought. price : of a machine for a unit of time. horizon : for how long it is paid, or
    until the last end of a job on a machine, if that is later.
    """

    name: str
    release: IntArray
    latest: IntArray
    length: IntArray
    absent_cost: IntArray
    wait_cost: int
    sizes: IntArray
    capacity: IntArray
    slots: int | None
    max_machines: int
    price: int
    horizon: int


@dataclass(frozen=True, slots=True, eq=False)
class IntervalResult:
    """What CP-SAT found. present : (N,) bool, start : (N,) int64, machine : (N,) int64 or None with slots."""

    status: Status
    present: IntArray | None
    start: IntArray | None
    machine: IntArray | None
    bound: int | None
    solve_s: float
    version: str


def solve_intervals(problem: IntervalProblem, *, time_limit_s: float | None = None, threads: int = 1) -> IntervalResult:
    """Minimise the cost of an interval problem.

    Raises
    ------
    BackendError
        if OR-tools is not installed, or amounts are too large to be exact.
    """
    begun = time.perf_counter()
    cp_model = load_cp_model()
    last_end = max(problem.horizon, int((problem.latest + problem.length).max(initial=0)))
    most = problem.price * problem.max_machines * last_end + int(problem.absent_cost.sum())
    most += problem.wait_cost * int((problem.latest - problem.release).sum())
    if most > MAX_OBJECTIVE:
        raise BackendError(f"{problem.name}: amounts up to {most:.3g} exceed {MAX_OBJECTIVE}; use coarser times.")
    model = cp_model.CpModel()
    jobs = range(problem.release.shape[0])
    present = [model.new_bool_var("") for _ in jobs]
    # Waits, not starts: CP-SAT adds a constant such as the cost of all releases to its bound as a float.
    wait = [model.new_int_var(0, int(problem.latest[j] - problem.release[j]), "") for j in jobs]
    start = [int(problem.release[j]) + wait[j] for j in jobs]
    for j in jobs:
        model.add(wait[j] == 0).only_enforce_if(~present[j])
    deadline = None if time_limit_s is None else begun + time_limit_s
    built = _on_machines(model, problem, present, start, deadline)
    if built is None:
        # No cost is negative.
        return IntervalResult(Status.NO_SOLUTION, None, None, None, 0, time.perf_counter() - begun, version())
    where, machines = built
    owned = problem.horizon * machines + _paid_later(model, problem, present, start, machines, last_end)
    rented = sum(int(problem.absent_cost[j]) * (1 - present[j]) for j in jobs)
    model.minimize(problem.price * owned + rented + problem.wait_cost * sum(wait))
    solver, status = search(cp_model, model, problem.name, begun=begun, time_limit_s=time_limit_s, threads=threads)
    spent = time.perf_counter() - begun
    # Before it has any bound, CP-SAT says 0, which holds here: no cost is negative.
    bound = max(0, round(solver.best_objective_bound))
    if status is Status.NO_SOLUTION:
        return IntervalResult(status, None, None, None, bound, spent, version())
    runs = np.array([solver.value(v) for v in present], dtype=np.int64)
    machine = None
    if where is not None:
        machine = np.array([[solver.value(v) for v in row] for row in where], dtype=np.int64).argmax(axis=1)
    starts = np.array([solver.value(v) for v in start], dtype=np.int64)
    return IntervalResult(status, runs, starts, machine, bound, spent, version())


def _on_machines(
    model: Any, problem: IntervalProblem, present: list[Any], start: list[Any], deadline: float | None
) -> tuple[list[list[Any]] | None, Any] | None:
    """Add the capacity of machines; return each job's choice of machine, None with slots, and how many are bought.

    None where the deadline of `perf_counter` passes before: many jobs on many machines take a minute.
    """
    jobs = range(len(present))
    length = problem.length.tolist()
    if problem.slots is not None:
        machines = model.new_int_var(0, problem.max_machines, "")
        intervals = [model.new_optional_fixed_size_interval_var(start[j], length[j], present[j], "") for j in jobs]
        model.add_cumulative(intervals, [1] * len(intervals), problem.slots * machines)
        return None, machines
    where = [[model.new_bool_var("") for _ in range(problem.max_machines)] for _ in jobs]
    bought = [model.new_bool_var("") for _ in range(problem.max_machines)]
    for j in jobs:
        model.add(sum(where[j]) == present[j])
        for m in range(problem.max_machines):
            model.add_implication(where[j][m], bought[m])
        if deadline is not None and time.perf_counter() >= deadline:
            return None
    for m in range(problem.max_machines):
        if deadline is not None and time.perf_counter() >= deadline:
            return None
        intervals = [model.new_optional_fixed_size_interval_var(start[j], length[j], where[j][m], "") for j in jobs]
        for sizes, room in zip(problem.sizes.tolist(), problem.capacity.tolist(), strict=True):
            model.add_cumulative(intervals, sizes, room)
        if m:
            model.add_implication(bought[m], bought[m - 1])
    return where, sum(bought)


def _paid_later(
    model: Any, problem: IntervalProblem, present: list[Any], start: list[Any], machines: Any, last_end: int
) -> Any:
    """Return machines x time that they are paid after the horizon.

    Of a product with all of the time, which begins at the horizon, CP-SAT 9.15's presolve loses optima where that is long.
    """
    late = np.flatnonzero(problem.latest + problem.length > problem.horizon).tolist()
    if not late:
        return 0
    most = last_end - problem.horizon
    later = model.new_int_var(0, most, "")
    for j in late:
        model.add(problem.horizon + later >= start[j] + int(problem.length[j])).only_enforce_if(present[j])
    count = model.new_int_var(0, problem.max_machines, "")
    model.add(count == machines)
    paid = model.new_int_var(0, problem.max_machines * most, "")
    model.add_multiplication_equality(paid, [count, later])
    return paid


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Capacity that a pool lacks from `start` on for `length`: (B,) int64 each; sizes : (B, D) int64, how much."""

    pool: IntArray
    start: IntArray
    length: IntArray
    sizes: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PlacementProblem:
    """Choose a pool and a start for each task, so that the sum of the jobs' ends is least.

    Letters: T tasks, J jobs, P pools, D dimensions of size, B times at which less than a pool's capacity is there.

    job : (T,) int64, of each task. twin : (T,) int64, an earlier task that is equal to it in all, or -1.
    release : (T,) int64, no start is earlier. earliest_end : (J,) int64, proven. latest_end : (J,) int64, no end of the
    job's tasks is later. length : (T, P) int64, 0 where a task may not run. sizes : (T, D) int64. capacity : (P, D) int64.
    bound : of the sum of ends, proven. pool, start : (T,) int64, a feasible choice to begin from.
    missing : of capacity, None if it is there at all times.
    """

    name: str
    job: IntArray
    twin: IntArray
    release: IntArray
    earliest_end: IntArray
    latest_end: IntArray
    length: IntArray
    sizes: IntArray
    capacity: IntArray
    bound: int
    pool: IntArray
    start: IntArray
    missing: Missing | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlacementResult:
    """What CP-SAT found. pool, start : (T,) int64, or None. bound : of the sum of the jobs' ends, or None."""

    status: Status
    pool: IntArray | None
    start: IntArray | None
    bound: int | None
    solve_s: float
    version: str


def twins(order: IntArray, *kinds: IntArray) -> IntArray:
    """Return (T,) int64, the task before each in an order (T,) that is of the same kinds, (T,) each; or -1."""
    before, after = order[:-1], order[1:]
    same = np.logical_and.reduce([kind[before] == kind[after] for kind in kinds])
    twin = np.full(order.shape[0], -1)
    twin[after[same]] = before[same]
    return twin


def solve_placement(
    problem: PlacementProblem, *, time_limit_s: float | None = None, threads: int = 1
) -> PlacementResult:
    """Minimise the sum of the jobs' ends.

    Raises
    ------
    BackendError
        if OR-tools is not installed, or times are too large to be exact.
    """
    begun = time.perf_counter()
    cp_model = load_cp_model()
    most = sum(problem.latest_end.tolist())
    if most > MAX_OBJECTIVE:
        raise BackendError(f"{problem.name}: ends that sum up to {most:.3g} exceed {MAX_OBJECTIVE}; use coarser times.")
    model = cp_model.CpModel()
    start, where = _place(model, problem)
    bounds = zip(problem.earliest_end.tolist(), problem.latest_end.tolist(), strict=True)
    end = [model.new_int_var(least, latest, "") for least, latest in bounds]
    job = problem.job.tolist()
    for t, at in enumerate(where):
        for p, chosen in at.items():
            model.add(end[job[t]] >= start[t] + int(problem.length[t, p])).only_enforce_if(chosen)
    model.add(sum(end) >= problem.bound)
    model.minimize(sum(end))
    # Level 2 takes half the time of the default on instances of a dozen tasks, and proves some that the default does not.
    solver, status = search(
        cp_model, model, problem.name, begun=begun, time_limit_s=time_limit_s, threads=threads, linearization_level=2
    )
    spent = time.perf_counter() - begun
    bound = max(problem.bound, round(solver.best_objective_bound))
    if status is Status.NO_SOLUTION:
        return PlacementResult(status, None, None, bound, spent, version())
    pools = [next(p for p, chosen in at.items() if solver.value(chosen)) for at in where]
    starts = [solver.value(each) for each in start]
    return PlacementResult(status, np.array(pools, np.int64), np.array(starts, np.int64), bound, spent, version())


def _place(model: Any, problem: PlacementProblem) -> tuple[list[Any], list[dict[int, Any]]]:
    """Return each task's start, and for each the pools where it may run, with whether it does."""
    job = problem.job.tolist()
    start: list[Any] = []
    where: list[dict[int, Any]] = []
    intervals: list[list[Any]] = [[] for _ in problem.capacity]
    tasks: list[list[int]] = [[] for _ in problem.capacity]
    for t in range(len(job)):
        pools = np.flatnonzero(problem.length[t]).tolist()
        first, last = int(problem.release[t]), int(problem.latest_end[job[t]])
        start.append(model.new_int_var(first, last - int(problem.length[t, pools].min()), ""))
        model.add_hint(start[t], int(problem.start[t]))
        where.append({p: model.new_bool_var("") for p in pools})
        model.add_exactly_one(where[t].values())
        for p, chosen in where[t].items():
            model.add_hint(chosen, p == problem.pool[t])
            length = int(problem.length[t, p])
            intervals[p].append(model.new_optional_fixed_size_interval_var(start[t], length, chosen, ""))
            tasks[p].append(t)
        if problem.twin[t] >= 0:
            model.add(start[t] >= start[problem.twin[t]])
    for p, capacity in enumerate(problem.capacity.tolist()):
        lacks, lacking = _lacks(model, problem, p)
        for d, room in enumerate(capacity):
            sizes = problem.sizes[tasks[p], d].tolist()
            # What always fits together needs no row.
            if sum(sizes) + int(lacking[:, d].max(initial=0)) > room:
                model.add_cumulative(intervals[p] + lacks, sizes + lacking[:, d].tolist(), room)
    return start, where


def _lacks(model: Any, problem: PlacementProblem, pool: int) -> tuple[list[Any], IntArray]:
    """Return the intervals in which a pool lacks capacity, which do not overlap, and (B, D) int64, how much."""
    missing = problem.missing
    if missing is None:
        return [], np.zeros((0, problem.capacity.shape[1]), np.int64)
    here = np.flatnonzero(missing.pool == pool)
    times = zip(missing.start[here].tolist(), missing.length[here].tolist(), strict=True)
    return [model.new_fixed_size_interval_var(start, length, "") for start, length in times], missing.sizes[here]
