"""A linear program that grows: HiGHS kept warm between solves, for column generation and dives.

Primal simplex, since added columns keep the last basis primal feasible (measured on 200 distinct tasks: 3.9 s of LP
time against 20.8 s with the default dual simplex); dual simplex where only bounds of rows change.

A linear program solved as exactly as floating point allows, started from a basis of ours, and retried in trouble.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import ArrayLike

from schedgap.formulations.backends.highs import run
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError


@dataclass(frozen=True, slots=True, eq=False)
class LpSolution:
    """An optimal basic solution, as claimed in floating point. x : (n,). row_duals : (m,)."""

    objective: float
    x: FloatArray
    row_duals: FloatArray


class GrowingLp:
    """Minimise cost @ x over rows with bounds, x >= 0, with columns added as they are found."""

    def __init__(self, row_lower: ArrayLike, row_upper: ArrayLike, *, is_dual: bool = False) -> None:
        self._highs = highspy.Highs()
        for key, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 1 if is_dual else 4),
        ):
            self._set(key, value)
        lower, upper = np.asarray(row_lower, np.float64), np.asarray(row_upper, np.float64)
        none = np.zeros(0)
        starts = np.zeros(lower.shape[0], np.int32)
        self._check(self._highs.addRows(lower.shape[0], lower, upper, 0, starts, none.astype(np.int32), none), "rows")
        self.num_columns = 0

    def add_columns(self, cost: ArrayLike, columns: FloatArray, upper: ArrayLike | None = None) -> None:
        """Add n columns: cost (n,), dense `columns` (n, m), upper (n,) or None for no upper bounds."""
        dense = np.asarray(columns, np.float64)
        number = dense.shape[0]
        if number == 0:
            return
        which, rows = np.nonzero(dense)
        self.add_entries(cost, which, rows, dense[which, rows], upper)

    def add_entries(
        self, cost: ArrayLike, column: IntArray, row: IntArray, value: FloatArray, upper: ArrayLike | None = None
    ) -> None:
        """Add n columns: cost (n,), and their entries, column (e,) from 0 to n - 1 in ascending order, row, value."""
        costs = np.asarray(cost, np.float64)
        number = costs.shape[0]
        status = self._highs.addCols(
            number,
            costs,
            np.zeros(number),
            np.full(number, highspy.kHighsInf) if upper is None else np.asarray(upper, np.float64),
            column.shape[0],
            np.searchsorted(column, np.arange(number)).astype(np.int32),
            row.astype(np.int32),
            value,
        )
        self._check(status, "columns")
        self.num_columns += number

    def add_row(self, lower: float, upper: float, columns: IntArray, values: FloatArray) -> int:
        """Add a row with entries in some columns; return its number."""
        number = int(self._highs.getNumRow())
        self._check(self._highs.addRow(lower, upper, columns.shape[0], columns.astype(np.int32), values), "a row")
        return number

    def set_row_bounds(self, row: int, lower: float, upper: float) -> None:
        """Change the bounds of a row."""
        self._check(self._highs.changeRowBounds(row, lower, upper), "row bounds")

    def set_column_upper(self, columns: IntArray, upper: FloatArray) -> None:
        """Change the upper bounds of some columns."""
        index = columns.astype(np.int32)
        status = self._highs.changeColsBounds(index.shape[0], index, np.zeros(index.shape[0]), upper)
        self._check(status, "column bounds")

    def solve(self, time_limit_s: float = math.inf) -> LpSolution | None:
        """Solve from the last basis; None if the limit was hit or the rows admit no solution."""
        self._set_limit(time_limit_s)
        run(self._highs)
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return self._solution()

    def _solution(self) -> LpSolution:
        solution, info = self._highs.getSolution(), self._highs.getInfo()
        return LpSolution(info.objective_function_value, np.array(solution.col_value), np.array(solution.row_dual))

    def solve_integer(self, time_limit_s: float, *, cutoff: float = math.inf, threads: int = 1) -> FloatArray | None:
        """Return the best whole x found within the limit with an objective below `cutoff`, or None.

        The linear program itself stays as it is.
        """
        mip = highspy.Highs()
        for key, value in (
            ("output_flag", False),
            ("threads", threads),
            ("random_seed", 0),
            ("time_limit", max(0.0, time_limit_s)),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.0),
        ):
            self._check(mip.setOptionValue(key, value), f"option {key}")
        if math.isfinite(cutoff):
            self._check(mip.setOptionValue("objective_bound", cutoff), "option objective_bound")
        model = self._highs.getLp()
        model.integrality_ = [highspy.HighsVarType.kInteger] * self.num_columns
        self._check(mip.passModel(model), "the integer model")
        run(mip)
        info = mip.getInfo()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None
        if info.objective_function_value >= cutoff:
            return None
        return np.array(mip.getSolution().col_value)

    def _set_limit(self, time_limit_s: float) -> None:
        # HiGHS counts the time of all runs of one object together.
        self._set("time_limit", self._highs.getRunTime() + max(0.0, time_limit_s))

    def _set(self, key: str, value: Any) -> None:
        self._check(self._highs.setOptionValue(key, value), f"option {key}={value}")

    def _check(self, status: highspy.HighsStatus, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise BackendError(f"HiGHS refuses {what}; see its log with output_flag on.")


PRIMAL, DUAL = 4, 1
# What is tried until HiGHS ends with a status that says something: the tolerance, of which 1e-10 is the tightest that it
# takes, the strategy, and whether to forget the basis and presolve.
ATTEMPTS = (
    (1e-10, PRIMAL, False),
    (1e-9, PRIMAL, False),
    (1e-8, PRIMAL, False),
    (1e-8, DUAL, False),
    (1e-8, PRIMAL, True),
    (1e-7, DUAL, True),
)
# An attempt that takes so many simplex iterations a row and column, and so many more, leads nowhere.
PATIENCE, LEAST_PATIENCE = 10, 10_000
# HiGHS calls it unknown whether a basis is optimal that is primal and dual feasible, if the two objectives differ by a part
# of themselves that it thinks too large; of an objective that is all but 0 that means nothing. The attempts from this one
# on are content with such a basis.
UNKNOWN, DOUBTED = highspy.HighsModelStatus.kUnknown, 2


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Which variables are basic. columns : (n,) bool. rows : (m,) bool, a row's own slack."""

    columns: BoolArray
    rows: BoolArray


