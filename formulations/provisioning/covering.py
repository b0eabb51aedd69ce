"""Covering task classes by patterns of given cost, to proven optimality, in three steps.

Sets        p patterns: a[p, c] tasks of each class c, cost[p]
Variables   x[p] machines with pattern p, whole, at most the most that one class asks for
Minimise    sum_p cost[p] x[p]
Rows        sum_p a[p, c] x[p] >= counts[c]       for each class c

1. The LP relaxation's duals, rounded to integers, give an exact bound L and exact reduced costs d[p].
2. The program over the patterns of least reduced cost gives a solution of cost U.
3. Every solution with x[p] >= 1 costs at least L + d[p], so those with L + d[p] > U - 1 cannot better U and go; the
   program over what is left decides. Costs are whole, so a bound above U - 1 proves U.

The bound L of step 1 is exact at any cost, in Python's integers where 64 bits do not hold it. A solver's bound is a proof
for costs up to 2^38 times their greatest common divisor (`separable`); beyond, L is all there is, which back ends without
duals do not have.

A solver's bound is trusted to a share of its size. Where that share of U comes near a whole unit, step 3 minimises

    sum_p max(0, d[p]) x[p] + sum_c y[c] s[c],    s[c] = sum_p a[p, c] x[p] - counts[c] >= 0

instead: the cost is at least L plus this, which is as small as U - L, and so is what rounding can do to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from schedgap.formulations.backends import find_backend, solve
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.separable import inseparable
from schedgap.formulations.trajectory import claims, improving
from schedgap.formulations.trusted import DUAL_SCALE, TRUSTED_SHARE, proven_cost
from schedgap.instances import exact
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Incumbent, Status

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import ModelPoint
    from schedgap.instances.arrays import FloatArray, IntArray

# At least so many of the patterns of least reduced cost, and at least this share of all, make the first program:
# measured on Table 4's trials, 125 patterns each with physical cores and 808 with vCPUs.
FIRST_COLUMNS, FIRST_SHARE = 60, 4
# Simplifying larger programs costs more than it gains, as dominated patterns are gone: with vCPUs a third of all time.
PRESOLVED_COLUMNS = 150
# Where `trusted` would take off more of a bound than this, the program is stated above the exact bound instead.
MAX_DISTRUST = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """A covering program. patterns : (P, C) int64. cost : (P,) int64, in `unit` micro-dollars. counts : (C,) int64."""

    name: str
    patterns: IntArray
    cost: IntArray
    counts: IntArray
    unit: int

    def model(
        self, pattern_names: tuple[str, ...] | None = None, row_names: tuple[str, ...] | None = None
    ) -> LinearModel:
        """Build the linear model."""
        size = self.cost.shape[0]
        return LinearModel(
            name=self.name,
            cost=self.cost.astype(np.float64),
            matrix=csc_array(self.patterns.T.astype(np.float64)),
            row_lower=self.counts.astype(np.float64),
            row_upper=np.full(self.counts.shape[0], np.inf),
            lower=np.zeros(size),
            upper=self.most().astype(np.float64),
            integral=np.ones(size, np.bool_),
            objective_scale=self.unit,
            variable_names=pattern_names,
            row_names=row_names,
        )

    def most(self) -> IntArray:
        """(P,) int64: no optimal solution needs more machines of one pattern."""
        needed = -(-self.counts // np.maximum(self.patterns, 1)) * (self.patterns > 0)
        most: IntArray = needed.max(axis=1)
        return most

    def part(self, columns: IntArray) -> Cover:
        """Return the program over some of the patterns."""
        return Cover(self.name, self.patterns[columns], self.cost[columns], self.counts, self.unit)


@dataclass(frozen=True, slots=True, eq=False)
class Covered:
    """repeat : (P,) int64 machines of each pattern, or None. bound : proven, in the program's unit, or None."""

    status: Status
    repeat: IntArray | None
    bound: int | None
    solve_s: float
    trajectory: tuple[Incumbent, ...]
    details: dict[str, float | str]


