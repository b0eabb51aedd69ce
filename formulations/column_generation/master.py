"""The restricted master over the columns that are known, the loop that generates others, and dives to whole numbers.

    minimise    sum_p price[kind p] x[p]                                 x[p] >= 0: machines of a kind with a pattern
    subject to  sum_p pattern[p, i] x[p] >= left[i]                      for each item i
                low[r] <= sum_p others[p, r] x[p] <= high[r]             for each other row r

The other rows are the problem's: what is rented, kept, moved, cut off. Money is in dollars in the program, for the solver.

Dives fix what the relaxation holds most of, generate columns for the rest, and step back a little: Sadykov, Vanderbeck, Pessoa,
Tahiri and Uchoa, "Primal heuristics for branch and price: the assets of diving methods", INFORMS Journal on Computing 31(2),
2019. Where a dive ends above the cutoff, it goes back to one of its first decisions and leaves out the column that it fixed
there.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

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


class Program(Protocol):
    """A linear program that grows: a `Master`, or a plain `GrowingLp`."""

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Return an optimum, None if the limit was hit."""


class Generation(ABC):
    """Column generation for one restricted master, continued at will.

    Attributes
    ----------
    master : the restricted master.
    found : its last solution, or None.
    centre : (m,) float64, duals of the best bound so far.
    share : of the centre in the duals that are priced, from 0, no smoothing, to below 1. The loop lowers it where pricing leads
        to nothing; problems raise it again.
    iterations : solutions of the master so far.
    is_solved_anew : whether the master is solved before every try. With the same columns HiGHS may end at another optimum then,
        on which dives depend.
    is_converged : whether the last `generate` ended since no column improves the master, or since the bound tells all.
    """

    master: Program
    is_solved_anew = True

    def __init__(self, master: Program) -> None:
        self.master = master
        self.found: LpSolution | None = None
        self.centre: FloatArray = np.zeros(1)
        self.share = 0.0
        self.iterations = 0
        self.is_converged = False

    @property
    def is_open(self) -> bool:
        """Whether there is something left to prove."""
        return True

    def ended(self, found: LpSolution) -> bool | None:
        """Return None to go on after a solution of the master, or to end whether the relaxation is solved."""
        return None

    def extend(self, found: LpSolution) -> bool:
        """Add columns in a hurry; whether these are so many that the master is solved again before `price` is asked."""
        return False

    @abstractmethod
    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price at given duals, prove what they prove, and add the columns that improve the master.

        Parameters
        ----------
        trial : (m,) float64, duals to price at: those of `found`, smoothed.
        found : the last solution of the master.

        Returns
        -------
        Whether the master is worth solving again, and whether the search for columns went to its end.
        """

    def longer(self) -> bool:
        """Search longer from now on; False if that is not possible. Asked for where a search that was cut short found nothing."""
        return False

    def generate(self, deadline: float) -> None:
        """Generate columns until nothing is open, none improves the master, or the deadline, of `perf_counter`, has passed."""
        while self.is_open:
            left_s = deadline - time.perf_counter()
            found = self.master.solve(left_s) if left_s > 0 else None
            if found is None:
                return
            self.found, self.iterations = found, self.iterations + 1
            ended = self.ended(found)
            if ended is not None:
                self.is_converged = ended
                return
            if self.extend(found):
                continue
            while time.perf_counter() < deadline:
                trial = self.share * self.centre + (1 - self.share) * found.row_duals
                is_again, is_complete = self.price(trial, found)
                if is_again:
                    break
                if self.share > 0:
                    self.share = self.share - 0.3 if self.share > 0.5 else 0.0
                elif is_complete or not self.longer():
                    self.is_converged = is_complete
                    return
                if self.is_solved_anew:
                    break


# A cutoff above the cost of any solution.
NO_CUTOFF = 2**62


class Part(NamedTuple):
    """So many machines of a kind, each with a pattern (n,)."""

    kind: int
    pattern: IntArray
    times: int


class Depths(NamedTuple):
    """How far a dive may step back: decisions from the root on, and columns left out at one of them."""

    decisions: int
    discrepancies: int


class Divable(Protocol):
    """A relaxation in whose master dives look for solutions."""

    @property
    def master(self) -> Master:
        """The restricted master."""

    def restrict(self, left: IntArray, cutoff: int) -> None:
        """Ask the master only for `left` (n,) of each item, in solutions cheaper than `cutoff` micro-dollars."""

    def near(self, left: IntArray, fixed: list[Part], deadline: float, cutoff: int) -> LpSolution | None:
        """Solve the master for what is left, with a few rounds of quick pricing.

        Parameters
        ----------
        left : (n,) int64, of each item.
        fixed : the machines that were chosen so far.
        deadline : of `perf_counter`.
        cutoff : micro-dollars, for what is left.

        Returns
        -------
        A solution, or None if none below the cutoff was found in time.
        """


class Dive:
    """Dives in one relaxation; afterwards its master asks for everything again.

    nearly_whole : the part of a machine that counts as one. nodes : masters that were solved.
    """

    def __init__(self, relaxation: Divable, deadline: float, cutoff: int | None, nearly_whole: float) -> None:
        self.relaxation, self.deadline, self.nearly_whole = relaxation, deadline, nearly_whole
        self.cutoff = NO_CUTOFF if cutoff is None else cutoff
        self.nodes = 0

    def run(self, depths: Depths) -> list[Part]:
        """Return the machines of a solution cheaper than the cutoff, or none."""
        master = self.relaxation.master
        self._low, self._high = master.low, master.high
        try:
            return self._explore(master.asked, [], frozenset(), 0, depths) or []
        finally:
            self.relaxation.restrict(master.asked, self.cutoff)
            master.limit(self._low, self._high)

    def _explore(
        self, left: IntArray, fixed: list[Part], tabu: frozenset[int], depth: int, depths: Depths
    ) -> list[Part] | None:
        master = self.relaxation.master
        while True:
            found = self._solved(left, fixed)
            chosen = [] if found is None else whole_parts(found.x, master.patterns, left, self.nearly_whole, tabu)
            if not chosen:
                return None
            parts = [*fixed, *(Part(int(master.kind[p]), master.patterns[p].copy(), times) for p, times in chosen)]
            rest = left - sum(part.times * part.pattern for part in parts[len(fixed) :])
            if not rest.any():
                return parts if self._cost(parts) < self.cutoff else None
            if depth >= depths.decisions:
                left, fixed, depth = rest, parts, depth + 1
                continue
            solution = self._explore(rest, parts, tabu, depth + 1, depths)
            tabu |= {chosen[0][0]}
            if solution is not None or len(tabu) > depths.discrepancies:
                return solution

    def _cost(self, parts: list[Part]) -> int:
        return sum(part.times * int(self.relaxation.master.price[part.kind]) for part in parts)

    def _solved(self, left: IntArray, fixed: list[Part]) -> LpSolution | None:
        self.nodes += 1
        master, cutoff = self.relaxation.master, self.cutoff - self._cost(fixed)
        self.relaxation.restrict(left, cutoff)
        if fixed:
            kind, patterns, times = (np.array(some, np.int64) for some in zip(*fixed, strict=True))
            used = times @ master.others(kind, patterns)
            master.limit(self._low - used, self._high - used)
        else:
            master.limit(self._low, self._high)
        return self.relaxation.near(left, fixed, self.deadline, cutoff)


def whole_parts(
    x: FloatArray, patterns: IntArray, left: IntArray, nearly_whole: float, tabu: frozenset[int] = frozenset()
) -> list[tuple[int, int]]:
    """Choose columns and how many machines of each, all within what is left; at least one if any fits.

    Parameters
    ----------
    x : (P,) float64, machines in a relaxation.
    patterns : (P, n) int64.
    left : (n,) int64.
    nearly_whole : of the part of a machine that counts as one; where no column has so much, the one that has most comes once.
    tabu : columns to leave out.
    """
    left = left.copy()
    chosen: list[tuple[int, int]] = []
    order = np.argsort(-x, kind="stable")
    for p in order[x[order] > 1e-6].tolist():
        value = float(x[p])
        if p in tabu:
            continue
        if chosen and value < nearly_whole:
            break
        used = patterns[p] > 0
        room = int((left[used] // patterns[p, used]).min())
        times = min(room, int(value + 1 - nearly_whole) or (0 if chosen else 1))
        if times:
            chosen.append((p, times))
            left -= times * patterns[p]
    return chosen
