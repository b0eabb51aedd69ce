"""PuLP in both directions: programs stated in it as arrays for every back end, and every solver that it calls as a back end.

A program that is stated in PuLP becomes arrays, and what a back end proves of it counts as for other programs.

A solver that PuLP calls gets the arrays as a program of PuLP. PuLP's reading of its answer is a claim, and a coarse one: some
interfaces call the best solution at a limit optimal, or what may be unbounded infeasible; none returns a bound. So a point
counts where it keeps the rows, whatever is said of it; a bound is read from the solver itself where `BOUNDS` knows how, and
"optimal" counts only beside a bound that meets the point. Without one nothing is proven.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from warnings import catch_warnings

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import BackendError, did_you_mean
from schedgap.instances.method import Status

# PuLP's names for the sides of a row: at most, equal, at least.
AT_MOST, AT_LEAST = -1, 1
# The packages behind solvers that PuLP calls in Python; the others are programs.
PACKAGES = {
    "GUROBI": "gurobipy",
    "COPT": "coptpy",
    "XPRESS_PY": "xpress",
    "SCIP_PY": "pyscipopt",
    "HiGHS": "highspy",
    "MOSEK": "mosek",
    "CPLEX_PY": "cplex",
}
# How the lower bound of a search is read from the solver's own object, after PuLP's call.
BOUNDS: dict[str, Callable[[Any], float]] = {
    "GUROBI": lambda model: model.ObjBound,
    "COPT": lambda model: model.BestBnd,
    "XPRESS_PY": lambda model: model.attributes.bestbound,
    "SCIP_PY": lambda model: model.getDualbound(),
    "HiGHS": lambda model: model.getInfo().mip_dual_bound,
}
# Several interfaces take a gap of 0 for none given, and then stop at 1e-4.
GAP = 1e-12
# How far a point may be off a row, and a bound below the point that it proves, in shares of the larger number.
ROW_TOLERANCE, PROVEN = 1e-6, 1e-7
NO_BOUND = "{} gives no bound through PuLP, so nothing is proven"


def check_solver(name: str) -> None:
    """Refuse a solver that PuLP does not know, or does not find here.

    Raises `BackendError`, naming the way out.
    """
    import pulp

    if name not in (known := pulp.listSolvers()):
        near = did_you_mean(name, known)
        raise BackendError(f"PuLP knows no solver '{name}'; {near}it knows {', '.join(dict.fromkeys(known))}.")
    with catch_warnings(action="ignore"):
        is_here = pulp.getSolver(name, msg=False).available()
    if not is_here:
        what = f"the package {PACKAGES[name]}" if name in PACKAGES else "its program"
        raise BackendError(f"back end pulp:{name}: PuLP does not find {name} here; install {what}, with a licence.")


def found_solvers() -> list[str]:
    """Return the solvers that PuLP finds here, by its names of them."""
    import pulp

    with catch_warnings(action="ignore"):
        return list(dict.fromkeys(pulp.listSolvers(onlyAvailable=True)))


def solve(model: LinearModel, limits: SolveLimits, *, solver: str) -> ModelResult:
    """Minimise a model with a solver that PuLP calls, by PuLP's name of it."""
    start = time.perf_counter()
    is_mip = bool(model.integral.any())
    empty = np.diff(model.matrix.tocsr().indptr) == 0
    if (empty & ((model.row_lower > 0) | (model.row_upper < 0))).any():
        return ModelResult(Status.INFEASIBLE, None, None, None, 0.0, f"pulp:{solver}", version())
    problem, variables = _stated(model, limits.warm_start)
    try:
        # PuLP and Xpress tell of what they will drop.
        with catch_warnings(action="ignore"):
            problem.solve(_prepared(solver, limits, is_mip))
    # Solvers' packages have errors of their own: a size that the licence does not take, or no licence.
    except Exception as error:
        raise BackendError(
            f"{model.name}: {solver}, called by PuLP, ended with {type(error).__name__}: {error}."
        ) from error
    x = _point(model, [variable.value() for variable in variables], solver)
    objective = None if x is None else objective_of(model, x)
    bound = _bound(problem, solver) if is_mip else None
    bound = None if bound is None else bound + model.offset
    status, unproven = (Status.NO_SOLUTION if x is None else Status.FEASIBLE), None
    is_bounded = (np.isfinite(model.lower) | (model.cost <= 0)) & (np.isfinite(model.upper) | (model.cost >= 0))
    ended_early = limits.time_limit_s is not None and time.perf_counter() - start >= limits.time_limit_s
    if x is None and problem.sol_status == -1 and solver in BOUNDS and is_bounded.all() and not ended_early:
        status, bound = Status.INFEASIBLE, None
    elif objective is not None and (_meets(objective, bound) if is_mip else problem.sol_status == 1):
        status = Status.OPTIMAL
    elif is_mip and solver not in BOUNDS:
        unproven = NO_BOUND.format(solver)
    elif x is None and problem.sol_status == -2:
        raise BackendError(f"{model.name}: {solver} calls it unbounded; bound every variable.")
    duals = _duals(problem, model.row_lower.size) if status is Status.OPTIMAL and not is_mip else None
    spent_s = time.perf_counter() - start
    return ModelResult(status, x, objective, bound, spent_s, f"pulp:{solver}", version(), duals, unproven=unproven)


def _meets(objective: float, bound: float | None) -> bool:
    return bound is not None and objective - bound <= PROVEN * max(1.0, abs(objective))


def version() -> str:
    """Return PuLP's version; that of the solver's package is recorded beside it."""
    import pulp

    return str(pulp.__version__)


