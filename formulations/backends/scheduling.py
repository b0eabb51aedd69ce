"""CP-SAT's scheduling side: tasks of jobs that run on one of several pools of machines, each at its own length."""

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
