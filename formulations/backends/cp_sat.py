"""CP-SAT: integer programs in exact arithmetic.

CP-SAT takes integers only, so every row and the objective are multiplied by the least factor that makes all their
coefficients whole, each read as the shortest decimal that denotes it. What does not scale into 62 bits is refused.

A search of CP-SAT's own models of intervals: loading, limits and what its end means.

CP-SAT's scheduling side: tasks of jobs that run on one of several pools of machines, each at its own length.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.linear_model import LinearModel, ModelPoint, ModelResult
from schedgap.formulations.separable import EXACT
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

# CP-SAT reports objectives as doubles: beyond this they are no longer exact.
MAX_OBJECTIVE = 2**52


def load_cp_model() -> Any:
    """Return OR-tools' module of CP-SAT models.

    Raises
    ------
    BackendError
        if OR-tools is not installed.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise BackendError(f"interval models need the package ortools: {error}; install it.") from error
    return cp_model


def new_search(cp_model: Any, threads: int, time_limit_s: float | None) -> Any:
    """Return CP-SAT's solver with its limits."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    if time_limit_s is not None:
        solver.parameters.max_time_in_seconds = float(time_limit_s)
    return solver


def known_statuses(cp_model: Any) -> dict[Any, Status]:
    """Return what the ends of a search mean for a model that has a solution."""
    return {
        cp_model.OPTIMAL: Status.OPTIMAL,
        cp_model.FEASIBLE: Status.FEASIBLE,
        cp_model.UNKNOWN: Status.NO_SOLUTION,
    }


def search(
    cp_model: Any, model: Any, name: str, *, begun: float, time_limit_s: float | None, threads: int, **parameters: Any
) -> tuple[Any, Status]:
    """Search a model that is known to have a solution; return the solver and how it ended.

    begun : when `time_limit_s` began, on `time.perf_counter`'s clock. parameters : of CP-SAT.

    Raises
    ------
    BackendError
        if it ends in any other way than with a solution, or out of time.
    """
    left = None if time_limit_s is None else max(0.0, time_limit_s - (time.perf_counter() - begun))
    solver = new_search(cp_model, threads, left)
    for key, value in parameters.items():
        setattr(solver.parameters, key, value)
    ended = solver.solve(model)
    known = known_statuses(cp_model)
    if ended not in known:
        raise BackendError(f"{name}: cp-sat ends with {solver.status_name(ended)}; a solution is known.")
    return solver, known[ended]


# CP-SAT itself refuses sums beyond 2^63; one bit is kept for its own slack variables.
MAX_ACTIVITY = 2**62
# After so many rows it is seen whether there is time for more: two millions take 20 s.
CHECKED_ROWS = 1024


def version() -> str:
    """Return the version of OR-tools, which CP-SAT shares."""
    return metadata.version("ortools")


def solve(model: LinearModel, limits: SolveLimits) -> ModelResult:
    """Minimise an integer program whose variables all have finite bounds."""
    from ortools.sat.python import cp_model

    start = time.perf_counter()
    if not model.integral.all():
        raise BackendError(f"{model.name}: cp-sat takes whole variables only; use highs, scip or cbc.")
    if not (np.isfinite(model.lower).all() and np.isfinite(model.upper).all()):
        raise BackendError(f"{model.name}: cp-sat needs finite bounds on every variable; give them or use highs.")
    lower, upper = [math.ceil(v) for v in model.lower], [math.floor(v) for v in model.upper]
    if any(low > high for low, high in zip(lower, upper, strict=True)):
        return ModelResult(Status.INFEASIBLE, None, None, None, time.perf_counter() - start, "cp-sat", version())
    program = cp_model.CpModel()
    variables = [program.new_int_var(low, high, "") for low, high in zip(lower, upper, strict=True)]
    deadline = math.inf if limits.time_limit_s is None else start + limits.time_limit_s
    factor = _fill(program, cp_model, model, variables, deadline)
    if factor is None:
        return ModelResult(Status.NO_SOLUTION, None, None, None, time.perf_counter() - start, "cp-sat", version())
    if limits.warm_start is not None:
        for variable, value in zip(variables, limits.warm_start.tolist(), strict=True):
            program.add_hint(variable, round(value))
    left_s = None if limits.time_limit_s is None else max(0.0, deadline - time.perf_counter())
    solver = new_search(cp_model, limits.threads, left_s)
    points: list[ModelPoint] = []

    def known(objective: float | None, bound: float) -> None:
        best = None if objective is None else objective / factor + model.offset
        points.append(ModelPoint(time.perf_counter() - start, best, bound / factor + model.offset))

    class Recorder(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            known(self.objective_value, self.best_objective_bound)

    solver.best_bound_callback = partial(known, None)
    status = _status(solver.solve(program, Recorder()), cp_model, model)
    x = None
    if status in (Status.OPTIMAL, Status.FEASIBLE):
        x = whole(model, np.array([solver.value(v) for v in variables], dtype=np.float64), "cp-sat")
    # Before it has any bound, CP-SAT says 0.
    has_bound = x is not None or (status is Status.NO_SOLUTION and solver.best_objective_bound != 0)
    objective = None if x is None else objective_of(model, x)
    bound = solver.best_objective_bound / factor + model.offset if has_bound else None
    solve_s = time.perf_counter() - start
    # CP-SAT tells no bound when the search is exhausted.
    points.append(ModelPoint(solve_s, objective, bound))
    details = {"branches": float(solver.num_branches), "conflicts": float(solver.num_conflicts)}
    return ModelResult(status, x, objective, bound, solve_s, "cp-sat", version(), None, tuple(points), details)


def _fill(program: Any, cp_model: Any, model: LinearModel, variables: Sequence[Any], deadline: float) -> int | None:
    """Add rows and objective in whole numbers; return the factor of the objective, None where time is up before."""
    reach = [int(most) for most in np.maximum(np.abs(model.lower), np.abs(model.upper)).tolist()]
    by_row = model.matrix.tocsr()
    columns, values, ends = by_row.indices.tolist(), by_row.data.tolist(), by_row.indptr.tolist()
    sides = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(sides):
        if not i % CHECKED_ROWS and time.perf_counter() > deadline:
            return None
        used = columns[ends[i] : ends[i + 1]]
        factor, coefficients = _scaled(
            values[ends[i] : ends[i + 1]], [reach[j] for j in used], f"{model.name}: row {i}"
        )
        program.add_linear_constraint(
            cp_model.LinearExpr.weighted_sum([variables[j] for j in used], coefficients),
            _within(math.ceil(_exact(low) * factor) if math.isfinite(low) else -MAX_ACTIVITY),
            _within(math.floor(_exact(high) * factor) if math.isfinite(high) else MAX_ACTIVITY),
        )
    used = np.flatnonzero(model.cost).tolist()
    factor, costs = _scaled(model.cost[used].tolist(), [reach[j] for j in used], f"{model.name}: the objective")
    program.minimize(cp_model.LinearExpr.weighted_sum([variables[j] for j in used], costs))
    return factor


def _within(side: int) -> int:
    """Return a row's side cut off where no activity reaches it."""
    return min(max(side, -MAX_ACTIVITY), MAX_ACTIVITY)


