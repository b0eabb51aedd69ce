"""How good a pool of VMs was, hour by hour, and how good the best pool in hindsight would have been.

An hour of a VM is bad if the VM shrinks in it. The paper judges pools by their stable VMs (SlackSched, Appendix B.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.units import HOUR_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


# A schedule may end after a million hours: so many VMs times hours at a time take 50 MB.
MOST_CELLS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class PoolQuality:
    """Hours of VMs in the H whole hours from the first arrival to the last end.

    held : (H,) int64, VMs leased, or there if the pool is fixed, at the start of the hour. bad : (H,) int64, those of them
    that shrink within the hour. stable : (H,) int64, those of them that are stable (`is_stable`). least : (H,) int64, the
    fewest bad VMs among as many that are up at the start of the hour. A lower bound that no policy reaches: it would have to
    know the hour, and to change all VMs at once.
    """

    held: IntArray
    bad: IntArray
    stable: IntArray
    least: IntArray

    def stable_share(self, last_hours: int = 0) -> float:
        """Share of the VM-hours that are of stable VMs; 0 without any. last_hours : only of so many; 0 for all."""
        return float(self.stable[-last_hours:].sum()) / max(int(self.held[-last_hours:].sum()), 1)

    @property
    def bad_share(self) -> float:
        """Share of the VM-hours that are bad; 0 without any."""
        return float(self.bad.sum()) / max(int(self.held.sum()), 1)

    @property
    def least_share(self) -> float:
        """The same of the best VMs in hindsight."""
        return float(self.least.sum()) / max(int(self.held.sum()), 1)

    @property
    def regret(self) -> float:
        """Share of the VM-hours that are bad and need not be."""
        return self.bad_share - self.least_share


def pool_quality(instance: HarvestInstance, schedule: HarvestSchedule) -> PoolQuality:
    """Return how good the pool of a feasible schedule was. O(E + V H + L log L), in MOST_CELLS cells at a time."""
    begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
    starts = np.arange(begin, end - HOUR_MS + 1, HOUR_MS)
    step, stable = max(1, MOST_CELLS // instance.num_vms), is_stable(instance)
    pieces = range(0, max(starts.shape[0], 1), step)
    parts = [_of_hours(instance, schedule, starts[at : at + step], stable) for at in pieces]
    return PoolQuality(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def is_stable(instance: HarvestInstance) -> BoolArray:
    """(V,) bool: whether a VM is among the half of all that change least often, for the time that they have cores.

    Over all events, those after the end of the schedule too: the truth that a policy would like to know.
    """
    end_ms = int(instance.event_ms.max())
    until = np.append(instance.event_ms[1:], end_ms)
    until[instance.first_event[1:] - 1] = end_ms
    lasts_ms = np.where(instance.event_cores > 0, until - instance.event_ms, 0)
    up_ms = np.bincount(instance.event2vm(), lasts_ms, minlength=instance.num_vms)
    rate = np.diff(instance.first_event) / np.maximum(up_ms, 1.0)
    stable = np.zeros(instance.num_vms, np.bool_)
    stable[np.argsort(rate, kind="stable")[: instance.num_vms // 2]] = True
    return stable


def _of_hours(
    instance: HarvestInstance, schedule: HarvestSchedule, starts: IntArray, stable: BoolArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return (H,) int64 `held`, `bad`, `stable` and `least` of the hours that start then. stable : (V,) bool, see `is_stable`."""
    is_bad = shrinks_within(instance, starts)
    up = sizes_at(instance, starts) > 0
    held = up.copy()
    if not instance.is_fixed:
        held[:] = False
        first = np.searchsorted(starts, schedule.lease_start_ms, side="left")
        last = np.searchsorted(starts, schedule.lease_end_ms, side="left")
        for lease in np.flatnonzero(first < last).tolist():
            held[schedule.lease_vm[lease], first[lease] : last[lease]] = True
    # A lease never holds a VM that is down; on buffer servers only packing places VMs.
    can = up if instance.allocation in ("fixed", "packing") else up & (held | ~instance.buffer[:, np.newaxis])
    number = held.sum(axis=0)
    good = (can & ~is_bad).sum(axis=0)
    return number, (held & is_bad).sum(axis=0), held[stable].sum(axis=0), np.maximum(number - good, 0)


def sizes_at(instance: HarvestInstance, moments_ms: IntArray) -> IntArray:
    """(V, M) int64: the cores of each VM after all events at each of M moments."""
    sizes = np.zeros((instance.num_vms, moments_ms.shape[0]), np.int64)
    for vm in range(instance.num_vms):
        first, end = int(instance.first_event[vm]), int(instance.first_event[vm + 1])
        at = np.searchsorted(instance.event_ms[first:end], moments_ms, side="right")
        sizes[vm] = np.where(at > 0, instance.event_cores[first + np.maximum(at - 1, 0)], 0)
    return sizes


def shrinks_within(instance: HarvestInstance, starts_ms: IntArray) -> BoolArray:
    """(V, H) bool: whether each VM has fewer cores after some event within an hour after each start, and not at it."""
    vm = instance.event2vm()
    before = np.concatenate(([0], instance.event_cores[:-1]))
    before[instance.first_event[:-1]] = 0
    shrinks = instance.event_cores < before
    is_bad = np.zeros((instance.num_vms, starts_ms.shape[0]), np.bool_)
    if starts_ms.shape[0]:
        hour = np.searchsorted(starts_ms, instance.event_ms, side="left") - 1
        counted = shrinks & (hour >= 0) & (instance.event_ms <= starts_ms[np.maximum(hour, 0)] + HOUR_MS)
        is_bad[vm[counted], hour[counted]] = True
    return is_bad
