"""Whether the leases of a schedule are such as the provider gives, and whether runs lie within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest.model import MAX_POOL_MS, HarvestInstance
from schedgap.instances.harvest.sizes import last_at
from schedgap.instances.harvest.wording import run_name, seconds

if TYPE_CHECKING:
    from schedgap.instances.harvest.solution import HarvestSchedule


def check_leases(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    """Refuse leases that a pool cannot have, and runs outside of them; runs must be on VMs that exist. O((L + N + E) log).

    Raises
    ------
    VerifyError
        naming the first lease, run or moment that breaks the rules.
    """
    num_leases = schedule.lease_vm.shape[0]
    if instance.is_fixed:
        if num_leases:
            raise VerifyError(f"there are {num_leases} leases, and the pool is fixed; give none.")
        return
    _check_ranges(instance, schedule)
    _check_up(instance, schedule)
    order = np.lexsort((schedule.lease_start_ms, schedule.lease_vm))
    _check_apart(instance, schedule, order)
    _check_number(instance, schedule)
    at_start = schedule.lease_vm[schedule.lease_start_ms == 0]
    if (vm := first_true(instance.leased & ~np.isin(np.arange(instance.num_vms), at_start))) is not None:
        raise VerifyError(f"VM {instance.vm_name(vm)} is leased at the start, and no lease of it starts at 0 s.")
    _check_runs(instance, schedule, order)


def _check_ranges(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    vm, start, end = schedule.lease_vm, schedule.lease_start_ms, schedule.lease_end_ms
    if (lease := first_true((vm < 0) | (vm >= instance.num_vms))) is not None:
        raise VerifyError(f"lease {lease} is of VM {vm[lease]}; there are {instance.num_vms} VMs, numbered from 0.")
    if (lease := first_true((start < 0) | (end > MAX_POOL_MS) | (start >= end))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} goes from {start[lease]} to {end[lease]} ms; a lease lasts at least a "
            f"millisecond, between 0 and {MAX_POOL_MS} ms."
        )


def _check_up(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    event2vm = instance.event2vm()
    event = last_at(event2vm, instance.event_ms, schedule.lease_vm, schedule.lease_start_ms)
    if (lease := first_true((event < 0) | (instance.event_cores[event] == 0))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} starts at {seconds(schedule.lease_start_ms[lease])}, when the VM has no "
            "cores; lease it while it has some."
        )
    evictions = np.flatnonzero(instance.event_cores == 0)
    if not evictions.shape[0]:
        return
    # The first eviction of each leased VM after the lease has started, or some event of another VM.
    after = np.minimum(np.searchsorted(evictions, event, side="right"), evictions.shape[0] - 1)
    gone = evictions[after]
    late = (gone > event) & (event2vm[gone] == schedule.lease_vm) & (instance.event_ms[gone] < schedule.lease_end_ms)
    if (lease := first_true(late)) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} ends at {seconds(schedule.lease_end_ms[lease])}, and the VM is evicted at "
            f"{seconds(instance.event_ms[gone[lease]])}; end it by then."
        )


def _check_apart(instance: HarvestInstance, schedule: HarvestSchedule, order: IntArray) -> None:
    vm, start, end = schedule.lease_vm[order], schedule.lease_start_ms[order], schedule.lease_end_ms[order]
    if (i := first_true((vm[1:] == vm[:-1]) & (start[1:] < end[:-1]))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, int(order[i + 1]))} starts at {seconds(start[i + 1])}, before lease {order[i]} of "
            f"that VM ends at {seconds(end[i])}."
        )


def _check_number(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    start = np.sort(schedule.lease_start_ms)
    count = np.arange(1, start.shape[0] + 1) - np.searchsorted(np.sort(schedule.lease_end_ms), start, side="right")
    if (i := first_true(count > instance.max_leases)) is not None:
        raise VerifyError(f"{count[i]} VMs are leased at {seconds(start[i])}; at most {instance.max_leases} may be.")


def _check_runs(instance: HarvestInstance, schedule: HarvestSchedule, order: IntArray) -> None:
    vm, start = schedule.lease_vm[order], schedule.lease_start_ms[order]
    lease = last_at(vm, start, schedule.vm, schedule.start_ms)
    end = schedule.lease_end_ms[order]
    outside = lease < 0
    outside |= schedule.end_ms > end[lease]
    if (run := first_true(outside)) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} is on VM {instance.vm_name(int(schedule.vm[run]))} from "
            f"{seconds(schedule.start_ms[run])} to {seconds(schedule.end_ms[run])}, which no lease of that VM covers; lease "
            "it for all that time."
        )


def _lease(instance: HarvestInstance, schedule: HarvestSchedule, lease: int) -> str:
    return f"lease {lease} of VM {instance.vm_name(int(schedule.lease_vm[lease]))}"
