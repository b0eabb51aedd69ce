"""Collecting the rows of a linear model block by block, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.linear_model import LinearModel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


class Rows:
    """Rows of a model with `num_variables` columns; `model` puts them together."""

    def __init__(self, num_variables: int) -> None:
        self.num_variables = num_variables
        self.num_rows = 0
        self._row: list[IntArray] = []
        self._column: list[IntArray] = []
        self._value: list[FloatArray] = []
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._names: list[str] = []

    def add(
        self,
        name: str,
        row: IntArray,
        column: IntArray,
        value: FloatArray | IntArray | float,
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        """Add a block of rows `name(0)`, `name(1)`, ...

        row, column, value : (N,) entries, rows counted from 0 within the block; zero values are left out.
        lower, upper : one each for the block's rows.
        """
        values = np.broadcast_to(np.asarray(value, dtype=np.float64), column.shape)
        used = values != 0
        self._row.append(row[used] + self.num_rows)
        self._column.append(column[used])
        self._value.append(values[used])
        self._lower.append(np.asarray(lower, dtype=np.float64))
        self._upper.append(np.asarray(upper, dtype=np.float64))
        self._names += [f"{name}({i})" for i in range(lower.shape[0])]
        self.num_rows += lower.shape[0]

    def model(
        self,
        name: str,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        integral: BoolArray,
        objective_scale: int,
        variable_names: tuple[str, ...] | None = None,
    ) -> LinearModel:
        """Return the model with these columns and all rows added so far."""
        entries = (np.concatenate(self._value), (np.concatenate(self._row), np.concatenate(self._column)))
        return LinearModel(
            name=name,
            cost=cost,
            matrix=csc_array(coo_array(entries, shape=(self.num_rows, self.num_variables))),
            row_lower=np.concatenate(self._lower),
            row_upper=np.concatenate(self._upper),
            lower=lower,
            upper=upper,
            integral=integral,
            objective_scale=objective_scale,
            variable_names=variable_names,
            row_names=tuple(self._names),
        )
