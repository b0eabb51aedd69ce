"""What a back end is: its name, what it can do, and the two functions behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import FloatArray, first_true
from schedgap.instances.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.formulations.linear_model import LinearModel, ModelResult

# Solvers accept integers to 1e-6 of their own scaling.
INTEGRALITY_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class SolveLimits:
    """Limits of one solve, None for no limit, and how to start it.

    warm_start : (n,) float64 or None. presolve : whether the solver may first simplify the model. interior_point : solve an
    LP by an interior-point method, and do not move on to a vertex. stop : asked now and then, ends a MIP where it says so.
    nodes : of a MIP's branching tree.
    """

    time_limit_s: float | None = None
    threads: int = 1
    warm_start: FloatArray | None = None
    presolve: bool = True
    interior_point: bool = False
    stop: Callable[[], bool] | None = None
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
