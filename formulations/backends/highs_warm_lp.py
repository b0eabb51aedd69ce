"""A linear program solved as exactly as floating point allows, started from a basis of ours, and retried in trouble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy
import numpy as np

from schedgap.formulations.backends.highs import run
from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.instances.errors import BackendError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

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
