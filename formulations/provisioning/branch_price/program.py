"""The covering program of one node: items to be covered, machine types, items that may not meet.

At the root the items are the task classes. Below, each task is an item of its own, tasks that a branch keeps together are one
item with their demands added, and tasks that it keeps apart are rivals.

The first item values prove a bound without any search: prices of one resource, and items of which no two fit together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_pattern import FREE
from schedgap.formulations.provisioning.column_generation.resource_prices import single_resource_prices
from schedgap.formulations.provisioning.limits import MAX_NANO
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO

# Pairs of items are looked at up to so many.
MAX_ITEMS = 1_500


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


def first_values(program: Program) -> IntArray:
    """(n,) int64, nano-dollars: values at which no pattern of a machine is worth more than its price; the best that are known."""
    candidates = [single_resource_prices(program.instance)]
    if program.num_items <= MAX_ITEMS:
        candidates.append(clique_values(program))
    worth = [int(values.astype(object) @ program.counts) for values in candidates]
    return candidates[int(np.argmax(worth))]


def clique_values(program: Program) -> IntArray:
    """(n,) int64, nano-dollars: for items of which no two fit one machine, the price of the cheapest machine each fits.

    Every machine holds at most one of them. The clique is the heaviest of those that a greedy search finds. O(n^2 K R).
    """
    price = program.instance.price * NANO
    value = np.where(program.fits, price[:, None], np.iinfo(np.int64).max).min(axis=0)
    value = np.minimum(value, MAX_NANO // int(program.counts.sum()))
    share = (program.demand / np.maximum(program.capacity.max(axis=0), 1)).max(axis=0)
    apart = ~_fit_together(program)
    best: IntArray = np.zeros(program.num_items, np.int64)
    for key in (*share.T, share.sum(axis=1), share.max(axis=1), apart.sum(axis=1)):
        member = _greedy_clique(apart, np.argsort(-key, kind="stable"))
        # A class of several tasks counts for each of them only where two of its own do not fit together.
        alone = np.where(np.diag(apart), program.counts, 1)
        values = np.where(member & (alone >= program.counts), value, 0)
        if int(values.astype(object) @ program.counts) > int(best.astype(object) @ program.counts):
            best = values
    return best


def _fit_together(program: Program) -> BoolArray:
    """(n, n): whether some machine type holds one of each item of a pair, or two of one item."""
    together = np.zeros((program.num_items, program.num_items), np.bool_)
    for k, f in enumerate(program.instance.type2family):
        fits = program.fits[k][:, None] & program.fits[k]
        for r, capacity in enumerate(program.capacity[k]):
            size = program.demand[f][:, r]
            fits &= size[:, None] + size <= capacity
        together |= fits
    return together


def _greedy_clique(apart: BoolArray, order: IntArray) -> BoolArray:
    """(n,): items taken in order, each if no taken one fits beside it."""
    member, can_join = np.zeros(apart.shape[0], np.bool_), np.ones(apart.shape[0], np.bool_)
    for i in order:
        if can_join[i]:
            member[i] = True
            can_join &= apart[i]
            can_join[i] = False
    return member
