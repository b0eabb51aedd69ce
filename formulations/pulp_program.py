"""A method from a program that is stated in PuLP: of a plug-in, or of this package; any back end solves it.

The function of the method states a `pulp.LpProblem`, and returns `solved(problem, read)`: `read` is a function without
arguments that makes the family's solution of the values that the program's variables have by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.pulp_models import give_values, read_program
from schedgap.formulations.linear_model import proven_cost, whole_claims
from schedgap.instances.method import Outcome, Status


def solved(
    problem: Any,
    read: Callable[[], Any],
    *,
    unit: int = 1,
    backend: str = "highs",
    time_limit_s: float | None = None,
    threads: int = 1,
) -> Outcome:
    """Solve a `pulp.LpProblem` that minimises, and return what a method returns.

    read : called once the variables have values, returns the family's solution. unit : how many of the family's whole units of
    the objective, such as micro-dollars, one of the program's is; its costs are whole, and none is below 0.

    Raises
    ------
    BackendError
        for a program that maximises, and as `solve` does.
    """
    start = time.perf_counter()
    model = read_program(problem, unit)
    build_s = time.perf_counter() - start
    left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
    result = solve(model, backend, time_limit_s=left, threads=threads)
    solution = None
    if result.x is not None:
        give_values(problem, result.x)
        solution = read()
    return Outcome(
        solution,
        None if result.bound is None else proven_cost(result.bound) * unit,
        Status.INFEASIBLE if result.status is Status.INFEASIBLE else None,
        build_s,
        result.solve_s,
        trajectory=tuple(whole_claims(result.trajectory, after_s=build_s, unit=unit)),
        backend=result.backend,
        details={} if result.unproven is None else {"reason": result.unproven},
    )
