"""A program that is stated in PuLP, as arrays: any back end solves it, and what it proves counts as for other programs.

PuLP would call a solver itself, and its reading of the answer proves nothing (`cbc.py` says why).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.linear_model import LinearModel

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

# PuLP's names for the sides of a row: at most, equal, at least.
AT_MOST, AT_LEAST = -1, 1


def read_program(problem: Any, objective_scale: int) -> LinearModel:
    """Return the arrays of a `pulp.LpProblem` that minimises, its variables in the order of `problem.variables()`.

    objective_scale : units of a family's objective that one unit of the program's is.
    """
    variables, rows = problem.variables(), problem.constraints()
    place = {variable.name: j for j, variable in enumerate(variables)}
    entries = [(i, place[variable.name], value) for i, row in enumerate(rows) for variable, value in row.items()]
    owner, column, value = (np.array(part) for part in zip(*entries, strict=True))
    # A row is its terms plus a constant, held against 0.
    side = -np.array([row.constant for row in rows], np.float64)
    sense = np.array([row.sense for row in rows])
    cost = np.zeros(len(variables))
    for variable, price in problem.objective.items():
        cost[place[variable.name]] = price
    return LinearModel(
        name=problem.name,
        cost=cost,
        matrix=csc_array(coo_array((value.astype(np.float64), (owner, column)), shape=(len(rows), len(variables)))),
        row_lower=np.where(sense == AT_MOST, -np.inf, side),
        row_upper=np.where(sense == AT_LEAST, np.inf, side),
        lower=_bounds(variables, "lowBound", -np.inf),
        upper=_bounds(variables, "upBound", np.inf),
        integral=np.array([variable.cat == "Integer" for variable in variables]),
        offset=float(problem.objective.constant),
        objective_scale=objective_scale,
        variable_names=tuple(place),
        row_names=tuple(row.name for row in rows),
    )


def give_values(problem: Any, x: FloatArray) -> None:
    """Let the variables of a program have the values of a solution, as after a call of PuLP's own `solve`."""
    for variable, value in zip(problem.variables(), x.tolist(), strict=True):
        variable.varValue = value


def _bounds(variables: list[Any], side: str, none: float) -> FloatArray:
    given = (getattr(variable, side) for variable in variables)
    return np.array([none if bound is None else bound for bound in given], np.float64)