def _prepared(name: str, limits: SolveLimits, is_mip: bool) -> Any:
    """Return PuLP's object for a solver, with the limits that it takes."""
    import pulp

    wanted: dict[str, Any] = {"timeLimit": limits.time_limit_s, "threads": limits.threads}
    if is_mip:
        wanted |= {"gapRel": GAP, "warmStart": True if limits.warm_start is not None else None}
    takes = inspect.signature(type(pulp.getSolver(name, msg=False))).parameters
    given = {key: value for key, value in wanted.items() if value is not None and key in takes}
    if "threads" not in takes and name in ("GUROBI", "COPT"):
        given["Threads"] = limits.threads
    return pulp.getSolver(name, msg=False, **given)


def _stated(model: LinearModel, start: FloatArray | None) -> tuple[Any, list[Any]]:
    """Return a model as a program of PuLP, without its offset, and its variables; row i is `r<i>u` and `r<i>l`."""
    import pulp

    problem, infinite = pulp.LpProblem("model", pulp.LpMinimize), np.inf
    variables = [
        problem.add_variable(
            f"x{j}",
            None if low == -infinite else low,
            None if up == infinite else up,
            "Integer" if whole else "Continuous",
        )
        for j, (low, up, whole) in enumerate(
            zip(model.lower.tolist(), model.upper.tolist(), model.integral.tolist(), strict=True)
        )
    ]
    problem += pulp.lpSum(cost * variables[j] for j, cost in enumerate(model.cost.tolist()) if cost), "cost"
    rows = model.matrix.tocsr()
    for i, (low, up) in enumerate(zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        columns, values = rows.indices[entries].tolist(), rows.data[entries].tolist()
        if columns:
            left = pulp.lpSum(value * variables[j] for j, value in zip(columns, values, strict=True))
            if low == up:
                problem += left == low, f"r{i}u"
                continue
            if up < infinite:
                problem += left <= up, f"r{i}u"
            if low > -infinite:
                problem += left >= low, f"r{i}l"
    for variable, value in zip(variables, [] if start is None else start.tolist(), strict=start is not None):
        variable.setInitialValue(value, check=False)
    return problem, variables


def _point(model: LinearModel, values: list[float | None], solver: str) -> FloatArray | None:
    """Return the values of the variables where all have one and keep the rows to within tolerances, else None."""
    # PuLP leaves out of a program what is in no row and costs nothing.
    unused = (np.diff(model.matrix.indptr) == 0) & (model.cost == 0)
    given = np.array([np.nan if value is None else value for value in values], np.float64)
    given = np.where(unused, np.clip(0.0, np.ceil(model.lower), np.floor(model.upper)), given)
    if np.isnan(given).any():
        return None
    try:
        x = whole(model, given, solver)
    except BackendError:
        return None
    scale = ROW_TOLERANCE * np.maximum(1.0, abs(model.matrix) @ np.abs(x))
    activity = model.matrix @ x
    return x if ((activity >= model.row_lower - scale) & (activity <= model.row_upper + scale)).all() else None


def _bound(problem: Any, solver: str) -> float | None:
    """Return the lower bound that a solver itself has, None where none can be read."""
    with suppress(Exception):
        bound = float(BOUNDS[solver](problem.solverModel))
        return bound if abs(bound) < 1e20 else None
    return None


def _duals(problem: Any, num_rows: int) -> FloatArray | None:
    """Return (m,) float64, the duals of the rows of an LP; any numbers give a bound that holds."""
    duals = np.zeros(num_rows)
    for row in problem.constraints():
        if row.pi is None:
            return None
        duals[int(row.name[1:-1])] += row.pi
    return duals


def read_program(problem: Any, objective_scale: int) -> LinearModel:
    """Return the arrays of a `pulp.LpProblem` that minimises, its variables in the order of `problem.variables()`.

    objective_scale : units of a family's objective that one unit of the program's is.

    Raises `BackendError` if it maximises.
    """
    if problem.sense == -1:
        raise BackendError(f"{problem.name} maximises; state it as a program that minimises the negative.")
    variables, rows = problem.variables(), problem.constraints()
    place = {variable.name: j for j, variable in enumerate(variables)}
    entries = [(i, place[variable.name], value) for i, row in enumerate(rows) for variable, value in row.items()]
    owner, column, value = (np.array(part) for part in zip(*entries, strict=True))
    # A row is its terms plus a constant, held against 0.
    side = -np.array([row.constant for row in rows], np.float64)
    sense = np.array([row.sense for row in rows])
    cost = np.zeros(len(variables))
    for variable, price in problem.objective.items():
        cost[place[variable.name]] = price
    return LinearModel(
        name=problem.name,
        cost=cost,
        matrix=csc_array(coo_array((value.astype(np.float64), (owner, column)), shape=(len(rows), len(variables)))),
        row_lower=np.where(sense == AT_MOST, -np.inf, side),
        row_upper=np.where(sense == AT_LEAST, np.inf, side),
        lower=_bounds(variables, "lowBound", -np.inf),
        upper=_bounds(variables, "upBound", np.inf),
        integral=np.array([variable.cat == "Integer" for variable in variables]),
        offset=float(problem.objective.constant),
        objective_scale=objective_scale,
        variable_names=tuple(place),
        row_names=tuple(row.name for row in rows),
    )


def give_values(problem: Any, x: FloatArray) -> None:
    """Let the variables of a program have the values of a solution, as after a call of PuLP's own `solve`."""
    for variable, value in zip(problem.variables(), x.tolist(), strict=True):
        variable.varValue = value


def _bounds(variables: list[Any], side: str, none: float) -> FloatArray:
    given = (getattr(variable, side) for variable in variables)
    return np.array([none if bound is None else bound for bound in given], np.float64)
