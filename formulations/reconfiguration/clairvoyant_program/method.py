"""The method `clairvoyant-program`: all plans of a small instance at once, by one integer program.

The program (`model`) is kind to schedules: no interference, images that may be built already. Its
bound therefore holds for every schedule; its placements are played by the simulator's rules, which give their true cost.

A back end searches in floats. Its bound is believed to a billionth of its size where no row has numbers so far apart that
its tolerances swallow the small ones (`separable`): work of less than 2^21 s, sizes of less than 2^21 units. Otherwise the
instance is unsupported.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.reconfiguration.clairvoyant_program.execution import executed
from schedgap.formulations.reconfiguration.clairvoyant_program.layout import layout
from schedgap.formulations.reconfiguration.clairvoyant_program.model import program
from schedgap.formulations.reconfiguration.clairvoyant_program.slots import slots
from schedgap.formulations.reconfiguration.presence import late_plans, num_plans
from schedgap.formulations.reconfiguration.products import boundable
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.formulations.separable import inseparable
from schedgap.formulations.trusted import proven_cost
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.offer import STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance
from schedgap.instances.reconfiguration.verify import verify

MAX_PLACEMENTS = 2_000
MAX_JOBS = 100


def too_large(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the program cannot take the instance."""
    unpaid = instance.acquire_s - instance.terminate_s
    if unpaid.max() > instance.period_s:
        k = int(np.argmax(unpaid))
        return (
            f"type {instance.catalogue.type_names[k]} takes {instance.acquire_s[k]} s to acquire, more than a period of "
            f"{instance.period_s} s; use bound-progress"
        )
    if instance.num_jobs > MAX_JOBS:
        return f"has {instance.num_jobs} jobs, the program takes {MAX_JOBS}; use bound-progress"
    placements = int(instance.num_tasks.sum()) * slots(instance)[0].shape[0] * num_plans(instance)
    if placements > MAX_PLACEMENTS:
        return f"has {placements} tasks x machines x plans, the program takes {MAX_PLACEMENTS}; use bound-progress"
    return late_plans(instance) or boundable(instance)


@method(
    "clairvoyant-program",
    family=FAMILY,
    version=2,
    supports=too_large,
    bounds=True,
    handles=(STOCK,),
    choices=UNBOUNDED_MIP_CHOICES,
)
def clairvoyant_program(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Plan with the whole future known, by an integer program over all plans; its bound ignores interference."""
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    price = work_prices(instance, deadline).price
    at = layout(instance)
    model = program(instance, at, price)
    if (reason := inseparable(model)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    built = time.perf_counter()
    result = solve(model, backend, time_limit_s=None if deadline is None else deadline - built, threads=threads)
    solved = time.perf_counter()
    solution, status, bound = None, Status.NO_SOLUTION, proven_cost(result.bound)
    details: dict[str, float] = {"columns": model.cost.shape[0], "rows": model.row_lower.shape[0], **result.details}
    if result.x is not None and result.objective is not None:
        solution = executed(instance, at, result.x)
        if solution is not None:
            status = Status.OPTIMAL if verify(instance, solution) == bound else Status.FEASIBLE
        details["program"] = result.objective
    return Outcome(
        solution,
        bound,
        status,
        build_s=built - begun,
        solve_s=result.solve_s,
        extract_s=time.perf_counter() - solved,
        backend=backend,
        details=details,
    )
