"""A search of CP-SAT's own models of intervals: loading, limits and what its end means."""

from __future__ import annotations

import time
from typing import Any

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
