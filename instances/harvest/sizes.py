"""How many cores the VMs of a pool have, when, and for how long they are leased."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.instances.arrays import IntArray, ranges

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


class Steps(NamedTuple):
    """Times in which a leased VM has the same size. vm, start_ms, end_ms, cores : (S,) int64; by lease, in order of time."""

    vm: IntArray
    start_ms: IntArray
    end_ms: IntArray
    cores: IntArray


def last_at(of: IntArray, ms: IntArray, owner: IntArray, at_ms: IntArray) -> IntArray:
    """Return (N,) int64, the last entry of each `owner` at or before each `at_ms`, -1 if there is none.

    of, ms : (M,) int64, owner and moment of each entry, in order of owner, then of moment. owner, at_ms : (N,) int64.
    O((M + N) log M).
    """
    if not of.shape[0]:
        return np.full(owner.shape, -1)
    # Moments by their rank: owner and moment together then fit into 64 bits. Sorted, since `unique` takes ten times as long.
    moments = np.sort(ms)
    width = moments.shape[0] + 1
    keys = of * width + np.searchsorted(moments, ms, side="right")
    asked = owner * width + np.searchsorted(moments, at_ms, side="right")
    found: IntArray = np.searchsorted(keys, asked, side="right") - 1
    found[(found >= 0) & (of[found] != owner)] = -1
    return found


def leased_steps(instance: HarvestInstance, schedule: HarvestSchedule, begin_ms: int, end_ms: int) -> Steps:
    """Return the sizes of leased VMs between two moments; of a fixed pool all VMs are leased all the time.

    O((E + L) log E), with leases within times that their VMs have cores, not overlapping on a VM.
    """
    if instance.is_fixed:
        vm = np.arange(instance.num_vms)
        start, end = np.full(vm.shape, begin_ms), np.full(vm.shape, end_ms)
    else:
        start, end = np.maximum(schedule.lease_start_ms, begin_ms), np.minimum(schedule.lease_end_ms, end_ms)
        kept = np.flatnonzero(start < end)
        vm, start, end = schedule.lease_vm[kept], start[kept], end[kept]
    event2vm, first = instance.event2vm(), instance.first_event[vm]
    from_event = np.maximum(last_at(event2vm, instance.event_ms, vm, start), first)
    to_event = last_at(event2vm, instance.event_ms, vm, end - 1)
    count = np.maximum(to_event - from_event + 1, 0)
    lease = np.repeat(np.arange(vm.shape[0]), count)
    event = ranges(from_event, count)
    next_event = np.minimum(event + 1, instance.event_ms.shape[0] - 1)
    until = np.where(event < to_event[lease], instance.event_ms[next_event], end[lease])
    from_ms = np.maximum(instance.event_ms[event], start[lease])
    return Steps(vm[lease], from_ms, until, instance.event_cores[event])
