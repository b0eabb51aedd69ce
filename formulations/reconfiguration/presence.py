"""When which tasks have to be in the plans of any schedule: from their first plan until the earliest end of their job."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance


@dataclass(frozen=True, slots=True, eq=False)
class Spells:
    """Stretches of plans in time, G of them.

    most : (G, C), tasks of each class that must be present at some plan of the spell, at most. presence : (G, C), their
    number summed over its plans. late : (G, C), tasks whose jobs may have ended by the spell's last plan, or not.
    first, until : (G,), the first plan of each spell, and the first one after it. least : (G, C), tasks that are there at all of
    its plans, of which there are `plans` (G,).
    """

    most: IntArray
    presence: IntArray
    late: IntArray
    first: IntArray
    until: IntArray
    least: IntArray
    plans: IntArray

    @property
    def number(self) -> int:
        """Number of spells."""
        return int(self.most.shape[0])


def start_up_s(instance: ReconfigurationInstance) -> IntArray:
    """(C,) int64: seconds from a task's launch until it progresses, at least: images may have been built before."""
    return (instance.fetch_s + instance.init_s)[instance.class2workload]


def must_plans(instance: ReconfigurationInstance) -> tuple[IntArray, IntArray]:
    """(J,), (J,) int64: the first plan of each job, and the first that need not hold it any more, in periods.

    No job ends before its first plan, start-up and work have passed, and one that runs at second 0 not before its work;
    one that ends at the second of a plan need not be in it.
    """
    first = instance.first_plan_s()
    end = first + np.where(instance.is_running(), 0, start_up_s(instance)[instance.job2class]) + instance.work_s
    return first // instance.period_s, -(-end // instance.period_s)


def num_plans(instance: ReconfigurationInstance) -> int:
    """Return a horizon: every job, alone on machines of its own from its first plan, has ended, and one plan more.

    One that runs at second 0 has been stopped, saved and launched there anew.
    """
    delay = (instance.fetch_s + instance.build_s + instance.init_s)[instance.class2workload][instance.job2class]
    delay += np.where(
        instance.is_running(), (instance.kill_s + instance.upload_s)[instance.class2workload][instance.job2class], 0
    )
    boot = int((instance.acquire_s + instance.setup_s).max())
    last = int((instance.first_plan_s() + delay + instance.work_s).max()) + boot
    return -(-last // instance.period_s) + 1


def late_plans(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why a schedule may need plans after the last one that there is."""
    if (num_plans(instance) + 1) * instance.period_s > MAX_TIME_S:
        return f"its last plans may come after {MAX_TIME_S} s, when there are none any more; give shorter times"
    return None


def spells(instance: ReconfigurationInstance, number: int) -> Spells:
    """Cut time into about so many spells; between two changes of who must be present there is never more than one."""
    first, last = must_plans(instance)
    num_classes = instance.catalogue.num_classes
    times = np.unique(np.concatenate((first, last)))
    change = np.zeros((times.shape[0], num_classes), np.int64)
    gone = np.zeros_like(change)
    np.add.at(change, (np.searchsorted(times, first), instance.job2class), instance.num_tasks)
    np.add.at(gone, (np.searchsorted(times, last), instance.job2class), instance.num_tasks)
    present = np.cumsum(change - gone, axis=0)[:-1]
    left = np.cumsum(gone, axis=0)[:-1]
    plans = np.diff(times)
    busy = np.flatnonzero(present.any(axis=1))
    starts = np.unique(np.linspace(0, busy.shape[0], min(number, busy.shape[0]) + 1).astype(np.int64))[:-1]
    return Spells(
        np.maximum.reduceat(present[busy], starts),
        np.add.reduceat(present[busy] * plans[busy, None], starts),
        np.maximum.reduceat(left[busy], starts),
        times[busy[starts]],
        times[busy[np.append(starts[1:], busy.size) - 1] + 1],
        np.minimum.reduceat(present[busy], starts),
        np.add.reduceat(plans[busy], starts),
    )
