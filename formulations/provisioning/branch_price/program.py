"""The covering program of one node: items to be covered, machine types, items that may not meet; and its pricing.

At the root the items are the task classes. Below, each task is an item of its own, tasks that a branch keeps together are one
item with their demands added, and tasks that it keeps apart are rivals.

The first item values prove a bound without any search: prices of one resource, and items of which no two fit together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_pattern import (
    FREE,
    Effort,
    Goods,
    fill_values,
    new_stack,
    search_pattern,
    sort_by_worth,
)
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


# Rounds of tuning prices before a search, the share of its nodes that one candidate of its root may take, and at least; patterns.
ROUNDS, EACH_SHARE, LEAST_EACH, MOST_PATTERNS = 60, 0.1, 100, 500
# Candidates and resources looked at a second until so many nodes have been timed.
FIRST_RATE, MEASURED_NODES = 1e9, 20_000
# Of the search for a machine of a packing.
PACKING = Effort(200, 200, 6)
# Cells of the value tables, of one resource for each type.
MAX_CELLS = 8_000_000


class Cut(NamedTuple):
    """A Chvatal-Gomory cut of rank 1: sum_p floor(numerators @ pattern[p] / divisor) x[p] <= `most`.

    numerators : (n,) int64, of the items of a program.
    """

    numerators: IntArray
    divisor: int
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """upper : (K,) int64, proven: no pattern is worth more. patterns : (type, (n,) int64) pairs. is_complete : all searched."""

    upper: IntArray
    patterns: list[tuple[int, IntArray]]
    is_complete: bool


class Pricing:
    """Prices the patterns of a program's machine types at changing values of its items."""

    def __init__(self, program: Program) -> None:
        self.program = program
        instance = program.instance
        num, num_resources = program.num_items, program.capacity.shape[1]
        self.rivals = _rows(num, [pair for a, b in program.rivals for pair in ((a, b), (b, a))])
        self.size = [np.ascontiguousarray(program.demand[f]) for f in instance.type2family]
        self.allowed = np.stack([self._most(k) for k in range(instance.num_types)])
        self.price = np.zeros((instance.num_types, num_resources))
        self.stack = new_stack(self._depths(), num, num_resources)
        shape = num + 1, int(program.capacity.max()) + 1
        self.has_tables = num_resources == 1 and instance.num_types * shape[0] * shape[1] <= MAX_CELLS
        self.tables = [np.zeros(shape if self.has_tables else (0, 0), np.int64) for _ in range(instance.num_types)]
        self.respect(())
        self.nodes_a_second = FIRST_RATE / (num * num_resources)

    def respect(self, cuts: Sequence[Cut]) -> None:
        """Take these cuts into account from now on."""
        entries = [(int(i), c) for c, cut in enumerate(cuts) for i in np.flatnonzero(cut.numerators)]
        start, which = _rows(self.program.num_items, entries)
        item = np.repeat(np.arange(self.program.num_items), np.diff(start))
        part = np.array([cuts[c].numerators[i] for i, c in zip(item, which, strict=True)], np.int64)
        self.cuts = start, which, part, np.array([cut.divisor for cut in cuts], np.int64)

    def best(
        self,
        values: IntArray,
        penalties: IntArray,
        target: IntArray,
        node_limit: int,
        left: IntArray | None = None,
        spare: int = FREE,
    ) -> Priced:
        """Search every type for patterns worth more than its target (K,).

        values : (n,) int64, of one of each item. penalties : (Q,) int64, of the cuts. left : (n,) of each item at most, or
        None. spare : what a machine may leave free of its one resource. Where that is less than `FREE`, no value may be 0:
        items without a value are not looked at.
        """
        num_types, before, searched = self.program.instance.num_types, time.perf_counter(), 0
        upper, patterns, is_complete = np.zeros(num_types, np.int64), [], True
        for k in range(num_types):
            goods = self._goods(k, values, penalties, spare)
            effort = Effort(node_limit, max(LEAST_EACH, int(EACH_SHARE * node_limit)), ROUNDS)
            rows = min(values.shape[0], MOST_PATTERNS)
            found, most, upper[k], nodes = self._search(k, goods, int(target[k]), effort, left, rows)
            searched += nodes
            is_complete = is_complete and bool(upper[k] <= most)
            patterns += [(k, pattern) for pattern in found]
        if searched > MEASURED_NODES:
            self.nodes_a_second = searched / num_types / (time.perf_counter() - before)
        return Priced(upper, patterns, is_complete)

    def packing(
        self, values: IntArray, penalties: IntArray, left: IntArray | None = None
    ) -> list[tuple[int, IntArray]]:
        """Pack what is left, (n,) or everything, machine by machine: each the type and pattern of most value for its price."""
        instance = self.program.instance
        left = self.program.counts.copy() if left is None else left.copy()
        goods = [self._goods(k, np.maximum(values, 1), penalties) for k in range(instance.num_types)]
        machines: list[tuple[int, IntArray]] = []
        while left.any():
            best, least = None, np.inf
            for k in range(instance.num_types):
                found, _, _, _ = self._search(k, goods[k], 0, PACKING, left, 1)
                worth = float(goods[k].value @ found[0]) if found.size else 0.0
                if worth > 0 and instance.price[k] / worth < least:
                    best, least = (k, found[0]), instance.price[k] / worth
            if best is None:
                return []
            times = int((left[best[1] > 0] // best[1][best[1] > 0]).min())
            machines += [best] * times
            left -= times * best[1]
        return machines

    def _search(
        self, k: int, goods: Goods, target: int, effort: Effort, left: IntArray | None, rows: int
    ) -> tuple[IntArray, int, int, int]:
        """Return the patterns found, at most so many rows, the most that one is worth or `target`, a bound, and the nodes."""
        allowed = self.allowed[k] if left is None else np.minimum(self.allowed[k], left)
        found, capacity = np.empty((rows, allowed.shape[0]), np.int64), self.program.capacity[k]
        if not self.price[k].any():
            self.price[k] = 0.1 * (goods.value @ allowed) / max(1, int(capacity.sum()))
        number, most, upper, nodes = search_pattern(
            goods, capacity, allowed, target, effort, self.price[k], self.stack, found
        )
        return found[:number].copy(), most, upper, nodes

    def _goods(self, k: int, values: IntArray, penalties: IntArray, spare: int = FREE) -> Goods:
        size = self.size[k]
        order = np.arange(values.shape[0])
        if size.shape[1] == 1:
            order = np.argsort(-values / np.maximum(size[:, 0], 0.5), kind="stable")
            # Beyond, sizes are too fine for the search's whole prices: all weights are 0 there, and any order will do.
            if int(values.max()) * int(size.max()) < 2**62:
                sort_by_worth(values, order, size[order, 0])
        rank = np.empty_like(order)
        rank[order] = np.arange(order.shape[0])
        goods = Goods(values, size, order, rank, self.tables[k], spare, *self.rivals, *self.cuts, penalties)
        if goods.table.size:
            fill_values(goods, self.allowed[k])
        return goods

    def _most(self, k: int) -> IntArray:
        """(n,) int64: how many of each item a machine of a type holds at most."""
        program, capacity = self.program, self.program.capacity[k]
        size = self.size[k]
        copies = np.where(size > 0, capacity // np.maximum(size, 1), program.counts[:, None]).min(axis=1)
        return np.where(program.fits[k], np.minimum(copies, program.counts), 0)

    def _depths(self) -> int:
        """Return one more than the most items that a machine holds, and another."""
        most = 0
        for k, capacity in enumerate(self.program.capacity):
            inside = self.allowed[k] > 0
            size = self.size[k][inside]
            # Each item takes at least the least positive demand of some resource.
            least = np.where(size > 0, size, np.iinfo(np.int64).max).min(axis=0, initial=np.iinfo(np.int64).max)
            free = int(self.allowed[k][inside][(size == 0).all(axis=1)].sum())
            most = max(most, min(int(self.allowed[k].sum()), int((capacity // least).sum()) + free))
        return most + 2


def _rows(num: int, pairs: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """Return the second numbers of pairs, ordered by the first, and where those of each first number start, (num + 1,)."""
    array = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return np.searchsorted(array[:, 0], np.arange(num + 1)).astype(np.int64), np.ascontiguousarray(array[:, 1])