class WarmLp(GrowingLp):
    """Minimise cost @ x over rows with bounds, x >= 0; the feasible set is known to be neither empty nor unbounded."""

    def __init__(self, row_lower: ArrayLike, row_upper: ArrayLike) -> None:
        super().__init__(row_lower, row_upper)
        self._upper_only = np.isneginf(np.asarray(row_lower, np.float64))

    def set_entries(self, column: int, rows: IntArray, values: FloatArray) -> None:
        """Change entries of a column."""
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            self._check(self._highs.changeCoeff(row, column, value), f"entry {row}, {column}")

    def basis(self) -> Basis:
        """Return the basis of the last solution."""
        basis, basic = self._highs.getBasis(), highspy.HighsBasisStatus.kBasic
        return Basis(
            np.array([status == basic for status in basis.col_status], np.bool_),
            np.array([status == basic for status in basis.row_status], np.bool_),
        )

    def set_basis(self, basis: Basis) -> None:
        """Start the next solve from a basis; other variables and rows are at the bound that they have."""
        start = highspy.HighsBasis()
        status = highspy.HighsBasisStatus
        start.col_status = [status.kBasic if basic else status.kLower for basic in basis.columns.tolist()]
        start.row_status = [
            status.kBasic if basic else status.kUpper if upper else status.kLower
            for basic, upper in zip(basis.rows.tolist(), self._upper_only.tolist(), strict=True)
        ]
        start.valid = True
        self._check(self._highs.setBasis(start), "the basis")

    def solve_surely(self, time_limit_s: float) -> LpSolution | None:
        """Solve from the last basis, and otherwise from scratch; None if the limit was hit.

        Raises
        ------
        BackendError
            if HiGHS finds no optimum in any way, naming how it ended. An optimum is one as far as HiGHS can tell: who needs
            proof takes it from the duals.
        """
        self._set_limit(time_limit_s)
        patience = PATIENCE * (self._upper_only.shape[0] + self.num_columns) + LEAST_PATIENCE
        self._set("simplex_iteration_limit", patience)
        for attempt, (tolerance, strategy, anew) in enumerate(ATTEMPTS):
            self._set("primal_feasibility_tolerance", tolerance)
            self._set("dual_feasibility_tolerance", tolerance)
            self._set("simplex_strategy", strategy)
            if anew:
                self._check(self._highs.clearSolver(), "to forget the basis")
                self._set("presolve", "on")
            run(self._highs)
            ended = self._highs.getModelStatus()
            if ended in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
                break
            if ended == UNKNOWN and attempt >= DOUBTED and self._is_feasible_twice(tolerance):
                ended = highspy.HighsModelStatus.kOptimal
                break
        self._set("presolve", "off")
        if ended == highspy.HighsModelStatus.kTimeLimit:
            return None
        if ended != highspy.HighsModelStatus.kOptimal:
            raise BackendError(
                f"HiGHS ended with '{self._highs.modelStatusToString(ended)}' on a linear program of "
                f"{self._upper_only.shape[0]} rows that has an optimum, in {len(ATTEMPTS)} ways; its numbers "
                "differ too much in size."
            )
        return self._solution()

    def _is_feasible_twice(self, tolerance: float) -> bool:
        """Whether the last basis is primal and dual feasible, and so optimal, up to the tolerance."""
        info = self._highs.getInfo()
        return bool(max(info.max_primal_infeasibility, info.max_dual_infeasibility) <= tolerance)

    @property
    def iterations(self) -> int:
        """Simplex iterations of the last solve."""
        return int(self._highs.getInfo().simplex_iteration_count)
