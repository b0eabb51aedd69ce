"""HiGHS through highspy: LPs and MIPs, with duals, warm starts, bounds and the trajectory of both."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from schedgap.formulations.backends.contract import SolveLimits, objective_of, whole
from schedgap.formulations.linear_model import LinearModel, ModelPoint, ModelResult
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

# The default mip_rel_gap of 1e-4 calls a solution 0.01 % too dear optimal.
EXACT = {"output_flag": False, "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}
# Between solutions HiGHS tells its bound with the lines of its log only, at most this often, and without `output_flag` it
# writes none; they go nowhere. A call of ours takes 40 microseconds.
TELLING = {"output_flag": True, "log_to_console": False, "mip_min_logging_interval": 0.5}
INTERIOR_POINT = {"solver": "ipm", "run_crossover": "off"}
# HiGHS's dual simplex gives up on an LP at costs of some 1e9, without a status.
LARGE_COST = 2**30
# HiGHS's tolerance on bounds, and by how much a whole variable may be off where others are not whole.
FEASIBILITY = 1e-6
EXACTLY_WHOLE = 1e-9


def version() -> str:
    """Return the version of HiGHS."""
    import highspy

    return str(highspy.Highs().version())


def new_solver(threads: int = 1, **options: Any) -> Any:
    """Return a quiet `highspy.Highs` with exact gaps and the given options.

    Raises
    ------
    BackendError
        if HiGHS does not know an option or its value, which it only reports by a status.
    """
    import highspy

    solver = highspy.Highs()
    for key, value in {**EXACT, "threads": threads, **options}.items():
        if solver.setOptionValue(key, value) != highspy.HighsStatus.kOk:
            raise BackendError(f"HiGHS refuses the option {key}={value}; see its documentation for names and ranges.")
    return solver


def run(solver: Any) -> None:
    """Run HiGHS, whatever number of threads the runs before had.

    It keeps one pool of threads a process and refuses to run with another number until that is reset, in half a microsecond
    for one thread; its status and solution then stay those of the run before. After thousands of runs it may refuse to go on
    from its last basis; then it begins anew.

    Raises
    ------
    BackendError
        if it refuses even so.
    """
    import highspy

    for _ in range(2):
        highspy.Highs.resetGlobalScheduler(True)
        refused = solver.run() == highspy.HighsStatus.kError
        if not refused or solver.getModelStatus() not in (
            highspy.HighsModelStatus.kNotset,
            highspy.HighsModelStatus.kOptimal,
        ):
            return
        solver.clearSolver()
    raise BackendError("HiGHS refuses to run; see its log with output_flag on.")


def pass_model(solver: Any, model: LinearModel) -> None:
    """Load a model into HiGHS, whole arrays at a time.

    Raises
    ------
    BackendError
        if HiGHS finds the model malformed.
    """
    import highspy

    rows, columns = model.matrix.shape
    # HiGHS takes the bounds of whole variables as they are, and returns 3.5 as a whole number where that is one.
    lower = np.where(model.integral, np.ceil(model.lower - FEASIBILITY), model.lower)
    upper = np.where(model.integral, np.floor(model.upper + FEASIBILITY), model.upper)
    # HiGHS reads bounds of 1e20 and above as infinite.
    status = solver.passModel(
        columns,
        rows,
        model.matrix.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        model.offset,
        model.cost,
        lower,
        upper,
        model.row_lower,
        model.row_upper,
        model.matrix.indptr.astype(np.int32),
        model.matrix.indices.astype(np.int32),
        model.matrix.data.astype(np.float64),
        model.integral.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise BackendError(f"{model.name}: HiGHS refuses the model of {rows} rows and {columns} columns.")


def solve(model: LinearModel, limits: SolveLimits) -> ModelResult:
    """Minimise a model."""
    import highspy

    start = time.perf_counter()
    is_mip = bool(model.integral.any())
    solver = new_solver(limits.threads, **_options(model, limits))
    pass_model(solver, model)
    if limits.warm_start is not None:
        point = highspy.HighsSolution()
        point.col_value = limits.warm_start.tolist()
        solver.setSolution(point)
    trajectory = _Trajectory(start)
    if is_mip:
        solver.cbMipImprovingSolution.subscribe(trajectory)
        solver.cbMipLogging.subscribe(trajectory)
    run(solver)
    if solver.getModelStatus() == highspy.HighsModelStatus.kSolveError:
        spent_s, failed = time.perf_counter() - start, "HiGHS ended with 'Solve error': it lost its accuracy"
        return ModelResult(
            Status.NO_SOLUTION, None, None, None, spent_s, "highs", str(solver.version()), unproven=failed
        )
    status = _status(solver, model)
    info, solution = solver.getInfo(), solver.getSolution()
    x = whole(model, solution.col_value, "HiGHS") if status in (Status.OPTIMAL, Status.FEASIBLE) else None
    objective = None if x is None else objective_of(model, x)
    bound = None if status is Status.INFEASIBLE else _finite(info.mip_dual_bound) if is_mip else None
    duals = None
    if not is_mip and status is Status.OPTIMAL and solution.dual_valid:
        duals = np.array(solution.row_dual, dtype=np.float64)
    solve_s = time.perf_counter() - start
    if is_mip:
        trajectory.points.append(ModelPoint(solve_s, objective, bound))
    return ModelResult(
        status,
        x,
        objective,
        bound,
        solve_s,
        "highs",
        str(solver.version()),
        duals,
        tuple(trajectory.points),
        {"nodes": float(info.mip_node_count), "iterations": float(info.simplex_iteration_count)},
    )


def _options(model: LinearModel, limits: SolveLimits) -> dict[str, Any]:
    """Return what HiGHS is told of a model."""
    # HiGHS 1.14 loses optima of programs with both whole and continuous variables in presolve, at a closed gap
    # (min x + 1.5 y, x + y >= 2.5, x whole: 3 instead of 2.75; ERGO-Code/HiGHS issues 2957 and 3043).
    is_mixed = bool(model.integral.any() and not model.integral.all())
    options: dict[str, Any] = {} if limits.presolve and not is_mixed else {"presolve": "off"}
    if is_mixed:
        # Without presolve it still lost 4 optima of 216 such programs, by up to 27%: it took 2 + 3e-10 machines for 2.
        # It lost none at a tolerance of 1e-9.
        options["mip_feasibility_tolerance"] = EXACTLY_WHOLE
    if limits.time_limit_s is not None:
        options["time_limit"] = float(limits.time_limit_s)
    if limits.nodes is not None:
        options["mip_max_nodes"] = limits.nodes
    if model.integral.any():
        options |= TELLING
    elif limits.interior_point:
        options |= INTERIOR_POINT
    largest = float(np.abs(model.cost).max(initial=0.0))
    if not model.integral.any() and largest >= LARGE_COST:
        options["user_objective_scale"] = 20 - math.ceil(math.log2(largest))
    return options


class _Trajectory:
    """Collects incumbents and bounds as HiGHS reports them; start : of the call, on `time.perf_counter`'s clock."""

    def __init__(self, start: float) -> None:
        self.start = start
        self.points: list[ModelPoint] = []
        self.last: tuple[float, float] | None = None

    def __call__(self, event: Any) -> None:
        data = event.data_out
        curr = data.mip_primal_bound, data.mip_dual_bound
        if curr != self.last:
            self.last = curr
            self.points.append(ModelPoint(time.perf_counter() - self.start, *map(_finite, curr)))


