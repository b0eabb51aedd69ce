"""The max-min fair point by water-filling: all shares rise together, and at each level prices say who must stop.

The level of all active users is a linear program (`fair_lp`). Its prices are a cut that the optimum meets with equality:
whoever has a weight in it can never have more without somebody no better off having less (Bertsekas and Gallager, Data
Networks, section 6.5), and stays at this level. The others go on. So there are a few programs a level, where Algorithm 1
of Eunomia (section III-B) solves one for each active user, and its cuts prove the result (`instances.fairness.certificate`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedgap.formulations.fairness.aggregate import fluid_of
from schedgap.formulations.fairness.certificates import certificate_of
from schedgap.formulations.fairness.water_filling_levels import Levels
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.allocation import allocation_of
from schedgap.instances.fairness.certificate import check_certificate
from schedgap.instances.fairness.model import FAMILY, NOTIONS
from schedgap.instances.fairness.reference import finds_fair_point
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, shares_of
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.formulations.fairness.aggregate import Fluid
    from schedgap.instances.fairness.allocation import FairnessAllocation
    from schedgap.instances.fairness.model import FairnessInstance

# Up to so many columns, what fails is tried again without dropping any.
SMALL = 20_000


@method("water-filling", family=FAMILY, bounds=True, exact=True, choices={"notion": ("", *NOTIONS)})
def water_filling(
    instance: FairnessInstance, *, time_limit_s: float | None = None, threads: int = 1, notion: str = ""
) -> Outcome:
    """Find the max-min fair allocation, with a certificate, by a few linear programs a level.

    Exact up to rounding: where programs or the certificate fail for lost accuracy, there is no solution, and the details
    say why.

    notion : measure shares in another notion than the instance's own; such an allocation proves nothing about it.
    """
    start = time.perf_counter()
    deadline = float("inf") if time_limit_s is None else start + time_limit_s
    own = notion in ("", instance.notion)
    measured = instance if own else instance.replace(notion=notion)
    fluid = fluid_of(measured)
    built = time.perf_counter()
    details: dict[str, bool | int | float | str] = {}
    for reduce in (True, False) if fluid.open.sum() <= SMALL else (True,):
        levels = Levels(fluid, reduce=reduce, threads=threads)
        try:
            done = levels.run(deadline)
            details = {"levels": levels.num_levels, "programs": levels.num_programs, "cuts": len(levels.cuts)}
            solved = time.perf_counter()
            if not done:
                return Outcome(
                    status=Status.NO_SOLUTION,
                    build_s=built - start,
                    solve_s=solved - built,
                    backend="highs",
                    details={**details, "reason": "the time limit"},
                )
            allocation = _checked(measured, fluid, levels)
        except (BackendError, VerifyError) as error:
            details["reason"] = str(error)
            continue
        return Outcome(
            allocation if own else allocation_of(instance, fluid.tasks(levels.amounts)),
            FAIR if own else None,
            Status.OPTIMAL if own else Status.FEASIBLE,
            built - start,
            solved - built,
            time.perf_counter() - solved,
            backend="highs",
            details=details,
        )
    return Outcome(
        status=Status.NO_SOLUTION,
        build_s=built - start,
        solve_s=time.perf_counter() - built,
        backend="highs",
        details=details,
    )


def _checked(instance: FairnessInstance, fluid: Fluid, levels: Levels) -> FairnessAllocation:
    """Return the allocation with its certificate.

    Raises
    ------
    VerifyError
        if rounding errors make the certificate fail.
    """
    gain = share_of_a_task(instance)
    certificate = certificate_of(instance, gain, fluid, levels.cuts)
    allocation = allocation_of(instance, fluid.tasks(levels.amounts), certificate)
    check_certificate(instance, gain, shares_of(instance, allocation, gain), certificate)
    return allocation


@finds_fair_point
def fair_allocation(instance: FairnessInstance) -> FairnessAllocation:
    """Return the fair allocation with its certificate.

    Raises
    ------
    BackendError
        if accuracy is lost in all ways.
    """
    outcome = water_filling(instance)
    if outcome.solution is None:
        raise BackendError(f"{instance.name}: the fair point is not proven: {outcome.details['reason']}")
    allocation: FairnessAllocation = outcome.solution
    return allocation
