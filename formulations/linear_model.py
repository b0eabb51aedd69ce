"""A mixed-integer linear program as arrays: what formulations build, back ends solve and `export` writes.

Collecting the rows of a linear model block by block, as arrays.

From what a back end knew on the way to claims in the family's integer units, rounded as the final answer is.

How far a solver's floating-point bound on a whole cost is believed, and its solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csc_array

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import VerifyError
from schedgap.instances.method import Incumbent, Status


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """Minimise cost @ x + offset subject to row_lower <= matrix @ x <= row_upper and lower <= x <= upper.

    cost, lower, upper : (n,) float64. matrix : (m, n) csc_array, no explicit zeros. row_lower, row_upper : (m,).
    integral : (n,) bool, variables that must be whole. Names are optional, n and m of them.
    The unit of the objective is the builder's; `objective_scale` integer units (micro-dollars) make one.
    """

    name: str
    cost: FloatArray
    matrix: csc_array
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integral: BoolArray
    offset: float = 0.0
    objective_scale: int = 1_000_000
    variable_names: tuple[str, ...] | None = None
    row_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        m, n = self.matrix.shape
        for key, size in (("cost", n), ("lower", n), ("upper", n), ("row_lower", m), ("row_upper", m)):
            array = np.array(getattr(self, key), dtype=np.float64)
            if array.shape != (size,):
                raise ValueError(f"{self.name}: {key} has shape {array.shape}, expected ({size},)")
            array.setflags(write=False)
            object.__setattr__(self, key, array)
        integral = np.array(self.integral, dtype=np.bool_)
        integral.setflags(write=False)
        object.__setattr__(self, "integral", integral)


@dataclass(frozen=True, slots=True)
class ModelPoint:
    """What a back end knew `elapsed_s` after it was called, in the model's unit; None for nothing new."""

    elapsed_s: float
    objective: float | None
    bound: float | None


@dataclass(frozen=True, slots=True, eq=False)
class ModelResult:
    """What a back end says of a model: claims, until somebody verified them.

    status : OPTIMAL, FEASIBLE (limit hit, x present), NO_SOLUTION (limit hit, none) or INFEASIBLE.
    x : (n,) float64 or None. objective, bound : in the model's unit, or None where the back end has none.
    row_duals : (m,) float64 of an LP, or None. trajectory : what it knew on the way, empty if it does not tell.
    unproven : why the back end proves nothing, by its digits (see `separable.py`) or its end, or None; with a reason there is
        no bound, no trajectory, and neither OPTIMAL nor INFEASIBLE; x may break a row by a few units.
    """

    status: Status
    x: FloatArray | None
    objective: float | None
    bound: float | None
    solve_s: float
    backend: str
    version: str
    row_duals: FloatArray | None = None
    trajectory: tuple[ModelPoint, ...] = ()
    details: dict[str, float] = field(default_factory=dict)
    unproven: str | None = None


Term: TypeAlias = "tuple[IntArray | int, IntArray, FloatArray | IntArray | float]"


