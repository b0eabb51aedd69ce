"""What a method may claim of an allocation that it takes for the fair point."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import schedgap.formulations.fairness.fair_point  # noqa: F401 - finds the fair shares
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.certificate import check_certificate
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.solution import FairnessAllocation, tasks_per_class
from schedgap.instances.fairness.verify import FAIR, fair_shares, objective, shares_of
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.instances.fairness.model import FairnessInstance


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
