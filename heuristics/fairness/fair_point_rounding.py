"""The fair point in whole tasks on single machines: rounded, then filled up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.fairness.lowest_share_first import class_order, user_rank
from schedgap.heuristics.fairness.whole import Machines, too_many_tasks
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.model import FAMILY, FairnessInstance
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.fairness.solution import FairnessAllocation, tasks_per_class
from schedgap.instances.fairness.verify import fair_point
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

# Tasks of the fair point that lack this part of one, or exceed it by that, are whole.
ALMOST = 1e-6


@method("fair-point-rounding", version=2, family=FAMILY, supports=too_many_tasks)
def fair_point_rounding(instance: FairnessInstance) -> FairnessAllocation | Outcome:
    """Round the fair point to whole tasks, then give out what is left, to the user furthest below its fair share first.

    Users take their tasks of the fair point in turn, the one with the smallest part of its fair share first, on the first
    machine of the class with room; then, in the same manner, tasks on any machine, the fastest first. Once with the numbers
    of tasks rounded down, once rounded up; the one that leaves the worst-off user better off is returned. Where the fair
    point is not proven, there is no solution.
    """
    try:
        fair, shares = fair_point(instance)
    except (BackendError, VerifyError) as error:
        return Outcome(status=Status.NO_SOLUTION, details={"reason": str(error)})
    value, scale = value_and_scale(instance)
    scale *= shares
    tasks = tasks_per_class(instance, fair)
    tries = [
        _rounded(instance, value, scale, tasks, np.floor(tasks + ALMOST)),
        _rounded(instance, value, scale, tasks, np.ceil(tasks - ALMOST)),
    ]
    return max(tries, key=lambda machines: float(machines.share.min())).allocation()


def _rounded(
    instance: FairnessInstance, value: FloatArray, scale: FloatArray, tasks: FloatArray, whole: FloatArray
) -> Machines:
    """Place whole tasks, (N, K), as far as they go, those of the class with the most first; then any."""
    machines, rank = Machines(instance), user_rank(instance, "constrained")
    order = np.argsort(-tasks, axis=1, kind="stable")
    used = np.take_along_axis(whole, order, axis=1) > 0
    machines.place(value, scale, np.where(used, order, -1), rank, whole.astype(np.int64))
    machines.place(value, scale, class_order(instance, "fastest"), rank)
    return machines
