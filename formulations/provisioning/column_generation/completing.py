"""Machines filled one by one, each with a content that wastes next to nothing at prices of what is left.

Machines that cost little more than what is proven leave next to no room among all of them. Spread over all machines that is
hardly ever found; so it is kept together: the machine that is next gets a content as dear as what it has (`kernels_content`), at
prices from the linear program of the tasks and machines that are left (`resource_prices`), whose slack says how much room there
is still. The last few machines keep all of it, for annealing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.formulations.provisioning.column_generation.kernels_content import fill_machine
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.column_generation.resource_prices import Needed, ResourceRelaxation
    from schedgap.instances.arrays import IntArray

# Machines that are left at the end; they hold at least this part of the tasks that the fullest machine does.
LAST, MANY = 4, 0.4
# Moves for a content, what it may waste of its machine, contents that are tried where slack falls fast, and tasks looked at.
MOVES, WASTE, TRIES, MOST_TASKS = 1_000, 1e-6, 8, 200
# Of these, with prices of the fluid alone, and with tasks of which the fluid has this part on the machine's family at least.
PLAIN_TRIES, NEAR_TRIES, NEAR = 2, 5, 0.5
# What resources count that the fluid does not price, if all of them is used, and how fast that falls with what is used.
ALSO, SHARP = 0.1, 8
# How far machines are from the order of how many tasks they hold, as parts of the most; and linear programs from exact.
DISORDER, TOLERANCE = 0.1, 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Machines that are filled: types (M,) and content (M, C). number (K,), counts (C,) : machines and tasks that are left."""

    types: IntArray
    content: IntArray
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
        content = np.zeros((types.shape[0], instance.num_classes), np.int64)
        for m, k in enumerate(types.tolist()):
            slack = self._slack(needed, left)
            # What a machine may take of it: its part.
            spare = slack / left.sum()
            left[k] -= 1
            best: tuple[float, IntArray, Needed] | None = None
            for tried in range(TRIES):
                some = self._content(k, int(left[k]) + 1, counts, needed, tried)
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
            _, content[m], needed = best
            counts -= content[m]
        return Completed(types, content, left, counts)

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

    def _content(self, k: int, number: int, counts: IntArray, needed: Needed, tried: int) -> IntArray:
        """Return (C,): a content of a machine of type k, of which there are `number`, that is worth about as much as the machine.

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
        fill_machine(demand, values, instance.capacity[k], goal, MOVES, self.random, chosen)
        return np.bincount(classes[chosen], minlength=instance.num_classes)