def solve_cover(cover: Cover, backend: str, time_limit_s: float | None, threads: int) -> Covered:
    """Solve a covering program; a back end without LP duals gets it whole.

    Raises
    ------
    BackendError
        as `backends.solve`.
    """
    start = time.perf_counter()

    def left() -> float | None:
        return None if time_limit_s is None else max(0.0, time_limit_s - (time.perf_counter() - start))

    chosen = find_backend(backend)
    if not (chosen.duals and chosen.mip):
        return _whole(cover, backend, left(), threads, start)
    model = cover.model()
    try:
        relaxed = solve(model, backend, relax=True, time_limit_s=left(), threads=threads)
    except BackendError:
        # Solvers end in all ways on costs of 1 and of 10^15.
        if inseparable(model) is None:
            raise
        return _whole(cover, backend, left(), threads, start)
    if relaxed.row_duals is None:
        return _whole(cover, backend, left(), threads, start)
    duals, reduced, low = exact_duals(cover, relaxed.row_duals)
    bound, before = _ceil(low, DUAL_SCALE), time.perf_counter() - start
    points = [Incumbent(before, None, bound * cover.unit)]
    first = _first_columns(cover, reduced)
    found = solve(
        cover.part(first).model(),
        backend,
        time_limit_s=left(),
        threads=threads,
        presolve=first.size <= PRESOLVED_COLUMNS,
    )
    # A solution over some of the patterns is one, a bound over some of them is none.
    points += claims(found.trajectory, after_s=before, cost=lambda cost: round(cost) * cover.unit, bound=lambda _: None)
    details: dict[str, float | str] = {"columns": float(cover.cost.shape[0])}
    details["lp_bound"] = low / DUAL_SCALE * cover.unit / 1e6
    repeat = _repeat(cover, found.x, first)
    if repeat is None:
        return Covered(Status.NO_SOLUTION, None, bound, time.perf_counter() - start, improving(points), details)
    best = int(exact.dot(repeat, cover.cost))
    points.append(Incumbent(time.perf_counter() - start, best * cover.unit, None))
    rest = np.flatnonzero(reduced <= (best - 1) * DUAL_SCALE - low)
    details["columns_left"] = float(rest.size)
    if bound < best and rest.size:
        warm = repeat[rest] if repeat[np.setdiff1d(np.flatnonzero(repeat), rest)].sum() == 0 else None
        before, known = time.perf_counter() - start, best
        model, shift = cover.part(rest).model(), 0
        if TRUSTED_SHARE * best > MAX_DISTRUST:
            model, shift = _above_bound(cover.part(rest), duals, reduced[rest]), low
            warm = None if warm is None else np.append(warm, warm @ cover.patterns[rest] - cover.counts)
        final = solve(
            model,
            backend,
            time_limit_s=left(),
            threads=threads,
            warm_start=warm,
            presolve=rest.size <= PRESOLVED_COLUMNS,
        )
        # An infeasible rest has no better solution than the one that is known.
        proven = best if final.status is Status.INFEASIBLE else proven_cost(final.bound, shift)
        bound = max(bound, min(best, proven))
        cand = None if final.x is None else _repeat(cover, final.x[: rest.size], rest)
        if cand is not None and exact.dot(cand, cover.cost) < best:
            repeat, best = cand, int(exact.dot(cand, cover.cost))
        if final.unproven is not None:
            details["reason"] = final.unproven
        points += _last_claims(final.trajectory, cover.unit, before, known, shift)
        details |= final.details
    elif bound < best:
        bound = best
    points.append(Incumbent(time.perf_counter() - start, best * cover.unit, bound * cover.unit))
    status = Status.OPTIMAL if bound == best else Status.FEASIBLE
    return Covered(status, repeat, bound, time.perf_counter() - start, improving(points), details)


def exact_duals(cover: Cover, row_duals: object) -> tuple[IntArray, IntArray, int]:
    """Return whole duals (C,), exact reduced costs (P,), cut off at 0, and an exact bound, all times DUAL_SCALE.

    For any y >= 0: cost @ x >= counts @ y + sum_p min(0, d[p]) most[p] for every x that covers within its bounds.
    So y may be cut: to the largest cost, and so that sums over a pattern keep to 64 bits; where costs times DUAL_SCALE do not,
    all are Python's integers.
    """
    most_tasks = int(cover.patterns.sum(axis=1).max())
    dearest = int(cover.cost.max())
    wide = dearest * DUAL_SCALE * most_tasks >= exact.LIMIT // 2
    share = np.clip(np.asarray(row_duals, np.float64), 0.0, float(dearest)) * DUAL_SCALE
    duals = np.array([int(y) for y in share], object) if wide else np.floor(share).astype(np.int64)
    cost, patterns = (
        (cover.cost.astype(object), cover.patterns.astype(object)) if wide else (cover.cost, cover.patterns)
    )
    reduced = cost * DUAL_SCALE - patterns @ duals
    negative = np.flatnonzero(reduced < 0)
    low = sum(int(n) * int(y) for n, y in zip(cover.counts, duals, strict=True))
    low += sum(int(d) * int(u) for d, u in zip(reduced[negative], cover.most()[negative], strict=True))
    return duals, np.maximum(reduced, 0), low


