"""What VMs of a harvest instance must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance


def check_events(instance: HarvestInstance) -> None:
    """Check that each VM's events are in order of time, and each a change to a size that it can have.

    Raises
    ------
    InstanceError
        for the first that is not.
    """
    vm = instance.event2vm()
    same = vm[1:] == vm[:-1]
    backwards = np.flatnonzero(same & (np.diff(instance.event_ms) <= 0))
    if backwards.size:
        e = int(backwards[0]) + 1
        raise InstanceError(
            f"{instance.name}: VM {instance.vm_name(int(vm[e]))} has an event at {instance.event_ms[e]} ms after one at "
            f"{instance.event_ms[e - 1]} ms; give its events in order of time, one a moment."
        )
    small = np.flatnonzero((instance.event_cores > 0) & (instance.event_cores < instance.min_cores[vm]))
    if small.size:
        e = int(small[0])
        raise InstanceError(
            f"{instance.name}: VM {instance.vm_name(int(vm[e]))} has {instance.event_cores[e]} cores from "
            f"{instance.event_ms[e]} ms on, fewer than its minimum size of {instance.min_cores[vm[e]]}; "
            "give 0, which is an eviction."
        )
    before = np.where(np.concatenate(([False], same)), np.concatenate(([0], instance.event_cores[:-1])), 0)
    idle = np.flatnonzero(instance.event_cores == before)
    if idle.size:
        e = int(idle[0])
        raise InstanceError(
            f"{instance.name}: VM {instance.vm_name(int(vm[e]))} has {before[e]} cores before its event at "
            f"{instance.event_ms[e]} ms and as many after it; leave out what changes nothing."
        )


def check_pool(instance: HarvestInstance) -> None:
    """Check that VMs are leased at the start as the kind of pool has it.

    Raises
    ------
    InstanceError
        for a number of leases that is out of range, or a VM that has no cores then.
    """
    if instance.is_fixed:
        if instance.max_leases or not instance.leased.all() or instance.buffer.any():
            raise InstanceError(
                f"{instance.name}: the pool is fixed, with max_leases {instance.max_leases}, {int(instance.leased.sum())} of "
                f"{instance.num_vms} VMs leased and {int(instance.buffer.sum())} on buffer servers; let it be 0, all and none."
            )
        return
    leased = int(instance.leased.sum())
    if not 1 <= leased <= instance.max_leases:
        raise InstanceError(
            f"{instance.name}: {leased} VMs are leased at the start and max_leases is {instance.max_leases}; lease at least one, "
            "and not more than that."
        )
    first = instance.first_event[:-1]
    down = np.flatnonzero(instance.leased & ((instance.event_ms[first] > 0) | (instance.event_cores[first] == 0)))
    if down.size:
        name = instance.vm_name(int(down[0]))
        raise InstanceError(f"{instance.name}: VM {name} is leased at the start, when it has no cores; lease another.")
