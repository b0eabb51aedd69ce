"""Finding the fair point: in floating point, proven by a certificate, or else in whole numbers, proven exactly.

What a method may claim of an allocation that it takes for the fair point.

The max-min fair point by water-filling: all shares rise together, and at each level prices say who must stop.

The level of all active users is a linear program (`level_program`). Its prices are a cut that the optimum meets with equality:
whoever has a weight in it can never have more without somebody no better off having less (Bertsekas and Gallager, Data
Networks, section 6.5), and stays at this level. The others go on. So there are a few programs a level, where Algorithm 1
of Eunomia (section III-B) solves one for each active user, and its cuts prove the result (`instances.fairness.certificate`).

Its claim is a proof at any size: a certificate that floating point does not carry is never returned. Where weighted shares
differ by more than about 10^7 within a cut, the point is found and proven in whole numbers instead (`exact_filling`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from schedgap.formulations.fairness.exact_filling import OutOfTimeError, exact_fair_point, is_too_large
from schedgap.formulations.fairness.level_program import Fluid, fluid_of
from schedgap.formulations.fairness.levels import Levels, certificate_of
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.certificate import (
    FairPoint,
    allocation_at,
    check_certificate,
    check_fair_point,
    keep_fair_shares,
)
from schedgap.instances.fairness.model import (
    FAMILY,
    NOTIONS,
    FairnessAllocation,
    FairnessInstance,
    allocation_of,
    tasks_per_class,
)
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, fair_shares, objective, shares_of
from schedgap.instances.method import Outcome, Status, method


def settled(
    instance: FairnessInstance, allocation: FairnessAllocation
) -> tuple[FairnessAllocation | None, Status, dict[str, str]]:
    """Return the allocation as it may be claimed, the status to claim, and the reason where that is less than was hoped.

    A certificate that floating point does not carry is left out, and the shares are compared with the exact ones: they
    may be right for all that. Where nothing proves those either, there is nothing to measure an allocation against.
    """
    gain = share_of_a_task(instance)
    shares = shares_of(instance, allocation, gain)
    if allocation.certificate is not None:
        try:
            check_certificate(instance, gain, tasks_per_class(instance, allocation), allocation.certificate)
        except VerifyError as error:
            reason = str(error)
        else:
            return allocation, Status.OPTIMAL, {}
    else:
        reason = "it has no certificate"
    bare = replace(allocation, certificate=None)
    try:
        found = objective(shares, fair_shares(instance))
    except (BackendError, VerifyError) as error:
        return None, Status.NO_SOLUTION, {"reason": str(error)}
    return bare, Status.OPTIMAL if found == FAIR else Status.FEASIBLE, {"reason": reason}


Details: TypeAlias = dict[str, bool | int | float | str]

# Up to so many columns, what fails is tried again without dropping any.
SMALL = 20_000
TIME_LIMIT = "the time limit"


@dataclass(frozen=True, slots=True, eq=False)
class FairPointSearch:
    """What a search for the fair point found: None, or an allocation that its certificate proves, or the exact point.

    built, solved : when that was done, on `time.perf_counter`'s clock. details : of the programs, and the reason for None.
    """

    found: FairnessAllocation | FairPoint | None
    built: float
    solved: float
    details: Details


def search(instance: FairnessInstance, deadline: float = float("inf")) -> FairPointSearch:
    """Search the fair point until a deadline on `time.perf_counter`'s clock.

    Floating point proves it while each user's weighted share is more than about 10^-7 of every cut that it needs, since
    the rounding errors of a cut are 10^-14 of it and a share is proven to 10^-7 of itself. What it does not prove is
    found in whole numbers, for any numbers at all, up to the size that `exact_filling` names.
    """
    fluid = fluid_of(instance)
    built = time.perf_counter()
    details: Details = {}
    for reduce in (True, False) if fluid.open.sum() <= SMALL else (True,):
        levels = Levels(fluid, reduce=reduce)
        try:
            done = levels.run(deadline)
            details = {"levels": levels.num_levels, "programs": levels.num_programs, "cuts": len(levels.cuts)}
            solved = time.perf_counter()
            if not done:
                return FairPointSearch(None, built, solved, {**details, "reason": TIME_LIMIT})
            return FairPointSearch(_checked(instance, fluid, levels), built, solved, details)
        except (BackendError, VerifyError) as error:
            details["reason"] = str(error)
    if (too_large := is_too_large(instance)) is not None:
        details["reason"] = f"{details['reason']} {too_large}."
        return FairPointSearch(None, built, time.perf_counter(), details)
    try:
        point = exact_fair_point(instance, deadline)
    except OutOfTimeError:
        return FairPointSearch(None, built, time.perf_counter(), {**details, "reason": TIME_LIMIT})
    return FairPointSearch(point, built, time.perf_counter(), {"cuts": len(point.cuts), "exact": True})


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
    check_certificate(instance, gain, tasks_per_class(instance, allocation), certificate)
    return allocation


def find_fair_point(instance: FairnessInstance) -> FairnessAllocation | FairPoint:
    """Return the fair allocation with its certificate, or the exact fair point where no certificate proves it.

    Raises
    ------
    BackendError
        if accuracy is lost in all ways, and the instance is too large for exact numbers.
    """
    searched = search(instance)
    if searched.found is None:
        raise BackendError(f"{instance.name}: the fair point is not proven: {searched.details['reason']}")
    return searched.found


@method("water-filling", family=FAMILY, exact=True, choices={"notion": ("", *NOTIONS)})
def water_filling(instance: FairnessInstance, *, time_limit_s: float | None = None, notion: str = "") -> Outcome:
    """Find the max-min fair allocation, with a certificate, by a few linear programs a level.

    Where programs or the certificate fail for lost accuracy, the point is found in whole numbers; the allocation is then
    the nearest in whole units of amounts, and has no certificate. Where that takes too long, there is no solution, and the
    details say why.

    notion : measure shares in another notion than the instance's own; such an allocation proves nothing about it.
    """
    start = time.perf_counter()
    deadline = float("inf") if time_limit_s is None else start + time_limit_s
    own = notion in ("", instance.notion)
    measured = instance if own else instance.replace(notion=notion)
    searched = search(measured, deadline)
    found, is_fair = searched.found, own
    if isinstance(found, FairPoint):
        fair = np.array([float(share) for share in check_fair_point(measured, found)])
        keep_fair_shares(measured, fair)
        found = allocation_at(measured, found)
        # Unless shares are so far apart that whole units of amounts cannot tell them.
        is_fair = own and objective(shares_of(measured, found), fair) == FAIR
    if found is None:
        status = Status.NO_SOLUTION
    else:
        status = Status.OPTIMAL if is_fair else Status.FEASIBLE
        found = found if own else replace(found, certificate=None)
    return Outcome(
        found,
        FAIR if own and found is not None else None,
        status,
        searched.built - start,
        searched.solved - searched.built,
        time.perf_counter() - searched.solved,
        backend="highs",
        details=searched.details,
    )