class Rows:
    """Rows of a model with `num_variables` columns; `model` puts them together."""

    def __init__(self, num_variables: int) -> None:
        self.num_variables = num_variables
        self.num_rows = 0
        self._terms: list[Term] = []
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._names: list[str] = []

    def add(
        self,
        name: str,
        *terms: Term,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add a block of rows `name(0)`, `name(1)`, ..., each the sum of what the terms have in it.

        terms : row, column and value of entries, (N,) each, or one row or value for all; rows are counted from 0 within the
            block, and zero values are left out.
        lower, upper : of the block's rows, one each, or one for all of them; not for both.
        """
        (number,) = np.broadcast_shapes(np.shape(lower), np.shape(upper))
        self._terms += [(row + self.num_rows, column, value) for row, column, value in terms]
        self._lower.append(np.full(number, lower, dtype=np.float64))
        self._upper.append(np.full(number, upper, dtype=np.float64))
        self._names += [f"{name}({i})" for i in range(number)]
        self.num_rows += number

    def model(
        self,
        name: str,
        cost: FloatArray,
        upper: ArrayLike,
        objective_scale: int,
        *,
        lower: FloatArray | float = 0.0,
        integral: BoolArray | bool = True,
        variable_names: tuple[str, ...] | None = None,
    ) -> LinearModel:
        """Return the model with these columns and all rows added so far. lower, integral : one each, or one for all."""
        row, column, value = (np.concatenate([_each(term[part], term[1]) for term in self._terms]) for part in range(3))
        used = value != 0
        entries = (value[used].astype(np.float64), (row[used], column[used]))
        return LinearModel(
            name=name,
            cost=cost,
            matrix=csc_array(coo_array(entries, shape=(self.num_rows, self.num_variables))),
            row_lower=np.concatenate(self._lower),
            row_upper=np.concatenate(self._upper),
            lower=np.broadcast_to(lower, cost.shape),
            upper=np.asarray(upper, np.float64),
            integral=np.broadcast_to(integral, cost.shape),
            objective_scale=objective_scale,
            variable_names=variable_names,
            row_names=tuple(self._names),
        )


def _each(given: FloatArray | IntArray | float, column: IntArray) -> FloatArray | IntArray:
    """Return one number for each entry of a term."""
    return given if isinstance(given, np.ndarray) else np.full(column.shape, given)


Instance = TypeVar("Instance")
Solution = TypeVar("Solution")

# A solver's bound on an integer program is trusted to this share of its size and this many units.
TRUSTED_SHARE, TRUSTED_UNITS = 1e-9, 1e-3
# Duals are whole multiples of 2^-20 cost units; larger costs would overflow them.
DUAL_SCALE = 2**20
INFEASIBLE_SOLUTION = "the back end's solution is infeasible, so it cannot tell the sizes of this instance apart"


def is_feasible(verify: Callable[[Instance, Solution], int], instance: Instance, solution: Solution) -> bool:
    """Whether what a back end calls a solution is one: exactly, whatever its tolerances."""
    try:
        verify(instance, solution)
    except VerifyError:
        return False
    return True


def trusted(bound: float, shift: int = 0) -> int:
    """Return the whole bound on a whole cost that a solver's finite bound proves.

    shift : added to the bound, times DUAL_SCALE.
    """
    safe = math.floor((bound - TRUSTED_SHARE * abs(bound) - TRUSTED_UNITS) * DUAL_SCALE)
    return -(-(safe + shift) // DUAL_SCALE)


def proven_cost(bound: float | None, shift: int = 0) -> int:
    """Return the whole bound on a cost that a solver's bound proves; costs are never below 0, which stands for none.

    shift : added to the bound, times DUAL_SCALE.
    """
    return 0 if bound is None or not math.isfinite(bound) else max(0, trusted(bound, shift))


def claims(
    points: Iterable[ModelPoint],
    *,
    after_s: float,
    cost: Callable[[float], int | None],
    bound: Callable[[float], int | None],
) -> list[Incumbent]:
    """Return what the points of a back end claim of the instance.

    after_s : seconds from the start of the method to the call of the back end. cost, bound : turn an objective and a
    bound of the model into those of the instance, None for nothing; `bound` is the function that proves the method's
    final bound, so that no point claims what the end could not.
    """
    return [
        Incumbent(
            after_s + point.elapsed_s,
            None if point.objective is None else cost(point.objective),
            None if point.bound is None else bound(point.bound),
        )
        for point in points
    ]


def whole_claims(points: Iterable[ModelPoint], *, after_s: float, unit: int) -> list[Incumbent]:
    """Return the claims of a program whose whole costs count in `unit` of the family's units; see `claims`."""
    return claims(
        points,
        after_s=after_s,
        cost=lambda cost: round(cost) * unit,
        bound=lambda bound: proven_cost(bound) * unit,
    )


def improving(points: Iterable[Incumbent]) -> tuple[Incumbent, ...]:
    """Return the points, by time, at which the best objective or the best bound so far became better, each with both."""
    kept: list[Incumbent] = []
    best, proven = None, None
    for point in sorted(points, key=lambda point: point.elapsed_s):
        curr = _better(best, point.objective, min), _better(proven, point.bound, max)
        if curr != (best, proven):
            best, proven = curr
            kept.append(Incumbent(point.elapsed_s, best, proven))
    return tuple(kept)


def delayed(points: Iterable[Incumbent], seconds: float) -> tuple[Incumbent, ...]:
    """Return the points on a clock that was started `seconds` earlier."""
    return tuple(replace(point, elapsed_s=point.elapsed_s + seconds) for point in points)


def _better(old: int | None, new: int | None, choose: Callable[[int, int], int]) -> int | None:
    if old is None or new is None:
        return new if old is None else old
    return choose(old, new)
