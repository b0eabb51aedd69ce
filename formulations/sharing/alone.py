"""The bound of jobs alone: none ends earlier than it would if it had the whole cluster to itself.

Whole numbers that 64 bits hold for every instance (`kernels_alone`), so the bound is a proof at any size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.sharing.kernels_alone import longest_alone
from schedgap.instances.fairness.model import ONE
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.sharing.model import FAMILY, SharingInstance

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


def alone_ms(instance: SharingInstance) -> IntArray:
    """Return (J,) int64, from arrival to end at least, in milliseconds, of each job on the empty cluster.

    The tasks of a job run in slots, as many at once as fit on a machine. O(T (K + log T)).
    """
    sizes = np.diff(instance.first_task)
    slots = np.minimum(np.where(instance.serves(), slots_of(instance), 0), sizes[:, None])
    speed = np.where(slots > 0, instance.performance, 0)
    order = np.argsort(-speed, axis=1, kind="stable")
    work = instance.work_ms[np.lexsort((-instance.work_ms, instance.task2job()))]
    least = np.zeros(instance.num_jobs, np.int64)
    longest_alone(
        instance.first_task.copy(),
        work,
        np.take_along_axis(speed, order, axis=1),
        np.take_along_axis(slots, order, axis=1),
        ONE,
        least,
    )
    return least


def slots_of(instance: SharingInstance) -> IntArray:
    """Return (J, K) int64, how many tasks of a job fit at once on all machines of a class, each on one machine."""
    on_one = np.full(instance.allowed.shape, np.iinfo(np.int64).max)
    for r in range(len(instance.resources)):
        needs = instance.demand[:, r]
        some = needs > 0
        on_one[some] = np.minimum(on_one[some], instance.capacity[None, :, r] // needs[some, None])
    # A machine with room for more tasks than there are has room for all of them.
    slots: IntArray = np.minimum(on_one, instance.num_tasks) * instance.machine_count
    return slots


@method("bound-alone", family=FAMILY, bounds=True)
def bound_alone(instance: SharingInstance) -> Outcome:
    """Bound the delays by what each job would need on the empty cluster; exact integers."""
    return Outcome(bound=sum(alone_ms(instance).tolist()), status=Status.NO_SOLUTION)
