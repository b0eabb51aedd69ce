"""Pricing: the most value, at given prices for the task classes, that one machine of each type can hold; exactly.

A machine family is prepared once: its classes, its demands divided by their greatest common divisors, and the choice
between one table for all sizes (`kernels.fill_table`) and a branch and bound for each (`kernels.search_pattern`).

A lower bound from class prices, proven by exact pricing: nobody needs to trust a solver for it.

Weak duality of the pattern model: if no content of a machine type k is worth more than its price, every solution costs at
least the worth of all tasks. Where some content is worth more, all class prices are scaled down until none is
(Farley's bound).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.kernels import (
    fill_table,
    improve_multipliers,
    read_table,
    search_pattern,
    suffix_bounds,
)
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import price_step
from schedgap.instances.units import NANO as NANO

ObjectArray = NDArray[np.object_]

UNLIMITED = 2**62
# No machine's content may be worth as much: sums of values would overflow.
MAX_WORTH = 2**62
# Above these a table is slower than the branch and bound, or does not fit: cells, and cells times classes.
MAX_CELLS = 1_500_000
MAX_COPIES = 100_000_000
TABLE_RESOURCES = 3
ROUNDS = 80
# Up to so many resources, each has shares of its own; of more, they fall into so many parts that share one, or samples would
# grow as 2^resources.
MOST_SAMPLED, PARTS = 6, 4
# Bits of a total value in the search, and by how many values may be made finer.
MAX_BITS, MAX_SHIFT = 54, 24


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """What pricing found, for each machine type.

    value : (K,) int64, the value of `pattern`. upper : (K,) int64, proven: no content of the type is worth more.
    pattern : (K, C) int64, tasks of each class.
    """

    value: IntArray
    upper: IntArray
    pattern: IntArray


class Pricer:
    """Prices all machine types of an instance (without interference) at changing class prices."""

    def __init__(self, instance: ProvisioningInstance) -> None:
        self.instance = instance
        self.families = [
            _Family(instance, f) for f in range(len(instance.families)) if (instance.type2family == f).any()
        ]

    def price(
        self,
        values: IntArray,
        target: IntArray,
        node_limit: int = UNLIMITED,
        *,
        use_tables: bool = True,
        counts: IntArray | None = None,
    ) -> Priced:
        """Find a most valuable content of every machine type.

        Every type is searched; a family in which a search hits `node_limit` is priced by its table, if it has one.

        values : (C,) int64, not negative, in any unit; or (F, C), for each family its own.
        target : (K,) int64; contents worth at most this much are of no interest: `upper` then is the target and the
            pattern may be empty. node_limit : branch-and-bound nodes a type; where it is hit, `upper` is the
            Lagrangian bound at the root.
        counts : (C,) int64 or (F, C), at most so many tasks of each class; None for all that there are, or may share a
            machine.

        Raises
        ------
        InstanceError
            if a machine's content may be worth 2**62 or more.
        """
        most = self.instance.most_together
        counts = most if counts is None else np.minimum(counts, most)
        num_types, num_classes = self.instance.num_types, self.instance.num_classes
        priced = Priced(
            np.zeros(num_types, np.int64), np.zeros(num_types, np.int64), np.zeros((num_types, num_classes), np.int64)
        )
        shape = len(self.instance.families), num_classes
        values, counts = np.broadcast_to(values, shape), np.broadcast_to(counts, shape)
        for family in self.families:
            f = family.index
            family.price(values[f], counts[f], np.maximum(target, 0), node_limit, use_tables, priced)
        return priced


class _Family:
    """The classes that may run on one machine family, and its types."""

    def __init__(self, instance: ProvisioningInstance, f: int) -> None:
        self.index = f
        self.types = np.flatnonzero(instance.type2family == f)
        capacity, demand = instance.capacity[self.types], instance.demand[f]
        fits = (demand[:, 0] >= 0) & (demand[:, None, :] <= capacity).all(axis=2).any(axis=1)
        free = fits & (demand == 0).all(axis=1)
        self.free, self.classes = np.flatnonzero(free), np.flatnonzero(fits & ~free)
        demand = demand[self.classes]
        used = demand.any(axis=0)
        unit = np.maximum(np.gcd.reduce(demand, axis=0), 1) if self.classes.size else np.ones(demand.shape[1], np.int64)
        self.demand = np.ascontiguousarray((demand // unit)[:, used])
        together = instance.most_together[self.classes]
        most = together @ self.demand
        self.capacity = np.minimum((capacity // unit)[:, used], most)
        largest = np.maximum(self.capacity.max(axis=0), 1)
        fit = np.where(self.demand > 0, largest // np.maximum(self.demand, 1), UNLIMITED).min(axis=1, initial=UNLIMITED)
        self.bound = np.minimum(together, fit)
        cells = float(np.prod(largest + 1.0))
        self.has_table = (
            self.demand.shape[1] <= TABLE_RESOURCES
            and cells <= MAX_CELLS
            and cells * self.classes.size <= MAX_COPIES
            and self.bound.max(initial=0) < 2**16
        )
        self.table: IntArray | None = None
        self._prepare_search(largest)

    def _prepare_table(self) -> None:
        """Order the axes by size, the longest last, and pad them to three."""
        axes = np.argsort(self.capacity.max(axis=0), kind="stable")
        pad = TABLE_RESOURCES - axes.size
        self.grid_demand = np.pad(self.demand[:, axes], ((0, 0), (pad, 0)))
        self.grid_capacity = np.pad(self.capacity[:, axes], ((0, 0), (pad, 0)))
        shape = tuple(int(size) + 1 for size in self.grid_capacity.max(axis=0))
        self.table = np.empty(shape, np.int64)
        self.copies = np.empty((self.classes.size, *shape), np.uint16)

    def _prepare_search(self, largest: IntArray) -> None:
        """Choose the remaining capacities for which multipliers are tuned: shares of the largest, and where to start.

        The shares cover balanced and lopsided leftovers; at most 2^`MOST_SAMPLED` of them, however many resources.
        """
        num_resources = self.demand.shape[1]
        steps = (0.1, 0.4, 1.0) if num_resources <= 2 else (0.15, 1.0)
        parts = num_resources if num_resources <= MOST_SAMPLED else PARTS
        shares = np.array(list(product(steps, repeat=parts)))[:, np.arange(num_resources) % max(parts, 1)]
        self.samples = np.maximum(1, (shares * largest).astype(np.int64))
        self.multipliers = np.zeros((self.samples.shape[0] * 2, num_resources))

    def price(
        self,
        values: IntArray,
        counts: IntArray,
        target: IntArray,
        node_limit: int,
        use_tables: bool,
        priced: Priced,
    ) -> None:
        """Price the family's types into the rows of `priced`."""
        base = _checked(sum(int(v) * int(n) for v, n in zip(values[self.free], counts[self.free], strict=True)))
        priced.value[self.types] = priced.upper[self.types] = base
        priced.pattern[np.ix_(self.types, self.free)] = np.where(values[self.free] > 0, counts[self.free], 0)
        bound = np.minimum(self.bound, counts[self.classes])
        kept = np.flatnonzero((values[self.classes] > 0) & (bound > 0))
        if kept.size == 0:
            return
        value, bound = values[self.classes[kept]], bound[kept]
        is_complete = self._price_by_search(kept, value, bound, target - base, node_limit, priced)
        if not is_complete and use_tables and self.has_table:
            self._price_by_table(kept, value, bound, base, priced)

    def _price_by_table(self, kept: IntArray, value: IntArray, bound: IntArray, base: int, priced: Priced) -> None:
        if self.table is None:
            self._prepare_table()
        assert self.table is not None
        demand, copies = self.grid_demand[kept], self.copies[: kept.size]
        fill_table(value, demand, bound, self.table, copies)
        content = np.zeros(kept.size, np.int64)
        for k, capacity in zip(self.types, self.grid_capacity, strict=True):
            read_table(demand, copies, capacity, content)
            priced.pattern[k, self.classes[kept]] = content
            priced.value[k] = base + self.table[tuple(capacity)]
            priced.upper[k] = priced.value[k]

    def _price_by_search(
        self, kept: IntArray, value: IntArray, bound: IntArray, target: IntArray, node_limit: int, priced: Priced
    ) -> bool:
        """Search every type; returns whether all searches ended within the limit."""
        demand = self.demand[kept]
        # Multipliers are whole numbers a unit of resource: a finer unit of value keeps them precise. A coarser one, with
        # values rounded up, keeps every product below within 63 bits and the upper bounds valid.
        exact, total = value, sum(int(b) * int(v) for b, v in zip(bound, value, strict=True))
        shift = min(MAX_SHIFT, MAX_BITS - total.bit_length())
        value = value << shift if shift >= 0 else -(-value >> -shift)
        total = int(bound @ value)
        prices = np.vstack((self.multipliers, self.multipliers[-1:])) * 2.0**shift
        rests = np.vstack((np.repeat(self.samples, 2, axis=0), self.samples[-1:]))
        prices[(prices * rests).sum(axis=1) > total] = 0.0
        best_price = prices[-1].copy()
        everything = np.arange(kept.size)
        improve_multipliers(value, demand, bound, everything, self.samples[-1], ROUNDS, best_price)
        order = np.argsort(-value / np.maximum(demand @ best_price, 1e-9), kind="stable")
        kept, value, exact, demand, bound = kept[order], value[order], exact[order], demand[order], bound[order]
        prices = prices[:-1]
        parts = everything, everything[kept.size // 3 :]
        for s, rest in enumerate(self.samples):
            for j, part in enumerate(parts):
                improve_multipliers(value, demand, bound, part, rest, ROUNDS, prices[2 * s + j])
        self.multipliers = prices / 2.0**shift
        tuned = np.empty(demand.shape[1])
        is_complete = True
        for k, capacity in zip(self.types, self.capacity, strict=True):
            goal = max(0, int(target[k]))
            goal = goal << shift if shift >= 0 else goal >> -shift
            if goal >= total:
                priced.upper[k] += max(0, int(target[k]))
                continue
            # Only what fits: a price tuned for a small machine times a demand beyond it may not fit 63 bits.
            fit = np.flatnonzero((demand <= capacity).all(axis=1))
            tuned[:] = best_price
            improve_multipliers(value, demand, bound, fit, np.maximum(capacity, 1), ROUNDS, tuned)
            multiplier = np.rint(np.vstack((tuned, prices))).astype(np.int64)
            loss = demand[fit] @ multiplier[0] - value[fit]
            root = int(multiplier[0] @ capacity) + int(bound[fit] @ np.maximum(-loss, 0))
            near = fit[root - loss > goal]
            suffix = np.empty((near.size + 1, multiplier.shape[0]), np.int64)
            suffix_bounds(value[near], demand[near], bound[near], multiplier, suffix)
            content = np.zeros(near.size, np.int64)
            _, upper, nodes = search_pattern(
                value[near], demand[near], bound[near], capacity, multiplier, suffix, goal, node_limit, content
            )
            priced.upper[k] = _checked(int(priced.upper[k]) + (upper >> shift if shift >= 0 else upper << -shift))
            if content.any():
                priced.value[k] += int(content @ exact[near])
                priced.pattern[k, self.classes[kept[near]]] = content
            is_complete = is_complete and nodes <= node_limit
        return is_complete


def _checked(worth: int) -> int:
    if worth >= MAX_WORTH:
        raise InstanceError(f"a machine's content is worth {worth}, beyond 62 bits; give values in a larger unit.")
    return worth


def dual_bound(
    instance: ProvisioningInstance, duals: IntArray, *, node_limit: int = UNLIMITED, pricer: Pricer | None = None
) -> int:
    """Return a proven lower bound, in micro-dollars per hour, on every solution.

    duals : (C,) int64, nano-dollars (1e-3 micro-dollars) per hour for one task of each class, not negative; any such
        numbers give a valid bound. node_limit : for the branch and bound of each type; the bound stays valid, but may
        be weaker.

    Raises
    ------
    InstanceError
        if a dual is negative, the shapes differ, what a machine holds is worth 2**62 or more, or the instance has
        interference (a machine then costs more than its price, and the bound would not be wrong but would ignore it).
    """
    duals = np.asarray(duals, np.int64)
    if instance.throughput is not None:
        raise InstanceError(f"{instance.name}: the dual bound does not price interference; drop `throughput`.")
    if duals.shape != (instance.num_classes,) or (duals < 0).any():
        raise InstanceError(f"{instance.name}: expected {instance.num_classes} duals, none negative.")
    target = shifted_target(instance, np.zeros(instance.num_types, object))
    priced = (pricer or Pricer(instance)).price(duals, target, node_limit)
    return scaled_bound(instance, int(duals.astype(object) @ instance.counts), priced.upper)


def shifted_target(instance: ProvisioningInstance, shift: ObjectArray) -> IntArray:
    """(K,) int64, nano-dollars: each machine type's price less `shift`, for pricing; cut to 0..2**62."""
    left = [int(price) * NANO - int(less) for price, less in zip(instance.price, shift, strict=True)]
    return np.array([min(max(target, 0), MAX_WORTH) for target in left], np.int64)


def scaled_bound(instance: ProvisioningInstance, worth: int, upper: IntArray | ObjectArray) -> int:
    """Scale the worth of all tasks (nano-dollars) by the worst ratio of a type's price to `upper`, its dearest content.

    Returns micro-dollars, rounded up to `price_step`; exact integers throughout.
    """
    nano = [int(p) * NANO for p in instance.price]
    scaled = min([worth, *(worth * p // int(u) for p, u in zip(nano, upper, strict=True) if u > p)])
    step = price_step(instance) * NANO
    return max(0, -(-scaled // step)) * price_step(instance)
