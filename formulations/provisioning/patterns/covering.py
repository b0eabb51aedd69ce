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
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from schedgap.formulations.backends import find_backend, solve
from schedgap.formulations.linear_model import (
    DUAL_SCALE,
    TRUSTED_SHARE,
    LinearModel,
    ModelResult,
    claims,
    improving,
    proven_cost,
    whole_claims,
)
from schedgap.formulations.separable import inseparable
from schedgap.instances import exact
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Incumbent, Status

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

    def cost_of(self, repeat: IntArray) -> int:
        """Return the cost of (P,) machines."""
        return int(exact.dot(repeat, self.cost))

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


class Proof(NamedTuple):
    """Whole duals (C,), reduced costs (P,) cut off at 0, and the bound `low`, all exact and times DUAL_SCALE."""

    duals: IntArray
    reduced: IntArray
    low: int


def solve_cover(cover: Cover, backend: str, time_limit_s: float | None, threads: int) -> Covered:
    """Solve a covering program; a back end without LP duals gets it whole.

    Raises `BackendError` as `backends.solve`.
    """
    run = _Run(cover, backend, time_limit_s, threads)
    chosen = find_backend(backend)
    if not (chosen.duals and chosen.mip):
        return run.whole()
    model = cover.model()
    try:
        relaxed = run.solve(model, relax=True)
    except BackendError:
        # Solvers end in all ways on costs of 1 and of 10^15.
        if inseparable(model) is None:
            raise
        return run.whole()
    if relaxed.row_duals is None:
        return run.whole()
    proof = exact_duals(cover, relaxed.row_duals)
    bound = max(0, -(-proof.low // DUAL_SCALE))
    run.note(None, bound)
    run.details["lp_bound"] = proof.low / DUAL_SCALE * cover.unit / 1e6
    repeat = run.first(proof)
    if repeat is None:
        return run.ended(Status.NO_SOLUTION, None, bound)
    best = cover.cost_of(repeat)
    run.note(best, None)
    rest = np.flatnonzero(proof.reduced <= (best - 1) * DUAL_SCALE - proof.low)
    run.details["columns_left"] = float(rest.size)
    if bound < best:
        cand, proven = run.decided(rest, repeat, proof) if rest.size else (None, best)
        bound = max(bound, min(best, proven))
        if cand is not None and cover.cost_of(cand) < best:
            repeat, best = cand, cover.cost_of(cand)
    run.note(best, bound)
    return run.ended(Status.OPTIMAL if bound == best else Status.FEASIBLE, repeat, bound)


class _Run:
    """The programs of one covering program against its clock, and what was known when."""

    def __init__(self, cover: Cover, backend: str, time_limit_s: float | None, threads: int) -> None:
        self.start = time.perf_counter()
        self.cover, self.backend, self.time_limit_s, self.threads = cover, backend, time_limit_s, threads
        self.points: list[Incumbent] = []
        self.details: dict[str, float | str] = {"columns": float(cover.cost.shape[0])}

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.start

    def solve(self, model: LinearModel, **options: Any) -> ModelResult:
        """Solve a program in what is left of the time."""
        left = None if self.time_limit_s is None else max(0.0, self.time_limit_s - self.elapsed())
        return solve(model, self.backend, time_limit_s=left, threads=self.threads, **options)

    def note(self, best: int | None, bound: int | None) -> None:
        """Keep what is known now, in the program's unit."""
        unit = self.cover.unit
        cost, proven = (None if value is None else value * unit for value in (best, bound))
        self.points.append(Incumbent(self.elapsed(), cost, proven))

    def ended(self, status: Status, repeat: IntArray | None, bound: int | None) -> Covered:
        """Return what was found."""
        return Covered(status, repeat, bound, self.elapsed(), improving(self.points), self.details)

    def whole(self) -> Covered:
        """Give the whole program to the back end."""
        cover, model, before = self.cover, self.cover.model(), self.elapsed()
        result = self.solve(model)
        self.points = whole_claims(result.trajectory, after_s=before, unit=cover.unit)
        repeat = _repeat(cover, result.x, np.arange(cover.cost.shape[0]))
        bound = None if result.bound is None else proven_cost(result.bound)
        # Every class is covered by some pattern, so there is a solution.
        status = Status.NO_SOLUTION
        if repeat is not None:
            status = Status.OPTIMAL if bound == cover.cost_of(repeat) else Status.FEASIBLE
        self.details |= result.details
        if result.unproven is not None:
            self.details["reason"] = result.unproven
        return self.ended(status, repeat, bound)

    def first(self, proof: Proof) -> IntArray | None:
        """Solve the program over the patterns of least reduced cost; return its machines (P,)."""
        cover, before = self.cover, self.points[-1].elapsed_s
        columns = _first_columns(cover, proof.reduced)
        found = self.solve(cover.part(columns).model(), presolve=columns.size <= PRESOLVED_COLUMNS)
        # A solution over some of the patterns is one, a bound over some of them is none.
        self.points += claims(
            found.trajectory, after_s=before, cost=lambda cost: round(cost) * cover.unit, bound=lambda _: None
        )
        return _repeat(cover, found.x, columns)

    def decided(self, rest: IntArray, repeat: IntArray, proof: Proof) -> tuple[IntArray | None, int]:
        """Solve the program over the patterns that may better a solution `repeat`; return its machines, and the bound."""
        cover, before, best = self.cover, self.elapsed(), self.cover.cost_of(repeat)
        part = cover.part(rest)
        model, shift = part.model(), 0
        warm = repeat[rest] if repeat[np.setdiff1d(np.flatnonzero(repeat), rest)].sum() == 0 else None
        if TRUSTED_SHARE * best > MAX_DISTRUST:
            model, shift = _above_bound(part, proof.duals, proof.reduced[rest]), proof.low
            warm = None if warm is None else np.append(warm, warm @ part.patterns - cover.counts)
        final = self.solve(model, warm_start=warm, presolve=rest.size <= PRESOLVED_COLUMNS)
        if final.unproven is not None:
            self.details["reason"] = final.unproven
        # With a shift the objective is at most what a solution costs above the bound, so it claims none on the way.
        self.points += claims(
            final.trajectory,
            after_s=before,
            cost=lambda cost: None if shift else round(cost) * cover.unit,
            bound=lambda bound: min(best, proven_cost(bound, shift)) * cover.unit,
        )
        self.details |= final.details
        # An infeasible rest has no better solution than the one that is known.
        proven = best if final.status is Status.INFEASIBLE else proven_cost(final.bound, shift)
        return _repeat(cover, None if final.x is None else final.x[: rest.size], rest), proven


def exact_duals(cover: Cover, row_duals: object) -> Proof:
    """Return the bound that a solver's duals prove.

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
    return Proof(duals, np.maximum(reduced, 0), low)


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
    """Return the machines (P,) of an x over some columns, None where it does not cover: solvers have tolerances."""
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
