"""CP-SAT's scheduling side: optional intervals on machines of which any number may be bought."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.formulations.backends.cp_sat import version
from schedgap.formulations.backends.cp_search import MAX_OBJECTIVE, load_cp_model, search
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


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
