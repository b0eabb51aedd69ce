"""The covering program of one node: items to be covered, machine types, items that may not meet.

At the root the items are the task classes. Below, each task is an item of its own, tasks that a branch keeps together are one
item with their demands added, and tasks that it keeps apart are rivals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_goods import FREE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """n items for machines of K types.

    capacity : (K, R) and demand : (F, n, R), int64, what a machine has and one of each item takes on each family, in units of
    the demands' greatest common divisor. fits : (K, n) bool. counts : (n,) int64. content : (n, C) int64, the tasks of each
    class that one of each item is. tasks : the numbers of those tasks, empty at the root. rivals : pairs of items that may not
    share a machine.
    """

    instance: ProvisioningInstance
    capacity: IntArray
    demand: IntArray
    fits: BoolArray
    counts: IntArray
    content: IntArray
    tasks: tuple[tuple[int, ...], ...] = ()
    rivals: frozenset[tuple[int, int]] = frozenset()

    @classmethod
    def of_classes(cls, instance: ProvisioningInstance) -> Program:
        """Return the program whose items are the task classes."""
        demand = np.maximum(instance.demand, 0)
        unit = np.maximum(np.gcd.reduce(demand.reshape(-1, demand.shape[2]), axis=0), 1)
        return cls(
            instance,
            instance.capacity // unit,
            demand // unit,
            instance.fits(),
            instance.counts,
            np.eye(instance.num_classes, dtype=np.int64),
        )

    @property
    def num_items(self) -> int:
        """Number of items."""
        return int(self.counts.shape[0])

    def expanded(self, numbers: Sequence[int]) -> Program:
        """Return the program of a program of classes in which every task is an item. numbers : of the tasks, class by class."""
        which = np.repeat(np.arange(self.num_items), self.counts)
        return replace(
            self,
            demand=self.demand[:, which],
            fits=self.fits[:, which],
            counts=np.ones(which.shape[0], np.int64),
            content=self.content[which],
            tasks=tuple((t,) for t in numbers),
        )

    def together(self, i: int, j: int) -> Program:
        """Return the program in which two items are one, which takes the place of the first."""
        i, j = min(i, j), max(i, j)
        keep = np.delete(np.arange(self.num_items), j)
        demand, content, tasks = self.demand.copy(), self.content.copy(), list(self.tasks)
        demand[:, i] += demand[:, j]
        content[i] += content[j]
        tasks[i] += tasks[j]
        fits = self.fits.copy()
        both = (demand[self.instance.type2family, i] <= self.capacity).all(axis=1)
        fits[:, i] &= self.fits[:, j] & both
        number = {int(old): new for new, old in enumerate(keep)} | {j: i}
        del tasks[j]
        rivals = frozenset(
            (min(number[a], number[b]), max(number[a], number[b])) for a, b in self.rivals if {a, b} != {i, j}
        )
        return replace(
            self,
            demand=demand[:, keep],
            fits=fits[:, keep],
            counts=self.counts[keep],
            content=content[keep],
            tasks=tuple(tasks),
            rivals=rivals,
        )

    def apart(self, i: int, j: int) -> Program:
        """Return the program in which two items may not share a machine."""
        return replace(self, rivals=self.rivals | {(min(i, j), max(i, j))})

    def spare(self, left: IntArray, most: int) -> int:
        """Return what a machine may leave free in a solution for `left` (n,) of each item, for `most` micro-dollars at most.

        All its machines together leave no more. `FREE` for several machine types or resources, where no such limit is used.
        """
        if self.instance.num_types > 1 or self.capacity.shape[1] > 1:
            return FREE
        machines = most // int(self.instance.price[0])
        return machines * int(self.capacity[0, 0]) - int(left @ self.demand[self.instance.type2family[0], :, 0])

    @property
    def is_possible(self) -> bool:
        """Whether every item fits some machine type."""
        return bool(self.fits.any(axis=0).all())
