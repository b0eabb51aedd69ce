"""The max-min fair point by water-filling: all shares rise together, and at each level prices say who must stop.

The level of all active users is a linear program (`level_program`). Its prices are a cut that the optimum meets with equality:
whoever has a weight in it can never have more without somebody no better off having less (Bertsekas and Gallager, Data
Networks, section 6.5), and stays at this level. The others go on. So there are a few programs a level, where Algorithm 1
of Eunomia (section III-B) solves one for each active user, and its cuts prove the result (`instances.fairness.certificate`).

Its claim is a proof at any size: a certificate that floating point does not carry is never returned. Where weighted shares
differ by more than about 10^7 within a cut, the point is found and proven in whole numbers instead (`exact_filling`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from schedgap.formulations.fairness.fair_point import search
from schedgap.instances.fairness.fair_point import FairPoint, allocation_at, check_fair_point
from schedgap.instances.fairness.model import FAMILY, NOTIONS, FairnessInstance
from schedgap.instances.fairness.reference import keep_fair_shares
from schedgap.instances.fairness.verify import FAIR, objective, shares_of
from schedgap.instances.method import Outcome, Status, method


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