def _above_bound(cover: Cover, duals: IntArray, reduced: IntArray) -> LinearModel:
    """Build the program of what a solution costs above the exact bound; its last variables are the surpluses.

    Those are whole wherever the others are; saying so keeps HiGHS off mixed programs, which it solves far slower here.
    """
    size, num_classes = reduced.shape[0], cover.counts.shape[0]
    counts = cover.counts.astype(np.float64)
    return LinearModel(
        name=cover.name,
        cost=np.concatenate((reduced, duals)).astype(np.float64) / DUAL_SCALE,
        matrix=csc_array(np.hstack((cover.patterns.T, -np.eye(num_classes)))),
        row_lower=counts,
        row_upper=counts,
        lower=np.zeros(size + num_classes),
        upper=np.append(cover.most().astype(np.float64), np.full(num_classes, np.inf)),
        integral=np.ones(size + num_classes, np.bool_),
        objective_scale=cover.unit,
    )


def _repeat(cover: Cover, x: FloatArray | None, columns: IntArray) -> IntArray | None:
    """Return the machines (P,) of an x over some columns, or None where it does not cover: solvers have tolerances."""
    if x is None:
        return None
    repeat = np.zeros(cover.cost.shape[0], np.int64)
    repeat[columns] = x.astype(np.int64)
    return repeat if (exact.dot(repeat, cover.patterns) >= cover.counts).all() else None


def _first_columns(cover: Cover, reduced: IntArray) -> IntArray:
    """Return the patterns of least reduced cost, with at least one for each class."""
    number = max(FIRST_COLUMNS, reduced.shape[0] // FIRST_SHARE)
    chosen = [np.argsort(reduced, kind="stable")[:number]]
    for c in range(cover.counts.shape[0]):
        holding = np.flatnonzero(cover.patterns[:, c])
        chosen.append(holding[[np.argmin(reduced[holding])]])
    return np.unique(np.concatenate(chosen))


def _whole(cover: Cover, backend: str, time_limit_s: float | None, threads: int, start: float) -> Covered:
    model, before = cover.model(), time.perf_counter() - start
    result = solve(model, backend, time_limit_s=time_limit_s, threads=threads)
    points = claims(
        result.trajectory,
        after_s=before,
        cost=lambda cost: round(cost) * cover.unit,
        bound=lambda bound: proven_cost(bound) * cover.unit,
    )
    repeat = _repeat(cover, result.x, np.arange(cover.cost.shape[0]))
    bound = None if result.bound is None else proven_cost(result.bound)
    # Every class is covered by some pattern, so there is a solution.
    status = Status.NO_SOLUTION
    if repeat is not None:
        status = Status.OPTIMAL if bound == int(exact.dot(repeat, cover.cost)) else Status.FEASIBLE
    details: dict[str, float | str] = {"columns": float(cover.cost.shape[0]), **result.details}
    if result.unproven is not None:
        details["reason"] = result.unproven
    return Covered(status, repeat, bound, time.perf_counter() - start, improving(points), details)


def _last_claims(points: tuple[ModelPoint, ...], unit: int, after_s: float, known: int, shift: int) -> list[Incumbent]:
    """Return the claims of the last program, which bounds the whole only up to `known`, the cost of a known solution.

    With a shift its objective is at most what a solution costs above the bound, so it claims no solution on the way.
    """
    return claims(
        points,
        after_s=after_s,
        cost=lambda cost: None if shift else round(cost) * unit,
        bound=lambda bound: min(known, proven_cost(bound, shift)) * unit,
    )


def _ceil(value: int, unit: int) -> int:
    return max(0, -(-value // unit))
