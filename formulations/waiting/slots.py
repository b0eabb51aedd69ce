"""Machines as slots for one job each: when that is exact, and who gets which."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.waiting.schedule import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance


def slots_per_machine(instance: WaitingInstance) -> int | None:
    """Return k if any k of the jobs that fit a machine fit it together, and no k + 1 do; None if there is no such k.

    Then s machines are s k slots: jobs that overlap at most s k times at any moment can be coloured with s k colours,
    and the slots shared out among the machines.
    """
    fits = instance.fits_fixed()
    cores, memory = np.sort(instance.cores[fits]), np.sort(instance.memory_mib[fits])
    if not cores.size:
        return 1
    most = (instance.machine_cores, instance.machine_memory_mib)
    together = [
        int(np.searchsorted(np.cumsum(sizes[::-1]), room, "right"))
        for sizes, room in zip((cores, memory), most, strict=True)
    ]
    k = min(together)
    if k == cores.size:
        return k
    apart = cores[: k + 1].sum() > most[0] or memory[: k + 1].sum() > most[1]
    return k if apart else None


def schedule_in_slots(
    instance: WaitingInstance, fixed: BoolArray, start_us: IntArray, per_machine: int
) -> WaitingSchedule:
    """Return the schedule that runs the `fixed` jobs from given starts, on as few machines as that takes.

    Interval colouring: a job takes the lowest free slot. O(J log J).
    """
    machine = np.full(instance.num_jobs, RENTED)
    chosen = np.flatnonzero(fixed)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    slots = 0
    for job in chosen[np.argsort(start_us[chosen], kind="stable")].tolist():
        begins = int(start_us[job])
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            slot = heapq.heappop(free)
        else:
            slot, slots = slots, slots + 1
        machine[job] = slot // per_machine
        heapq.heappush(busy, (begins + int(instance.runtime_us[job]), slot))
    starts = np.where(fixed, start_us, instance.submit_us)
    return WaitingSchedule(-(-slots // per_machine), machine, starts)
