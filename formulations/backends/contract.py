"""What a back end is: its name, what it can do, and the two functions behind it.

A lower bound of an LP from any row duals, however inexact.

For every y, min {c x : l <= A x <= u, lower <= x <= upper} is at least

    sum_i (l_i y_i if y_i > 0 else u_i y_i) + sum_j min(d_j lower_j, d_j upper_j),    d = c - A^T y,

so a solver's tolerances cannot falsify it; only the rounding of the sums can, which is bounded and taken off
(Neumaier and Shcherbina, 2004, https://doi.org/10.1007/s10107-003-0433-3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.arrays import BoolArray, FloatArray, first_true
from schedgap.instances.errors import BackendError

# Solvers accept integers to 1e-6 of their own scaling.
INTEGRALITY_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class SolveLimits:
    """Limits of one solve, None for no limit, and how to start it.

    warm_start : (n,) float64 or None. presolve : whether the solver may first simplify the model. interior_point : solve an
    LP by an interior-point method, and do not move on to a vertex. nodes : of a MIP's branching tree.
    """

    time_limit_s: float | None = None
    threads: int = 1
    warm_start: FloatArray | None = None
    presolve: bool = True
    interior_point: bool = False
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class Backend:
    """A solver behind the formulations; its package is imported on use only.

    lp, mip : takes models without, with integral variables. duals : gives row duals of an LP. warm_start : uses one.
    mip_bound : gives a bound on a MIP (bounds on LPs are computed from the duals, for every back end that has them).
    """

    name: str
    solver: str
    package: str
    run: Callable[[LinearModel, SolveLimits], ModelResult]
    version: Callable[[], str]
    lp: bool = False
    mip: bool = False
    duals: bool = False
    warm_start: bool = False
    mip_bound: bool = False

    def refusal(self, model: LinearModel) -> str | None:
        """Return None, or why this back end cannot take the model."""
        is_mip = bool(model.integral.any())
        if is_mip and not self.mip:
            return f"{self.name} solves LPs only; use relax or highs, scip, cp-sat, cbc"
        if not is_mip and not self.lp:
            return f"{self.name} solves integer programs only; use highs, glop, pdlp, scip or cbc for an LP"
        return None


def whole(model: LinearModel, values: FloatArray, backend: str) -> FloatArray:
    """Return `values` with the integral variables rounded to whole numbers, within their bounds.

    Raises
    ------
    BackendError
        if a solver calls a value whole that is further than 1e-5 of its size from one.
    """
    x = np.array(values, dtype=np.float64)
    rounded = np.rint(x[model.integral])
    off = np.abs(rounded - x[model.integral]) > INTEGRALITY_TOLERANCE * np.maximum(1.0, np.abs(rounded))
    if (far := first_true(off)) is not None:
        raise BackendError(
            f"{model.name}: {backend} calls {x[model.integral][far]} a whole number; "
            "use another back end for this model."
        )
    x[model.integral] = rounded
    x = np.clip(x, model.lower, model.upper)
    x.setflags(write=False)
    return x


def objective_of(model: LinearModel, x: FloatArray) -> float:
    """Return cost @ x + offset."""
    return float(model.cost @ x) + model.offset


UNIT_ROUNDOFF = 2.0**-53


def lp_bound(model: LinearModel, row_duals: FloatArray) -> float | None:
    """Return a proven lower bound on the LP relaxation's optimum, or None where the duals give none.

    row_duals : (m,) float64, as `d objective / d row bound` (positive for a row at its lower bound).
    Duals that price an unbounded column a little too high are scaled down until they do not: with c_j > 0 and x_j >= 0,
    (1 - t) y has the reduced cost (1 - t) d_j + t c_j.
    """
    duals = np.array(row_duals, dtype=np.float64)
    duals[(duals > 0) & np.isneginf(model.row_lower) | (duals < 0) & np.isposinf(model.row_upper)] = 0.0
    reduced = model.cost - model.matrix.T @ duals
    slack = _rounding(model, duals)
    unbounded = (reduced - slack < 0) & np.isposinf(model.upper)
    if unbounded.any():
        cost = model.cost[unbounded]
        if (cost <= 0).any():
            return None
        lowest = (reduced - slack)[unbounded]
        duals *= 1.0 - min(1.0, float((-lowest / (cost - lowest)).max()) * (1 + 1e-12) + 1e-15)
        reduced = model.cost - model.matrix.T @ duals
    slack = _rounding(model, duals)
    low, high = reduced - slack, reduced + slack
    if (np.isposinf(model.upper) & (low < 0)).any() or (np.isneginf(model.lower) & (high > 0)).any():
        return None
    columns = _least(low, model.lower, model.upper, high)
    rows = np.where(duals > 0, duals * _finite(model.row_lower), duals * _finite(model.row_upper))
    rows[duals == 0] = 0.0
    total = math.fsum(columns) + math.fsum(rows) + model.offset
    return total - 4 * UNIT_ROUNDOFF * (math.fsum(np.abs(columns)) + math.fsum(np.abs(rows)) + abs(model.offset))


def excluded(model: LinearModel, row_duals: FloatArray, cutoff: float) -> BoolArray:
    """(n,) bool: columns with lower bound 0 that are below 1 in every whole x whose cost is below `cutoff`, proven.

    row_duals : as for `lp_bound`. With x_j >= 1 the bound of the duals grows by the reduced cost of j.
    """
    duals = np.array(row_duals, dtype=np.float64)
    duals[(duals > 0) & np.isneginf(model.row_lower) | (duals < 0) & np.isposinf(model.row_upper)] = 0.0
    bound = lp_bound(model, duals)
    if bound is None or np.isposinf(model.upper).any():
        return np.zeros(model.cost.shape[0], np.bool_)
    reduced = model.cost - model.matrix.T @ duals - _rounding(model, duals)
    out: BoolArray = (model.lower == 0) & (bound + reduced * (1 - 4 * UNIT_ROUNDOFF) >= cutoff)
    return out


def _rounding(model: LinearModel, duals: FloatArray) -> FloatArray:
    """(n,) float64: more than the rounding error of each reduced cost."""
    lengths = np.diff(model.matrix.indptr) + 2
    sizes = np.abs(model.cost) + abs(model.matrix).T @ np.abs(duals)
    slack: FloatArray = UNIT_ROUNDOFF * 2 * lengths * sizes
    return slack


def _finite(bounds: FloatArray) -> FloatArray:
    return np.where(np.isfinite(bounds), bounds, 0.0)


def _least(low: FloatArray, lower: FloatArray, upper: FloatArray, high: FloatArray) -> FloatArray:
    """(n,) float64: the least of d x over lower <= x <= upper and low <= d <= high, infinite ends already excluded."""
    ends = [d * _finite(x) for d in (low, high) for x in (lower, upper)]
    for i, x in enumerate((lower, upper, lower, upper)):
        # An infinite end is never the cheapest here: its reduced cost has the right sign.
        ends[i] = np.where(np.isfinite(x), ends[i], np.inf)
    least: FloatArray = np.minimum.reduce(ends)
    return np.where(np.isfinite(least), least, 0.0)
