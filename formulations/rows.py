"""Collecting the rows of a linear model block by block, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.linear_model import LinearModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

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