def _status(solver: Any, model: LinearModel) -> Status:
    import highspy

    ended = solver.getModelStatus()
    names = highspy.HighsModelStatus
    if ended == names.kUnboundedOrInfeasible:
        ended = _told_apart(solver, model)
    if ended in (names.kOptimal, names.kModelEmpty):
        return Status.OPTIMAL
    if ended == names.kInfeasible:
        return Status.INFEASIBLE
    if ended in (names.kTimeLimit, names.kIterationLimit, names.kSolutionLimit, names.kInterrupt, names.kMemoryLimit):
        # At a limit without an incumbent HiGHS hands back zeros; only these two tell.
        feasible = solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        return Status.FEASIBLE if feasible and solver.getSolution().value_valid else Status.NO_SOLUTION
    raise BackendError(f"{model.name}: HiGHS ended with '{solver.modelStatusToString(ended)}'; bound every variable.")


def _told_apart(solver: Any, model: LinearModel) -> Any:
    """Decide between unbounded and infeasible by solving without an objective."""
    import highspy

    columns = np.arange(model.cost.shape[0], dtype=np.int32)
    solver.changeColsCost(columns.shape[0], columns, np.zeros(columns.shape[0]))
    run(solver)
    feasible = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highspy.HighsModelStatus.kUnbounded if feasible else solver.getModelStatus()


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
