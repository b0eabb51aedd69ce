"""A mixed-integer linear program as arrays: what formulations build, back ends solve and `export` writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from schedgap.instances.arrays import BoolArray, FloatArray
    from schedgap.instances.method import Status


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
