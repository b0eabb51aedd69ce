"""One call for every solver: check what it can do, solve, and give LPs a bound that does not rest on its word."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from schedgap.formulations.backends import cbc, cp_sat, highs, ortools_linear, pulp_models
from schedgap.formulations.backends.contract import Backend, SolveLimits, lp_bound
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.formulations.separable import separated
from schedgap.instances.errors import BackendError, did_you_mean
from schedgap.instances.method import Status

MIP = {"mip": True, "warm_start": True, "mip_bound": True}
LP = {"lp": True, "duals": True}


def _in_ortools(name: str, solver: str, **abilities: bool) -> Backend:
    run, version = partial(ortools_linear.solve, solver=name), partial(ortools_linear.version, solver=name)
    return Backend(name, solver, "ortools", run, version, **abilities)


BACKENDS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("highs", "HiGHS", "highspy", highs.solve, highs.version, **LP, **MIP),
        Backend("cp-sat", "CP-SAT", "ortools", cp_sat.solve, cp_sat.version, **MIP),
        _in_ortools("scip", "SCIP", lp=True, **MIP),
        _in_ortools("glop", "GLOP", **LP),
        _in_ortools("pdlp", "PDLP", **LP),
        Backend("cbc", "COIN-OR CBC", "pulp", cbc.solve, cbc.version, **LP, **MIP),
    )
}

LP_BACKENDS = tuple(backend.name for backend in BACKENDS.values() if backend.lp)
# The `choices` of methods that any program of integers solves; CP-SAT takes no variables without an upper bound.
MIP_CHOICES = {"backend": (*(backend.name for backend in BACKENDS.values() if backend.mip), "pulp:SOLVER")}
UNBOUNDED_MIP_CHOICES = {"backend": tuple(name for name in MIP_CHOICES["backend"] if name != "cp-sat")}

# Names of back ends that are PuLP's solvers begin so.
PULP = "pulp:"

# Solvers disagree on which bounds are finite: HiGHS's limit is 1e20, and CBC and PDLP lose rows with larger ones.
INFINITE = 1e20


def find_backend(name: str) -> Backend:
    """Return a back end.

    Raises
    ------
    BackendError
        naming the nearest known ones.
    """
    if name.startswith(PULP):
        return _by_pulp(name)
    if name not in BACKENDS:
        near = did_you_mean(name, BACKENDS)
        raise BackendError(f"there is no back end '{name}'; {near}known are {', '.join(BACKENDS)}, pulp:SOLVER.")
    return BACKENDS[name]


@cache
def _by_pulp(name: str) -> Backend:
    solver = name.removeprefix(PULP)
    pulp_models.check_solver(solver)
    package, bounds = pulp_models.PACKAGES.get(solver, "pulp"), solver in pulp_models.BOUNDS
    run = partial(pulp_models.solve, solver=solver)
    return Backend(name, solver, package, run, pulp_models.version, **LP, **{**MIP, "mip_bound": bounds})


def solve(
    model: LinearModel,
    backend: str = "highs",
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    warm_start: ArrayLike | None = None,
    relax: bool = False,
    presolve: bool = True,
    interior_point: bool = False,
    nodes: int | None = None,
) -> ModelResult:
    """Minimise a model.

    warm_start : (n,) values of the variables; a back end that uses none ignores it. relax : solve the LP relaxation.
    presolve : False asks a back end not to simplify the model first; one that has no such switch ignores it.
    interior_point : asks for an LP's optimum to within tolerances, by an interior-point method without crossover to a
    vertex, which is faster where LPs are large and degenerate; a back end that has no such switch ignores it.
    nodes : of branching, after which `highs` ends as at a time limit, on any machine alike; others ignore it.
    A MIP is OPTIMAL when the solver closed the gap (to 0, not to its default of 0.01 %). The bound of an LP is
    recomputed from its duals (see `certificate.lp_bound`), so that it holds whatever the solver's tolerances were. A search
    over whole variables proves something only where the rows are separable (see `separable.py`); elsewhere the answer is a
    solution without a bound, and `unproven` says why.

    Raises
    ------
    BackendError
        if the back end cannot take such a model, is not installed, or ends in a state that is no result.
    """
    chosen = find_backend(backend)
    if relax:
        model = replace(model, integral=np.zeros(model.cost.shape[0], np.bool_))
    if (reason := chosen.refusal(model)) is not None:
        raise BackendError(f"{model.name}: {reason}.")
    start = None if warm_start is None else np.asarray(warm_start, dtype=np.float64)
    if start is not None and start.shape != model.cost.shape:
        raise BackendError(f"{model.name}: warm start has shape {start.shape}, expected {model.cost.shape}.")
    if threads < 1:
        raise BackendError(f"{model.name}: {threads} threads; give at least 1.")
    unproven = None
    try:
        if time_limit_s is not None and time_limit_s <= 0:
            return ModelResult(Status.NO_SOLUTION, None, None, None, 0.0, backend, chosen.version())
        given, unproven = separated(_with_infinite_bounds(model))
        if _is_contradictory(model) or _is_contradictory(given):
            return ModelResult(Status.INFEASIBLE, None, None, None, 0.0, backend, chosen.version())
        result = chosen.run(given, SolveLimits(time_limit_s, threads, start, presolve, interior_point, nodes))
    except BackendError:
        # Numbers that are too far apart anyway may well be too many digits for CP-SAT, or no valid model to CBC.
        if unproven is None:
            raise
        return ModelResult(Status.NO_SOLUTION, None, None, None, 0.0, backend, chosen.version(), unproven=unproven)
    except ImportError as error:
        raise BackendError(f"back end {backend} needs the package {chosen.package}: {error}; install it.") from error
    if not model.integral.any() and result.row_duals is not None:
        return replace(result, bound=lp_bound(model, result.row_duals))
    return result if unproven is None else _without_claims(result, unproven)


def _without_claims(result: ModelResult, unproven: str) -> ModelResult:
    """Return the answer of a search that proves nothing: what it found, and why there is no more to it."""
    return replace(
        result,
        status=Status.NO_SOLUTION if result.x is None else Status.FEASIBLE,
        bound=None,
        trajectory=(),
        unproven=unproven,
    )


def _is_contradictory(model: LinearModel) -> bool:
    """Whether bounds alone exclude every x: solvers refuse such models, swap the bounds, or call them optimal."""
    crossed = (model.lower > model.upper).any() or (model.row_lower > model.row_upper).any()
    without_columns = model.matrix.shape[1] == 0 and ((model.row_lower > 0) | (model.row_upper < 0)).any()
    return bool(crossed or without_columns)


def _with_infinite_bounds(model: LinearModel) -> LinearModel:
    """Return the model with every bound that no solver's arithmetic reaches made infinite."""
    sides = (model.lower, model.row_lower, -model.upper, -model.row_upper)
    if not any((np.isfinite(side) & (side <= -INFINITE)).any() for side in sides):
        return model
    lower, row_lower, upper, row_upper = (np.where(side <= -INFINITE, -np.inf, side) for side in sides)
    return replace(model, lower=lower, row_lower=row_lower, upper=-upper, row_upper=-row_upper)
