"""The restricted master: which columns are known, and the linear program over them.

    minimise    sum_p price[kind p] x[p]                                 x[p] >= 0: machines of a kind with a pattern
    subject to  sum_p pattern[p, i] x[p] >= left[i]                      for each item i
                low[r] <= sum_p others[p, r] x[p] <= high[r]             for each other row r

The other rows are the problem's: what is rented, kept, moved, cut off. Money is in dollars in the program, for the solver.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.units import DOLLAR

# Columns that there is room for at first, what leaving an item out costs in prices of the dearest machine, and the share of its
# price that a column has to gain.
FIRST, PENALTY, GAIN = 256, 10.0, 1e-9


class Master:
    """Columns found so far and their linear program; a subclass says what they have in rows beyond the items.

    Attributes
    ----------
    price : (K,) int64, micro-dollars, of a machine of each kind.
    asked : (n,) int64, how much of each item is asked for; left : (n,) int64, what is left of it in a dive.
    low, high : (R,) float64, limits of the other rows.
    num_columns : P. kind : (P,) int64 and patterns : (P, n) int64, the columns.
    slack : (S,) float64, how much of the first columns, which cover rows at a high price, the last solution uses.
    """

    def __init__(self, price: IntArray, asked: IntArray, low: FloatArray, high: FloatArray) -> None:
        self.price, self.asked, self.left = price, asked, asked
        self.low, self.high = low, high
        self.num_columns = 0
        self._kind, self._patterns = np.zeros(FIRST, np.int64), np.zeros((FIRST, asked.shape[0]), np.int64)
        self._known: set[bytes] = set()
        self.slack: FloatArray = np.zeros(0)
        self.build()

    def build(self) -> None:
        """Make the linear program anew, for the limits as they are now."""
        self._lp = GrowingLp(*self._sides(self.left))
        cost, columns = self.covers()
        self._lp.add_columns(cost, columns)
        self._first = cost.shape[0]
        self._add_columns(0)

    def _sides(self, asked: IntArray) -> tuple[FloatArray, FloatArray]:
        most = np.full(asked.shape[0], np.inf)
        return np.concatenate((asked, self.low)).astype(np.float64), np.concatenate((most, self.high))

    def covers(self) -> tuple[FloatArray, FloatArray]:
        """Return costs (S,), dollars, and columns (S, n + R) that cover what has to be, so that there is always a solution."""
        low, _ = self._sides(self.left)
        columns = np.eye(low.shape[0])[np.isfinite(low)]
        return np.full(columns.shape[0], PENALTY * float(self.price.max()) / DOLLAR), columns

    def others(self, kind: IntArray, patterns: IntArray) -> NDArray[Any]:
        """(m, R): what columns of kinds (m,) with patterns (m, n) have in the other rows."""
        return np.zeros((kind.shape[0], 0), np.int64)

    def is_of_use(self, kind: int, pattern: IntArray) -> bool:
        """Return whether a column says anything: whether the machine holds some item."""
        return bool(pattern.any())

    def allows(self, patterns: IntArray) -> BoolArray:
        """(m,): whether a machine may have a pattern: no more than is left to ask for."""
        return np.asarray((patterns <= self.left).all(axis=1))

    @property
    def kind(self) -> IntArray:
        """(P,) int64: the kind of machine of each column."""
        return self._kind[: self.num_columns]

    @property
    def patterns(self) -> IntArray:
        """(P, n) int64: how much of each item each column holds."""
        return self._patterns[: self.num_columns]

    def rows(self, kind: IntArray, patterns: IntArray) -> FloatArray:
        """(m, n + R): what columns have in each row of the program."""
        return np.hstack((patterns, self.others(kind, patterns))).astype(np.float64)

    def reduced_costs(self, kind: IntArray, patterns: IntArray, duals: FloatArray) -> FloatArray:
        """(m,) dollars: the prices of machines of these kinds, less what their patterns are worth at the rows' duals."""
        return self.price[kind] / DOLLAR - self.rows(kind, patterns) @ duals

    def improving(self, kind: IntArray, patterns: IntArray, duals: FloatArray) -> IntArray:
        """Return the indices of the columns that are allowed and would improve the master at its duals."""
        least = -GAIN * self.price[kind] / DOLLAR
        return np.flatnonzero(self.allows(patterns) & (self.reduced_costs(kind, patterns, duals) < least))

    def add(self, kind: IntArray, patterns: IntArray) -> int:
        """Add columns that are not known yet; returns how many were new. kind : (m,), patterns : (m, n) int64."""
        before = self.num_columns
        for k, pattern in zip(kind.tolist(), patterns, strict=True):
            key = k.to_bytes(4, "little") + pattern.tobytes()
            if key in self._known or not self.is_of_use(k, pattern):
                continue
            self._known.add(key)
            if self.num_columns == self._kind.shape[0]:
                self._kind = np.concatenate((self._kind, np.zeros_like(self._kind)))
                self._patterns = np.concatenate((self._patterns, np.zeros_like(self._patterns)))
            self._kind[self.num_columns], self._patterns[self.num_columns] = k, pattern
            self.num_columns += 1
        self._add_columns(before)
        return self.num_columns - before

    def _add_columns(self, first: int) -> None:
        kind, patterns = self.kind[first:], self.patterns[first:]
        upper = np.where(self.allows(patterns), np.inf, 0.0)
        self._lp.add_columns(self.price[kind] / DOLLAR, self.rows(kind, patterns), upper)

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of the other rows, (R,) each."""
        for r in np.flatnonzero((low != self.low) | (high != self.high)).tolist():
            self._lp.set_row_bounds(self.asked.shape[0] + r, float(low[r]), float(high[r]))
        self.low, self.high = low.copy(), high.copy()

    def restrict(self, left: IntArray) -> None:
        """Ask only for `left` (n,) of each item, by columns that are allowed then."""
        for i in np.flatnonzero(left != self.left).tolist():
            self._lp.set_row_bounds(i, float(left[i]), np.inf)
        self.left = left.copy()
        upper = np.where(self.allows(self.patterns), np.inf, 0.0)
        self._lp.set_column_upper(np.arange(self.num_columns) + self._first, upper)

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; `x` (P,) holds the columns found only. None if the limit was hit."""
        found = self._lp.solve(time_limit_s)
        if found is None:
            return None
        self.slack = found.x[: self._first]
        return LpSolution(found.objective, found.x[self._first :], found.row_duals)

    def solve_integer(self, time_limit_s: float, cutoff: int | None = None, threads: int = 1) -> IntArray | None:
        """Return machines (P,) of the best solution of all that is asked for, within the limits; None if none was found.

        Parameters
        ----------
        time_limit_s : seconds.
        cutoff : micro-dollars, it must cost less, or None.
        threads : of the solver.

        Items may be covered too often. A solver takes a row for kept that misses a side of many by a few.
        """
        if self.num_columns == 0:
            return None
        lp = GrowingLp(*self._sides(self.asked))
        lp.add_columns(self.price[self.kind] / DOLLAR, self.rows(self.kind, self.patterns))
        most = math.inf if cutoff is None else (cutoff - 0.5) / DOLLAR
        found = lp.solve_integer(time_limit_s, cutoff=most, threads=threads)
        return None if found is None else np.rint(found).astype(np.int64)
