"""What a clairvoyant scheduler knows of a pool: the cores of each VM at every moment to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.clairvoyant.kernels_list import Needs, Soonest, place_in_order, soonest_starts
from schedgap.formulations.harvest.clairvoyant.kernels_profile import Profile
from schedgap.instances.harvest.solution import HarvestSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

# Pieces of time that a VM has room for, beyond its own events, before the arrays grow.
FIRST_ROOM = 64
# Lengths of tasks for which it is known when they could start on each VM at the soonest. 8 save a quarter of a list's time
# on 64 VMs and 2,400 tasks; 16 and 32 take more to keep than they save.
LENGTHS = 8

# An order is divided into up to so many parts, of so many tasks at least; of an order that is kept it is known how the VMs
# are after each, in up to so many pieces altogether.
MARKS, LEAST_PART, MOST_PIECES = 16, 128, 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Mark:
    """VMs when the first `placed` tasks of an order are placed."""

    placed: int
    profile: Profile
    soonest: Soonest


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """An order, (T,) int64 tasks, with (T,) int64 VMs and starts and what the VMs were on the way."""

    order: IntArray
    vm: IntArray
    start: IntArray
    marks: tuple[_Mark, ...]


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
        event = np.repeat(last + 1, kept) + (np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept))
        vm = np.repeat(np.arange(num_vms), kept)
        place = event - last[vm]
        moment[vm, place], free[vm, place] = instance.event_ms[event], instance.event_cores[event]
        room = np.broadcast_to(instance.memory_mib[:, None], free.shape).copy()
        edge = np.sort(self.length)[np.arange(LENGTHS) * self.length.shape[0] // LENGTHS]
        soonest, profile = Soonest(edge, np.empty((LENGTHS, num_vms), np.int64)), Profile(moment, free, room, kept + 1)
        soonest_starts(profile, int(self.ready[0]), int(self.cores.min()), int(self.memory.min()), soonest)
        begin = _Mark(0, profile, soonest)
        nowhere = np.zeros_like(self.length)
        self._kept = self._last = _Placed(np.full_like(self.length, -1), nowhere, nowhere, (begin,))

    def place(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return (T,) int64 VMs and starts of all tasks, placed one after the other. order : (T,) int64, tasks."""
        number = order.shape[0]
        differs = np.flatnonzero(order != self._kept.order)
        same = int(differs[0]) if differs.size else number
        marks = [mark for mark in self._kept.marks if mark.placed <= same]
        vm, start = self._kept.vm.copy(), self._kept.start.copy()
        needs = Needs(self.ready, self.length, self.cores, self.memory, self.instance.memory_mib)
        placed, profile, soonest = marks[-1].placed, marks[-1].profile, marks[-1].soonest
        step = -(-number // max(1, min(MARKS, number // LEAST_PART, MOST_PIECES // profile.moment.size)))
        while placed < number:
            profile = Profile(*(each.copy() for each in profile))
            soonest = soonest._replace(start=soonest.start.copy())
            until = min(number, placed + step)
            while True:
                some = order[placed:until]
                placed += place_in_order(some, needs, profile, soonest, vm, start)
                if placed == until:
                    break
                moment, free, room = (np.hstack((each, np.zeros_like(each))) for each in profile[:-1])
                profile = Profile(moment, free, room, profile.pieces)
            marks.append(_Mark(placed, profile, soonest))
        self._last = _Placed(order, vm, start, tuple(marks))
        return vm, start

    def keep(self) -> None:
        """Let orders to come take over what they begin with alike with the last one placed."""
        self._kept = self._last

    def schedule(self, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule in which each task runs once. vm, start : (T,) int64."""
        tasks = np.arange(self.instance.num_tasks)
        return HarvestSchedule(tasks, vm, start, start + self.length, np.zeros_like(tasks))
