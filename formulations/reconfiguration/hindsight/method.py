"""The method `hindsight`: a schedule for all that is known to come, at the size of clusters.

Plan by plan, the tasks of the moment are packed anew where that pays over the time until much more is asked for (`Play`,
`kernels_repack`): moves are cheap as long as they stay few, so it is close to the least price of each moment. What a task is
worth comes from resource prices of the mean moment. Styles of planning differ in how long a plan is taken to last; all are
played while there is time, and the cheapest schedule is returned.
"""

from __future__ import annotations

import math
import time

import numpy as np

from schedgap.formulations.provisioning.column_generation.relaxation import group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
from schedgap.formulations.reconfiguration.hindsight.play import Known, Play, Style
from schedgap.formulations.reconfiguration.presence import late_plans, must_plans
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import Found, Outcome, Status, method, untold
from schedgap.instances.provisioning.classes import with_classes
from schedgap.instances.provisioning.moves import PER_MACHINE, RUNNING
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance
from schedgap.instances.reconfiguration.verify import verify
from schedgap.instances.units import DOLLAR

# Periods for which a plan is taken to last, in the order in which they are tried.
LASTING = (24, 48, 12, 96, 6)
# Rounds of a plan, and of the first one.
ROUNDS, FIRST_ROUNDS = 200, 20_000
# A task is worth at least this share of its price alone.
LEAST_SHARE = 1e-3


def plannable(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the method does not take the instance."""
    if instance.stored_sets is not None or (instance.throughput != 1000).any():
        return (
            "tasks slow each other down, which hindsight does not plan for; use lookahead, or leave out the throughput"
        )
    if (instance.num_tasks > 1).any():
        return "some jobs have more than one task, which hindsight does not plan for; use lookahead"
    return late_plans(instance)


@method("hindsight", family=FAMILY, supports=plannable, handles=(RUNNING, PER_MACHINE))
def hindsight(
    instance: ReconfigurationInstance,
    *,
    time_limit_s: float | None = None,
    found: Found = untold,
    styles: int = len(LASTING),
) -> Outcome:
    """Plan with the whole future known: pack each moment's tasks as its length is worth, with few moves.

    styles : how many ways of planning are played, of which the cheapest schedule counts.
    """
    begun = time.perf_counter()
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    known = _known(instance)
    best, cost = None, None
    played = 0
    for lasting in LASTING[:styles]:
        if time.perf_counter() >= deadline:
            break
        style = Style(lasting, ROUNDS, FIRST_ROUNDS)
        schedule = Play(known, style, deadline, is_first=cost is None).schedule()
        if schedule is None:
            break
        played += 1
        paid = verify(instance, schedule)
        if cost is None or paid < cost:
            best, cost = schedule, paid
            found(best)
    status = Status.NO_SOLUTION if best is None else Status.FEASIBLE
    return Outcome(best, status=status, solve_s=time.perf_counter() - begun, details={"plays": played})


def _known(instance: ReconfigurationInstance) -> Known:
    """Return what tasks are worth by resource prices of the mean moment, and how much is asked for at each plan."""
    present = presence(instance)
    busy = present[present.any(axis=1)]
    catalogue = instance.catalogue
    mean = with_classes(
        catalogue, catalogue.demand, np.maximum(1, np.rint(busy.mean(axis=0))).astype(np.int64), name=instance.name,
        class_names=None, class2workload=None, workloads=(), throughput=None, per_machine=None,
    )  # fmt: skip
    relaxation = ResourceRelaxation(mean, group_weights(mean))
    relaxation.solve(None)
    alone = catalogue.price[catalogue.reservation_type]
    value: FloatArray = LEAST_SHARE * alone.astype(np.float64)
    if relaxation.duals is not None:
        value = np.maximum(value, relaxation.duals[: catalogue.num_classes] * DOLLAR)
    load: FloatArray = present @ value
    return Known(instance, value, load)


def presence(instance: ReconfigurationInstance) -> IntArray:
    """(N, C) int64: how many tasks of each class must be in each plan."""
    first, last = must_plans(instance)
    change = np.zeros((int(last.max()) + 1, instance.catalogue.num_classes), np.int64)
    np.add.at(change, (first, instance.job2class), instance.num_tasks)
    np.subtract.at(change, (last, instance.job2class), instance.num_tasks)
    return np.cumsum(change, axis=0)[:-1]
