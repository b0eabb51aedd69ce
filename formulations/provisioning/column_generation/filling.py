"""Solutions at a price that is asked for: machines chosen first, then filled, the last of them by annealing.

Where tasks are small and demands fine, what is proven of how many machines are needed (`branching` over resource prices) is
near the optimum, and the search is for a packing of machines that are nearly full. Machines come from that tree, with as many
small ones added as the price allows, joined into larger ones where these cost and hold as much.

Machines that cost little more than what is proven leave next to no room among all of them. Spread over all machines that is
hardly ever found; so it is kept together: most are filled one by one, the next each time with a pattern as dear as what it has
(`kernels_fill`), at prices from the linear program of the tasks and machines that are left (`resource_prices`), whose slack
says how much room there is still. The last few machines keep all of it, for annealing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from schedgap.formulations.provisioning.bounds import joined_pairs, type_multiples
from schedgap.formulations.provisioning.column_generation.branching import Branching
from schedgap.formulations.provisioning.column_generation.kernels_fill import Fleet, anneal, fill_machine
from schedgap.formulations.provisioning.column_generation.resource_prices import Needed, ResourceRelaxation
from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.units import DOLLAR

# Temperatures: what is beyond capacity counts in mean machines.
HOT, COLD = 0.03, 5e-5
# Moves of the first run, for each task; how they grow after a run in vain, and the most.
MOVES, GROWTH, MOST = 5_000, 1.3, 50_000
# Moves between two looks at the clock, nodes for other machines in a turn, and tasks of which annealing still comes to an end.
BATCH, NODES, MAX_TASKS = 1_000_000, 20, 20_000
# The price asked for lies between the bound and the incumbent: where at first, and how it moves after a gain or in vain.
FIRST_SHARE, LOWER, HIGHER = 0.5, 0.6, 0.3

# Machines that are left at the end; they hold at least this part of the tasks that the fullest machine does.
LAST, MANY = 4, 0.4
# Moves for a pattern, what it may waste of its machine, patterns that are tried where slack falls fast, and tasks looked at.
PATTERN_MOVES, WASTE, TRIES, MOST_TASKS = 1_000, 1e-6, 8, 200
# Of these, with prices of the fluid alone, and with tasks of which the fluid has this part on the machine's family at least.
PLAIN_TRIES, NEAR_TRIES, NEAR = 2, 5, 0.5
# What resources count that the fluid does not price, if all of them is used, and how fast that falls with what is used.
ALSO, SHARP = 0.1, 8
# How far machines are from the order of how many tasks they hold, as parts of the most; and linear programs from exact.
DISORDER, TOLERANCE = 0.1, 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Machines that are filled: types (M,) and pattern (M, C). number (K,), counts (C,) : machines and tasks that are left."""

    types: IntArray
    pattern: IntArray
    number: IntArray
    counts: IntArray


