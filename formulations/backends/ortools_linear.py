"""OR-tools' linear solvers through MathOpt: SCIP, GLOP (simplex), PDLP (first order)."""

from __future__ import annotations

import datetime
import math
import time
from importlib import metadata
from typing import Any

import numpy as np

from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


def version(solver: str) -> str:
    """Return the version of OR-tools, and of the solver inside where that has its own."""
    from ortools.linear_solver import pywraplp

    own = f" ({pywraplp.Solver.CreateSolver('SCIP').SolverVersion().split(' [')[0]})" if solver == "scip" else ""
    return f"{metadata.version('ortools')}{own}"


def solve(model: LinearModel, limits: SolveLimits, *, solver: str) -> ModelResult:
    """Minimise a model with one of `scip`, `glop`, `pdlp`."""
    from ortools.math_opt.python import mathopt

    start = time.perf_counter()
    types = {"scip": mathopt.SolverType.GSCIP, "glop": mathopt.SolverType.GLOP, "pdlp": mathopt.SolverType.PDLP}
    program = mathopt.Model.from_model_proto(_proto(model))
    variables, rows = list(program.variables()), list(program.linear_constraints())
    is_mip = bool(model.integral.any())
    parameters = mathopt.SolveParameters()
    if limits.time_limit_s is not None:
        parameters.time_limit = datetime.timedelta(seconds=limits.time_limit_s)
    if limits.threads > 1 and solver == "pdlp":
        parameters.threads = limits.threads
    hints = []
    if is_mip:
        parameters.relative_gap_tolerance = parameters.absolute_gap_tolerance = 0.0
        if limits.warm_start is not None:
            values = dict(zip(variables, limits.warm_start.tolist(), strict=True))
            hints.append(mathopt.SolutionHint(variable_values=values))
    try:
        result = mathopt.solve(
            program, types[solver], params=parameters, model_params=mathopt.ModelSolveParameters(solution_hints=hints)
        )
    except (AttributeError, RuntimeError, ValueError) as error:
        # SCIP refuses costs and sides of 1e20; MathOpt 9.14 then fails in translating the refusal (an AttributeError).
        raise BackendError(f"{model.name}: {solver} refuses the model: {error}.") from error
    if result.termination.reason in (mathopt.TerminationReason.IMPRECISE, mathopt.TerminationReason.NUMERICAL_ERROR):
        why = f"{model.name}: {solver} ended as '{result.termination.reason.name.lower()}'; use highs, or rounder numbers."
        spent_s = time.perf_counter() - start
        return ModelResult(Status.NO_SOLUTION, None, None, None, spent_s, solver, version(solver), unproven=why)
    status = _status(result, model, solver)
    x = None
    if status in (Status.OPTIMAL, Status.FEASIBLE):
        x = whole(model, np.array(result.variable_values(variables), dtype=np.float64), solver)
    dual_bound = result.termination.objective_bounds.dual_bound
    duals = None
    if not is_mip and status is Status.OPTIMAL and solver != "scip" and result.has_dual_feasible_solution():
        duals = np.array(result.dual_values(rows), dtype=np.float64)
    return ModelResult(
        status,
        x,
        None if x is None else objective_of(model, x),
        dual_bound if is_mip and status is not Status.INFEASIBLE and math.isfinite(dual_bound) else None,
        time.perf_counter() - start,
        solver,
        version(solver),
        duals,
        details={"nodes": float(result.solve_stats.node_count)},
    )


def _proto(model: LinearModel) -> Any:
    """Build MathOpt's message from whole arrays."""
    from ortools.math_opt import model_pb2

    rows, columns = model.matrix.shape
    proto = model_pb2.ModelProto(name=model.name)
    proto.variables.ids.extend(range(columns))
    proto.variables.lower_bounds.extend(model.lower.tolist())
    proto.variables.upper_bounds.extend(model.upper.tolist())
    proto.variables.integers.extend(model.integral.tolist())
    priced = np.flatnonzero(model.cost)
    proto.objective.offset = model.offset
    proto.objective.linear_coefficients.ids.extend(priced.tolist())
    proto.objective.linear_coefficients.values.extend(model.cost[priced].tolist())
    proto.linear_constraints.ids.extend(range(rows))
    proto.linear_constraints.lower_bounds.extend(model.row_lower.tolist())
    proto.linear_constraints.upper_bounds.extend(model.row_upper.tolist())
    by_row = model.matrix.tocsr()
    by_row.sort_indices()
    proto.linear_constraint_matrix.row_ids.extend(np.repeat(np.arange(rows), np.diff(by_row.indptr)).tolist())
    proto.linear_constraint_matrix.column_ids.extend(by_row.indices.tolist())
    proto.linear_constraint_matrix.coefficients.extend(by_row.data.tolist())
    return proto


def _status(result: Any, model: LinearModel, solver: str) -> Status:
    from ortools.math_opt.python import mathopt

    reason = mathopt.TerminationReason
    ended = result.termination.reason
    if ended in (reason.OPTIMAL, reason.FEASIBLE):
        return Status.OPTIMAL if ended == reason.OPTIMAL else Status.FEASIBLE
    if ended == reason.INFEASIBLE:
        return Status.INFEASIBLE
    if ended == reason.NO_SOLUTION_FOUND:
        return Status.NO_SOLUTION
    said = f": {result.termination.detail}" if result.termination.detail else ""
    raise BackendError(f"{model.name}: {solver} ended as '{ended.name.lower()}'{said}; bound every variable.")
