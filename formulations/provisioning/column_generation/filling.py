"""Solutions at a price that is asked for: machines chosen first, then filled, the last of them by annealing.

Where tasks are small and demands fine, what is proven of how many machines are needed (`branching` over resource prices) is
near the optimum, and the search is for a packing of machines that are nearly full. Machines come from that tree, with as many
small ones added as the price allows, joined into larger ones where these cost and hold as much. Most are filled one by one
(`completing`), which leaves all room that there is to a few.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.column_generation.branching import Branching
from schedgap.formulations.provisioning.column_generation.completing import Completing
from schedgap.formulations.provisioning.column_generation.kernels_anneal import Fleet, anneal
from schedgap.formulations.provisioning.multiples import joined_pairs, type_multiples
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
    from schedgap.instances.arrays import IntArray

# Temperatures: what is beyond capacity counts in mean machines.
HOT, COLD = 0.03, 5e-5
# Moves of the first run, for each task; how they grow after a run in vain, and the most.
MOVES, GROWTH, MOST = 5_000, 1.3, 50_000
# Moves between two looks at the clock, nodes for other machines in a turn, and tasks of which annealing still comes to an end.
BATCH, NODES, MAX_TASKS = 1_000_000, 20, 20_000
# The price asked for lies between the bound and the incumbent: where at first, and how it moves after a gain or in vain.
FIRST_SHARE, LOWER, HIGHER = 0.5, 0.6, 0.3


class Filling:
    """Machines that might do, and the search for a packing of them."""

    def __init__(self, resources: ResourceRelaxation) -> None:
        self.instance = instance = resources.instance
        self.tree = Branching(resources)
        self.rng = np.random.default_rng(1)
        self.random = np.array([1], np.uint64)
        self.fits = resources.fits
        self.completing = Completing(resources, self.rng, self.random)
        self.multiples, self.pairs = type_multiples(instance), joined_pairs(instance)
        self.fleets: list[IntArray] = []
        self.share, self.moves = FIRST_SHARE, float(MOVES)
        self.runs = 0

    @property
    def bound(self) -> int | None:
        """Micro-dollars, proven for the instance; None if nothing is cheaper than the cutoff that was given last."""
        return self.tree.bound

    def climb(self, deadline: float, cutoff: int, further: int = NODES) -> None:
        """Branch until the bound can rise no more, and then for `further` nodes: each may end in other machines to fill."""
        tree = self.tree
        while tree.bound is not None and tree.bound < cutoff and time.perf_counter() < deadline:
            if tree.is_stuck:
                further -= 1
                if further < 0:
                    return
            node = tree.step(deadline, cutoff)
            if node is not None and node.amounts is not None and node.bound < cutoff:
                number = np.rint(node.amounts[tree.num_families :]).astype(np.int64)
                is_new = not any((number == known).all() for known in self.fleets)
                if is_new and self.instance.num_tasks <= MAX_TASKS:
                    self.fleets.append(number)

    def is_ready(self, objective: int) -> bool:
        """Whether there are machines that cost less than `objective`, micro-dollars."""
        return any(int(number @ self.instance.price) < objective for number in self.fleets)

    def step(self, bound: int, objective: int, deadline: float) -> Provisioning | None:
        """Look for a solution cheaper than `objective` and not much dearer than `bound`, micro-dollars; return it or None.

        The price asked for falls after a gain and rises after a run in vain, which also makes runs longer.
        """
        paid = np.array([int(number @ self.instance.price) for number in self.fleets])
        asked = max(int(bound + self.share * (objective - 1 - bound)), int(paid.min()))
        self.runs += 1
        number = self._enlarged(self.fleets[self.rng.choice(np.flatnonzero(paid <= asked))], asked)
        found = self._filled(number, deadline)
        if found is None:
            self.share += HIGHER * (1.0 - self.share)
            self.moves = min(self.moves * GROWTH, MOST)
        else:
            self.share *= LOWER
        return found

    def _enlarged(self, number: IntArray, most: int) -> IntArray:
        """(K,): machines of a type drawn at random added while they cost `most` at most, small ones joined."""
        price = self.instance.price
        number = number.copy()
        left = most - int(number @ price)
        while (price <= left).any():
            k = int(self.rng.choice(np.flatnonzero(price <= left)))
            number[k] += 1
            left -= int(price[k])
        before = -1
        while before != (before := int(number.sum())):
            for small, large, times in self.multiples:
                number[large] += number[small] // times
                number[small] %= times
            for a, b, large in self.pairs:
                both = min(number[a], number[b])
                number[[a, b]] -= both
                number[large] += both
        return number

    def _filled(self, number: IntArray, deadline: float) -> Provisioning | None:
        instance = self.instance
        done = self.completing.fill(number, deadline)
        if done is None:
            return None
        types = np.repeat(np.arange(instance.num_types), done.number)
        task_class = np.repeat(np.arange(instance.num_classes), done.counts)
        machine = self._spread(done.number, task_class)
        if machine is None:
            return None
        fleet = self._fleet(types, task_class, done.counts)
        if not self._anneal(fleet, machine, deadline):
            return None
        content = np.zeros((types.shape[0], instance.num_classes), np.int64)
        np.add.at(content, (machine, task_class), 1)
        types, content = np.concatenate((done.types, types)), np.vstack((done.content, content))
        used = content.any(axis=1)
        return Provisioning.from_machines(types[used], content[used])

    def _fleet(self, types: IntArray, task_class: IntArray, counts: IntArray) -> Fleet:
        """Return machines of types (M,) for tasks of classes (T,), of which there are `counts` (C,).

        A class of which more are left than may share a machine is a resource: of these few machines there are few such.
        """
        instance = self.instance
        crowded = np.flatnonzero(counts > instance.most_together)
        size, capacity = instance.demand[:, task_class], instance.capacity[types]
        alike = np.where(size[:, :, :1] < 0, size[:, :, :1], task_class[:, None] == crowded)
        size = np.ascontiguousarray(np.concatenate((size, alike), axis=2))
        capacity = np.hstack((capacity, np.broadcast_to(instance.most_together[crowded], (types.size, crowded.size))))
        scale = np.maximum(capacity.mean(axis=0), 1.0)
        return Fleet(size, instance.type2family[types], capacity, 1.0 / scale)

    def _spread(self, number: IntArray, task_class: IntArray) -> IntArray | None:
        """(T,): a machine for each task, drawn from those that it fits alone; None if some task fits none.

        number : (K,), machines of each type, which are counted type by type.
        """
        # Of each class, how many machines up to a type it fits.
        upto = np.cumsum(self.fits.T * number, axis=1)
        # Tasks that ask for nothing need no machine, as resources go.
        if (upto[task_class, -1] == 0).any():
            return None
        drawn = (self.rng.random(task_class.shape[0]) * upto[task_class, -1]).astype(np.int64)
        kind = (upto[task_class] <= drawn[:, None]).sum(axis=1)
        before = upto[task_class, kind] - number[kind]
        first = np.cumsum(number) - number
        machine: IntArray = first[kind] + drawn - before
        return machine

    def _anneal(self, fleet: Fleet, machine: IntArray, deadline: float) -> bool:
        """Anneal batch by batch, each a part of the way from hot to cold; whether everything fits."""
        number = max(1, round(self.moves * machine.shape[0] / BATCH))
        temperatures = np.geomspace(HOT, COLD, number + 1)
        moves = min(BATCH, int(self.moves * machine.shape[0]))
        for hot, cold in pairwise(temperatures):
            if anneal(fleet, machine, hot, cold, moves, self.random):
                return True
            if time.perf_counter() >= deadline:
                break
        return False
