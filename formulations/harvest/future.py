"""What a clairvoyant scheduler knows of a pool: the cores of each VM at every moment to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.kernels_list import place_in_order
from schedgap.instances.harvest.schedule import HarvestSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

# Pieces of time that a VM has room for, beyond its own events, before the arrays grow.
FIRST_ROOM = 64


class Future:
    """The VMs of a fixed pool with their events from the first arrival on, on which tasks are placed for good."""

    def __init__(self, instance: HarvestInstance) -> None:
        self.instance = instance
        job = instance.task2job()
        self.ready, self.length = instance.arrival_ms[job], instance.runtime_ms
        self.cores, self.memory = instance.cores[job], instance.task_memory_mib[job]
        num_vms, first = instance.num_vms, instance.first_event
        past = np.add.reduceat(instance.event_ms <= instance.arrival_ms[0], first[:-1])
        # Nothing before the first arrival matters, save the cores that a VM has then.
        kept = np.diff(first) - past
        width = int(kept.max()) + 1 + FIRST_ROOM
        self._count = kept + 1
        self._moment, self._free = np.zeros((num_vms, width), np.int64), np.zeros((num_vms, width), np.int64)
        last = first[:-1] + past - 1
        self._free[:, 0] = np.where(past > 0, instance.event_cores[np.maximum(last, 0)], 0)
        event = np.repeat(last + 1, kept) + (np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept))
        vm = np.repeat(np.arange(num_vms), kept)
        place = event - last[vm]
        self._moment[vm, place], self._free[vm, place] = instance.event_ms[event], instance.event_cores[event]

    def place(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return (T,) int64 VMs and starts of all tasks, placed one after the other. order : (T,) int64, tasks."""
        vm, start = np.empty_like(self.length), np.empty_like(self.length)
        moment, free, count = self._moment.copy(), self._free.copy(), self._count.copy()
        room = np.broadcast_to(self.instance.memory_mib[:, None], free.shape).copy()
        needs = (self.ready, self.length, self.cores, self.memory, self.instance.memory_mib)
        placed = 0
        while True:
            placed += place_in_order(order[placed:], *needs, moment, free, room, count, vm, start)
            if placed == order.shape[0]:
                return vm, start
            moment, free, room = (np.hstack((each, np.zeros_like(each))) for each in (moment, free, room))

    def schedule(self, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule in which each task runs once. vm, start : (T,) int64."""
        tasks = np.arange(self.instance.num_tasks)
        return HarvestSchedule(tasks, vm, start, start + self.length, np.zeros_like(tasks))