class Completing:
    """Fills machines of one fleet after another. random : (1,) uint64, not 0, changed."""

    def __init__(self, resources: ResourceRelaxation, rng: np.random.Generator, random: Any) -> None:
        self.resources, self.instance, self.rng, self.random = resources, resources.instance, rng, random

    def fill(self, number: IntArray, deadline: float) -> Completed | None:
        """Fill all machines but the last ones; None if what is left cannot do, or the deadline has passed.

        number : (K,), of each type.
        """
        instance = self.instance
        left, counts = number.copy(), instance.counts.copy()
        needed = self._needed(counts, left, deadline)
        if needed is None:
            return None
        types = self._order(number, needed)
        pattern = np.zeros((types.shape[0], instance.num_classes), np.int64)
        for m, k in enumerate(types.tolist()):
            slack = self._slack(needed, left)
            # What a machine may take of it: its part.
            spare = slack / left.sum()
            left[k] -= 1
            best: tuple[float, IntArray, Needed] | None = None
            for tried in range(TRIES):
                some = self._pattern(k, int(left[k]) + 1, counts, needed, tried)
                after = self._needed(counts - some, left, deadline)
                if after is None:
                    continue
                kept = self._slack(after, left)
                if best is None or kept > best[0]:
                    best = kept, some, after
                if slack - kept <= spare:
                    break
            if best is None:
                return None
            _, pattern[m], needed = best
            counts -= pattern[m]
        return Completed(types, pattern, left, counts)

    def _order(self, number: IntArray, needed: Needed) -> IntArray:
        """Return the types of the machines to be filled, those of few tasks first but for chance.

        The last ones are left out: those that hold many tasks for little money, where a given slack is the most room.
        """
        types = np.repeat(np.arange(self.instance.num_types), number)
        held = (needed.shares.sum(axis=1) / np.maximum(number, 1))[types]
        most = float(held.max(initial=1.0))
        rate = np.where(held >= MANY * most, held / self.instance.price[types], 0.0)
        order = np.argsort(held / most + DISORDER * self.rng.random(types.shape[0]))
        return types[order[~np.isin(order, np.argsort(-rate, kind="stable")[:LAST])]]

    def _needed(self, counts: IntArray, number: IntArray, deadline: float) -> Needed | None:
        """Return what tasks need of machines, or None if these do not do."""
        needed = self.resources.needed(counts, number, deadline)
        return None if needed is None or self._slack(needed, number) < -TOLERANCE * needed.price else needed

    def _slack(self, needed: Needed, number: IntArray) -> float:
        """Return dollars: what machines cost above what tasks need."""
        return float(number @ self.instance.price) / DOLLAR - needed.price

    def _pattern(self, k: int, number: int, counts: IntArray, needed: Needed, tried: int) -> IntArray:
        """Return (C,): a pattern of a machine of type k, of which there are `number`, that is worth about as much as the machine.

        At first tasks are taken of which the fluid has half on the machine's family at least: then the others still do. Where
        that was not so, resources of which little is left free count as well, though the fluid does not price them yet.
        """
        instance = self.instance
        family = instance.type2family == instance.type2family[k]
        least = NEAR if tried < NEAR_TRIES else 0.0
        together = np.minimum(counts, instance.most_together)
        some = np.where(self.resources.fits[k] & (needed.shares[family].sum(axis=0) >= least * counts), together, 0)
        classes = np.repeat(np.arange(instance.num_classes), some)
        if classes.size > MOST_TASKS:
            classes = self.rng.choice(classes, MOST_TASKS, replace=False)
        demand = np.ascontiguousarray(instance.demand[instance.type2family[k], classes])
        values, goal = needed.values[classes], needed.worth[k] * (1 - WASTE)
        if tried >= PLAIN_TRIES:
            capacity = np.maximum(instance.capacity[k], 1)
            used = needed.shares[k] @ instance.demand[instance.type2family[k]] / (number * capacity)
            values, goal = values + ALSO * needed.worth[k] * (demand / capacity) @ used**SHARP, np.inf
        chosen = np.zeros(classes.size, np.bool_)
        fill_machine(demand, values, instance.capacity[k], goal, PATTERN_MOVES, self.random, chosen)
        return np.bincount(classes[chosen], minlength=instance.num_classes)


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
        fleet = fleet_of(instance, types, task_class, done.counts)
        if not self._anneal(fleet, machine, deadline):
            return None
        pattern = np.zeros((types.shape[0], instance.num_classes), np.int64)
        np.add.at(pattern, (machine, task_class), 1)
        types, pattern = np.concatenate((done.types, types)), np.vstack((done.pattern, pattern))
        used = pattern.any(axis=1)
        return Provisioning.from_machines(types[used], pattern[used])

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


def fleet_of(instance: ProvisioningInstance, types: IntArray, task_class: IntArray, counts: IntArray) -> Fleet:
    """Return machines of types (M,) for tasks of classes (T,), of which there are `counts` (C,).

    A class of which more are left than may share a machine is a resource: of these few machines there are few such.
    """
    crowded = np.flatnonzero(counts > instance.most_together)
    size, capacity = instance.demand[:, task_class], instance.capacity[types]
    alike = np.where(size[:, :, :1] < 0, size[:, :, :1], task_class[:, None] == crowded)
    size = np.ascontiguousarray(np.concatenate((size, alike), axis=2))
    capacity = np.hstack((capacity, np.broadcast_to(instance.most_together[crowded], (types.size, crowded.size))))
    scale = np.maximum(capacity.mean(axis=0), 1.0)
    return Fleet(size, instance.type2family[types], capacity, 1.0 / scale)
