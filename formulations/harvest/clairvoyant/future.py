"""What a clairvoyant scheduler knows of a pool: the cores of each VM at every moment to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.clairvoyant.kernels_list import Needs, Soonest, place_in_order, soonest_starts
from schedgap.formulations.harvest.clairvoyant.kernels_profile import Profile
from schedgap.instances.arrays import IntArray, ranges
from schedgap.instances.harvest.solution import HarvestSchedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.instances.harvest.model import HarvestInstance

# Pieces of time that a VM has room for, beyond its own events, before the arrays grow.
FIRST_ROOM = 64
# Lengths of tasks for which it is known when they could start on each VM at the soonest. 8 save a quarter of a list's time
# on 64 VMs and 2,400 tasks; 16 and 32 take more to keep than they save.
LENGTHS = 8


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
        moment, free = np.zeros((num_vms, width), np.int64), np.zeros((num_vms, width), np.int64)
        last = first[:-1] + past - 1
        free[:, 0] = np.where(past > 0, instance.event_cores[np.maximum(last, 0)], 0)
        event = ranges(last + 1, kept)
        vm = np.repeat(np.arange(num_vms), kept)
        place = event - last[vm]
        moment[vm, place], free[vm, place] = instance.event_ms[event], instance.event_cores[event]
        room = np.broadcast_to(instance.memory_mib[:, None], free.shape).copy()
        edge = np.sort(self.length)[np.arange(LENGTHS) * self.length.shape[0] // LENGTHS]
        soonest, profile = Soonest(edge, np.empty((LENGTHS, num_vms), np.int64)), Profile(moment, free, room, kept + 1)
        soonest_starts(profile, int(self.ready[0]), int(self.cores.min()), int(self.memory.min()), soonest)
        self._profile, self._soonest = profile, soonest

    def place(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return (T,) int64 VMs and starts of all tasks, placed one after the other. order : (T,) int64, tasks."""
        vm, start = np.zeros_like(self.length), np.zeros_like(self.length)
        needs = Needs(self.ready, self.length, self.cores, self.memory, self.instance.memory_mib)
        profile = Profile(*(each.copy() for each in self._profile))
        soonest = self._soonest._replace(start=self._soonest.start.copy())
        placed = 0
        while (placed := placed + place_in_order(order[placed:], needs, profile, soonest, vm, start)) < order.shape[0]:
            moment, free, room = (np.hstack((each, np.zeros_like(each))) for each in profile[:-1])
            profile = Profile(moment, free, room, profile.pieces)
        return vm, start

    def events(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield of each VM the moments from which on it has other cores, and these."""
        moment, free, _, pieces = self._profile
        for v, number in enumerate(pieces.tolist()):
            yield moment[v, :number].tolist(), free[v, :number].tolist()

    def schedule(self, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule in which each task runs once. vm, start : (T,) int64."""
        tasks = np.arange(self.instance.num_tasks)
        return HarvestSchedule(tasks, vm, start, start + self.length, np.zeros_like(tasks))
