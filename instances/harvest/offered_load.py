"""How busy jobs keep the VMs: the offered load of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance


def offered_load(instance: HarvestInstance) -> float:
    """Return the jobs' core-time as a share of what the VMs have while jobs arrive, infinite if all arrive at once.

    The VMs are those leased at the start. The time is from the first arrival to the last, and a mean interval more.
    """
    first, last, jobs = int(instance.arrival_ms[0]), int(instance.arrival_ms[-1]), instance.num_jobs
    is_counted = instance.leased[instance.event2vm()]
    times, cores = total_cores(instance.first_event, instance.event_ms, instance.event_cores, is_counted)
    have = float(np.diff(np.clip(np.append(times, last), first, last)) @ cores)
    work = float(np.repeat(instance.cores, np.diff(instance.first_task)) @ instance.runtime_ms)
    return work * (jobs - 1) / (jobs * have) if have else float("inf")


def total_cores(
    first_event: IntArray, event_ms: IntArray, event_cores: IntArray, is_counted: BoolArray | None = None
) -> tuple[IntArray, IntArray]:
    """Return moments, ascending, and the cores that all VMs together have from each on, until the next.

    is_counted : (E,) bool, whether an event is of a VM that counts; None for all.
    """
    before = np.concatenate(([0], event_cores[:-1]))
    before[first_event[:-1]] = 0
    change = event_cores - before
    if is_counted is not None:
        event_ms, change = event_ms[is_counted], change[is_counted]
    order = np.argsort(event_ms, kind="stable")
    return event_ms[order], np.cumsum(change[order])
