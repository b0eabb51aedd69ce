"""Primal simplex in whole numbers of any size, for linear programs that floating point cannot solve.

The tableau of a basis B is kept in whole numbers over one denominator, |det B|, which every pivot divides out exactly (Edmonds,
1967; Bareiss, 1968): for M rows and N columns a pivot is O(M N) products of numbers with as many digits as that determinant.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

# Pivots in a row that raise nothing after which the rule is one that cannot go in circles (Bland, 1977).
PATIENCE = 30


class OutOfTimeError(Exception):
    """The deadline was met within a program."""


class ExactTableau:
    """Maximise one variable over matrix @ x <= room, x >= 0, all whole numbers, from x = 0 on.

    Variables are numbered: columns of the matrix 0 to n - 1, the rows' slacks n to n + m - 1, later ones from there.
    basic : of each row of the tableau, its variable. others : of each column. value : of the basic variables.
    """

    def __init__(self, matrix: Any, room: Sequence[int]) -> None:
        rows, columns = matrix.shape
        # The last row is that of the objective.
        self.table = np.zeros((rows + 1, columns), object)
        self.table[:rows] = matrix
        self.denominator = 1
        self.first_slack, self.next_variable = columns, columns + rows
        self.basic = list(range(columns, columns + rows))
        self.others = list(range(columns))
        self.value = [Fraction(each) for each in room]

    def add_objective(self, slacks: Sequence[int], coefficients: Sequence[int]) -> int:
        """Add a variable with entries in some rows, to be maximised instead of the last; return its number."""
        column = np.zeros(self.table.shape[0], object)
        place = {variable: j for j, variable in enumerate(self.others)}
        row = {variable: r for r, variable in enumerate(self.basic)}
        for slack, coefficient in zip(slacks, coefficients, strict=True):
            variable = self.first_slack + slack
            if variable in place:
                column = column + coefficient * self.table[:, place[variable]]
            else:
                column[row[variable]] += coefficient * self.denominator
        self.table = np.hstack((self.table, column[:, None]))
        self.table[-1] = 0
        self.table[-1, -1] = -self.denominator
        self.others.append(self.next_variable)
        self.next_variable += 1
        return self.others[-1]

    def maximise(self, deadline: float) -> None:
        """Pivot until the objective is as large as it can be, which is known to be finite.

        Raises
        ------
        OutOfTimeError
            at the deadline, on `time.perf_counter`'s clock.
        """
        idle = 0
        while (column := self._entering(careful=idle > PATIENCE)) is not None:
            if time.perf_counter() > deadline:
                raise OutOfTimeError
            row = self._leaving(column)
            idle = 0 if self.value[row] else idle + 1
            self.pivot(row, column)

    def fix(self, variable: int, instead: int) -> Fraction:
        """Keep a basic variable at its value from now on, a nonbasic one in its place; return the value."""
        row, column = self.basic.index(variable), self.others.index(instead)
        value, self.value[row] = self.value[row], Fraction(0)
        self.pivot(row, column)
        self.table = np.delete(self.table, column, axis=1)
        del self.others[column]
        return value

    def pivot(self, row: int, column: int) -> None:
        """Exchange the basic variable of a row for the variable of a column."""
        table, by = self.table, self.table[row, column]
        step = self.value[row] * Fraction(self.denominator, by)
        entering = table[:, column].copy()
        for r in np.flatnonzero(entering[:-1] != 0).tolist():
            self.value[r] -= step * Fraction(entering[r], self.denominator)
        self.value[row] = step
        kept = table[row].copy()
        table *= by
        some = np.flatnonzero(entering != 0)
        table[some] -= entering[some, None] * kept
        table //= self.denominator
        table[row] = kept
        table[:, column] = -entering
        table[row, column] = self.denominator
        self.denominator = by
        if by < 0:
            np.negative(table, out=table)
            self.denominator = -by
        self.basic[row], self.others[column] = self.others[column], self.basic[row]

    def duals(self) -> dict[int, int]:
        """Return what is positive of the rows' duals, times the denominator."""
        first, after = self.first_slack, self.first_slack + self.table.shape[0] - 1
        worth = zip(self.others, self.table[-1].tolist(), strict=True)
        return {variable - first: dual for variable, dual in worth if first <= variable < after and dual}

    def values(self) -> dict[int, Fraction]:
        """Return the positive values of the matrix's own variables."""
        both = zip(self.basic, self.value, strict=True)
        return {variable: value for variable, value in both if variable < self.first_slack and value}

    def _entering(self, *, careful: bool) -> int | None:
        worth = self.table[-1].tolist()
        better = [j for j, each in enumerate(worth) if each < 0]
        if not better:
            return None
        return min(better, key=lambda j: (0 if careful else worth[j], self.others[j]))

    def _leaving(self, column: int) -> int:
        entries = self.table[:-1, column].tolist()
        rows = [r for r, entry in enumerate(entries) if entry > 0]
        return min(rows, key=lambda r: (self.value[r] / entries[r], self.basic[r]))
