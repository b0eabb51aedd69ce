"""Machines as slots for one job each: when that is exact, and who gets which."""

from __future__ import annotations

import heapq
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance


def slots_per_machine(instance: WaitingInstance) -> int | None:
    """Return k if any k of the jobs that fit a machine fit it together, and no k + 1 do; None if there is no such k.

    Then s machines are s k slots: jobs that overlap at most s k times at any moment can be coloured with s k colours,
    and the slots shared out among the machines.
    """
    fits = instance.fits_fixed()
    if not fits.any():
        return 1
    kinds = (instance.cores[fits], instance.machine_cores), (instance.memory_mib[fits], instance.machine_memory_mib)
    k = min(_first_that_fit(np.sort(sizes)[::-1], room) for sizes, room in kinds)
    if k == int(fits.sum()):
        return k
    apart = any(_first_that_fit(np.sort(sizes), room) <= k for sizes, room in kinds)
    return k if apart else None


def _first_that_fit(sizes: IntArray, room: int) -> int:
    """Return how many of the first sizes, none above the room, fit it together.

    Where their sum may wrap, it is one of Python's integers.
    """
    if sizes.size * room < 2**63:
        return int(np.searchsorted(np.cumsum(sizes), room, "right"))
    return sum(total <= room for total in accumulate(sizes.tolist()))


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