def _scaled(values: list[float], reach: list[int], what: str) -> tuple[int, list[int]]:
    """Return the least factor that makes all values whole, and the whole values."""
    exact = [_exact(value) for value in values]
    factor = math.lcm(*(value.denominator for value in exact))
    coefficients = [int(value * factor) for value in exact]
    if sum(abs(a) * most for a, most in zip(coefficients, reach, strict=True)) >= MAX_ACTIVITY:
        raise BackendError(f"{what} times {factor} exceeds cp-sat's 62 bits; use rounder coefficients or highs.")
    return factor, coefficients


def _exact(value: float) -> int | Fraction:
    """Return the shortest decimal that denotes a number; most are whole, and quickly told."""
    return int(value) if abs(value) < EXACT and value.is_integer() else Fraction(repr(value))


def _status(ended: Any, cp_model: Any, model: LinearModel) -> Status:
    known = {**known_statuses(cp_model), cp_model.INFEASIBLE: Status.INFEASIBLE}
    if ended not in known:
        raise BackendError(f"{model.name}: cp-sat finds the model invalid: {model.matrix.shape} rows and columns.")
    return known[ended]


@dataclass(frozen=True, slots=True, eq=False)
class PlacementProblem:
    """Choose a pool and a start for each task, so that the sum of the jobs' ends is least.

    Letters: T tasks, J jobs, P pools, D dimensions of size.

    job : (T,) int64, of each task. twin : (T,) int64, an earlier task that is equal to it in all, or -1.
    release : (T,) int64, no start is earlier. earliest_end : (J,) int64, proven. latest_end : (J,) int64, no end of the
    job's tasks is later. length : (T, P) int64, 0 where a task may not run. sizes : (T, D) int64. capacity : (P, D) int64.
    bound : of the sum of ends, proven. pool, start : (T,) int64, a feasible choice to begin from.
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
        for d, room in enumerate(capacity):
            sizes = problem.sizes[tasks[p], d].tolist()
            # What always fits together needs no row.
            if sum(sizes) > room:
                model.add_cumulative(intervals[p], sizes, room)
    return start, where
