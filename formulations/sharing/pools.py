"""Pools: single machines, or all machines of a class at once where it cannot matter which of them a task runs on."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.sharing.alone import slots_of

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.sharing.model import SharingInstance


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Where tasks run. Letters: P pools, R resources, M machines.

    capacity : (P, R) int64. pool2class : (P,) int64. first_machine : (P,) int64. num_machines : (P,) int64.
    slots : (P,) int64, how many tasks a machine of the pool runs at once; 0 for a single machine.
    """

    capacity: IntArray
    pool2class: IntArray
    first_machine: IntArray
    num_machines: IntArray
    slots: IntArray

    def machine2pool(self) -> IntArray:
        """(M,) int64: the pool of each machine."""
        return np.repeat(np.arange(self.slots.shape[0]), self.num_machines)

    def machines(self, pool: IntArray, start: IntArray, end: IntArray) -> IntArray:
        """Return (T,) int64, a machine for each task, where no pool is over its capacity at any time.

        Tasks of a merged pool take the slot that is free first: as many slots suffice as tasks run at once.
        """
        machine = self.first_machine[pool]
        for p in np.flatnonzero(self.slots).tolist():
            free = [(0, slot) for slot in range(int(self.slots[p] * self.num_machines[p]))]
            tasks = np.flatnonzero(pool == p)
            for t in tasks[np.argsort(start[tasks], kind="stable")].tolist():
                slot = heapq.heappop(free)[1]
                machine[t] += slot // int(self.slots[p])
                heapq.heappush(free, (int(end[t]), slot))
        return machine


def pools_of(instance: SharingInstance) -> Pools:
    """Return the pools: a class whose jobs all demand the same is one, every other machine is one by itself.

    On such a class each machine runs a fixed number of tasks at once, whichever they are, so it is enough that no more
    tasks run at once than there are slots: intervals that are nowhere more than s deep need s slots only.
    """
    serves, slots = instance.serves(), slots_of(instance)
    capacity, kind, first, number, per_machine = [], [], [], [], []
    machine = 0
    for k, count in enumerate(instance.machine_count.tolist()):
        jobs = np.flatnonzero(serves[:, k])
        alike = jobs.size > 0 and (instance.demand[jobs] == instance.demand[jobs[0]]).all()
        size = count if alike else 1
        each = int(slots[jobs[0], k]) // count if alike else 0
        room = instance.demand[jobs[0]] * each * count if alike else instance.capacity[k]
        for _ in range(count // size):
            capacity.append(room)
            kind.append(k)
            first.append(machine)
            number.append(size)
            per_machine.append(each)
            machine += size
    return Pools(np.array(capacity), np.array(kind), np.array(first), np.array(number), np.array(per_machine))
