"""What VMs of a harvest instance must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from collections.abc import Callable


def check_events(
    name: str, vm_name: Callable[[int], str], vm: IntArray, ms: IntArray, cores: IntArray, min_cores: IntArray
) -> None:
    """Check that each VM's events are in order of time, and each a change to a size that it can have.

    name, vm_name : of the instance, and of a VM. vm, ms, cores : (E,) int64, of all events. min_cores : (V,) int64.

    Raises
    ------
    InstanceError
        for the first that is not.
    """
    same = vm[1:] == vm[:-1]
    if (e := first_true(same & (np.diff(ms) <= 0))) is not None:
        raise InstanceError(
            f"{name}: VM {vm_name(int(vm[e + 1]))} has an event at {ms[e + 1]} ms after one at {ms[e]} ms; give its events in "
            "order of time, one a moment."
        )
    if (e := first_true((cores > 0) & (cores < min_cores[vm]))) is not None:
        raise InstanceError(
            f"{name}: VM {vm_name(int(vm[e]))} has {cores[e]} cores from {ms[e]} ms on, fewer than its minimum size of "
            f"{min_cores[vm[e]]}; give 0, which is an eviction."
        )
    before = np.where(np.concatenate(([False], same)), np.concatenate(([0], cores[:-1])), 0)
    if (e := first_true(cores == before)) is not None:
        raise InstanceError(
            f"{name}: VM {vm_name(int(vm[e]))} has {before[e]} cores before its event at {ms[e]} ms and as many after it; leave "
            "out what changes nothing."
        )


def check_fixed(name: str, max_leases: int, leased: BoolArray, buffer: BoolArray) -> None:
    """Check that all VMs of a fixed pool are there.

    Raises
    ------
    InstanceError
        if some are not.
    """
    if max_leases or not leased.all() or buffer.any():
        raise InstanceError(
            f"{name}: the pool is fixed, with max_leases {max_leases}, {int(leased.sum())} of {leased.size} VMs leased and "
            f"{int(buffer.sum())} on buffer servers; let it be 0, all and none."
        )


def check_leased(
    name: str, vm_name: Callable[[int], str], max_leases: int, leased: BoolArray, is_up: BoolArray
) -> None:
    """Check the VMs that are leased at the start of a pool that is chosen. leased, is_up : (V,) bool, then.

    Raises
    ------
    InstanceError
        for a number of leases that is out of range, or a VM that has no cores.
    """
    count = int(leased.sum())
    if not 1 <= count <= max_leases:
        raise InstanceError(
            f"{name}: {count} VMs are leased at the start and max_leases is {max_leases}; lease at least one, and not more than "
            "that."
        )
    if (down := first_true(leased & ~is_up)) is not None:
        raise InstanceError(f"{name}: VM {vm_name(down)} is leased at the start, when it has no cores; lease another.")
