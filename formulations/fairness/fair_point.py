"""Finding the fair point: in floating point, proven by a certificate, or else in whole numbers, proven exactly."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from schedgap.formulations.fairness.exact.exact_filling import exact_fair_point, is_too_large
from schedgap.formulations.fairness.exact.exact_tableau import OutOfTimeError
from schedgap.formulations.fairness.levels.certificates import certificate_of
from schedgap.formulations.fairness.levels.fluid import Fluid, fluid_of
from schedgap.formulations.fairness.levels.levels import Levels
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.certificate import check_certificate
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.solution import FairnessAllocation, allocation_of, tasks_per_class

if TYPE_CHECKING:
    from schedgap.instances.fairness.fair_point import FairPoint
    from schedgap.instances.fairness.model import FairnessInstance

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
