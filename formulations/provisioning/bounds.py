"""Cheap proven bounds on the price of a snapshot, as methods without a solution. All are certified in integers.

From weak to strong, each at least the one before if its program is solved in time (`bound-resource` aside, which has none):

bound-resource          one resource at a time: what each task takes, at the cheapest price of a unit in any family; and as
                        many machines as a class needs of which only so many tasks may share one
bound-assignment-lp     prices of the resources for each group of families with equal demands: the LP relaxation of
                        Eva's ILP. Its machines are alike, so averaging a solution over them changes nothing, and the
                        relaxation is the program over classes and types in `resource_bound.py` (tasks without any
                        demand aside), with at most as many machines as tasks
bound-resource-prices   prices of the resources for each family
bound-type-prices       prices of the resources for each machine type, whose classes are those that fit it alone
bound-dual-feasible     also on what a task blocks: copies of a class that fit one machine, dual-feasible functions

They stay proofs at any size: the linear programs only propose prices, which count in Python's integers. Where HiGHS has no
answer to one, or none in time, the bound is that of bound-resource.

Dual-feasible functions in integers: valid inequalities for the pattern of one machine, made from one resource.

A function phi with sum phi(d) <= phi(C) wherever sum d <= C turns a capacity row into another valid row, in which items
weigh what they really block. Sources: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems",
Mathematical Programming 91 (2001), for `rounded_shares` and `large_or_nothing`; Carlier, Clautiaux and Moukrim, "New
reduction procedures and lower bounds for the two-dimensional bin packing problem with fixed orientation", Computers and
Operations Research 34 (2007), for `rounded_halves`; survey: Alves, Clautiaux, Valerio de Carvalho and Rietz,
"Dual-Feasible Functions for Integer Programming and Combinatorial Optimization", Springer (2016). For vector packing
each resource has its own rows; the linear program that prices them combines them.

Machine types of which several hold and cost as much as one larger type of the same family.

Where only so many tasks of a class may share a machine, one large machine does not hold what several hold: there are none.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.provisioning.assignment import demand_groups
from schedgap.formulations.provisioning.limits import classes_apart, fewest_machines, hardest_apart
from schedgap.formulations.provisioning.resource_bound import Block, block_bound, block_model
from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Outcome, find_method, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK
from schedgap.instances.provisioning.verify import price_step

Row: TypeAlias = "tuple[IntArray, int]"
SHARES = 8
THRESHOLDS = 8
MAX_SHARED = (2**63 - 1) // (SHARES + 1)


def rounded_shares(demand: IntArray, capacity: int, k: int) -> Row:
    """Return u^(k) times k (k + 1): x = demand / capacity where (k + 1) x is whole, else floor((k + 1) x) / k."""
    parts, rest = np.divmod((k + 1) * demand, capacity)
    return np.where(rest == 0, k * parts, (k + 1) * parts), k * (k + 1)


def large_or_nothing(demand: IntArray, capacity: int, threshold: int) -> Row:
    """Return U^(e): all of the capacity above capacity - threshold, nothing below the threshold, itself between."""
    size = np.where(demand > capacity - threshold, capacity, demand)
    return np.where(demand < threshold, 0, size), capacity


def rounded_halves(demand: IntArray, capacity: int, threshold: int) -> Row:
    """Return f^threshold: sizes in whole thresholds, large ones as what is left beside them."""
    whole = capacity // threshold
    large = 2 * (whole - (capacity - demand) // threshold)
    small = 2 * (demand // threshold)
    size = np.where(2 * demand > capacity, large, np.where(2 * demand == capacity, whole, small))
    return size, 2 * whole


def resource_rows(demand: IntArray, capacity: int) -> list[Row]:
    """Return the resource's own row and those that dual-feasible functions make of it, without duplicates.

    demand : (C,) int64, what one task of each class needs, at most `capacity`. Thresholds are demands up to half the
    capacity, evenly chosen where there are more than 8. Shares of capacities beyond `MAX_SHARED` are left out: 64 bits do not
    hold the ninefold.
    """
    if capacity == 0 or not demand.any():
        return []
    rows: list[Row] = [(demand, capacity)]
    rows += [rounded_shares(demand, capacity, k) for k in range(1, SHARES + 1) if capacity <= MAX_SHARED]
    sizes = np.unique(demand[(demand > 0) & (2 * demand <= capacity)])
    if sizes.size > THRESHOLDS:
        sizes = sizes[np.unique(np.linspace(0, sizes.size - 1, THRESHOLDS).astype(np.int64))]
    for threshold in sizes.tolist():
        rows += [large_or_nothing(demand, capacity, threshold), rounded_halves(demand, capacity, threshold)]
    distinct = {(row[0].tobytes(), row[1]): row for row in rows if row[0].any()}
    return list(distinct.values())


def type_multiples(instance: ProvisioningInstance) -> list[tuple[int, int, int]]:
    """Return (small, large, number): `number` machines of the small type cost and hold as much as one large; by size."""
    merges: list[tuple[int, int, int]] = []
    if instance.per_machine is not None:
        return merges
    for small in range(instance.num_types):
        for large in range(instance.num_types):
            number, rest = divmod(int(instance.price[large]), int(instance.price[small]))
            if (
                number >= 2
                and rest == 0
                and instance.type2family[small] == instance.type2family[large]
                and (instance.capacity[large] // number >= instance.capacity[small]).all()
            ):
                merges.append((small, large, number))
    return sorted(merges, key=lambda merge: (int(instance.price[merge[0]]), merge[2]))


def joined_pairs(instance: ProvisioningInstance) -> list[tuple[int, int, int]]:
    """Return pairs of different types of a family, and a third type of which one costs and holds as much as one of each."""
    pairs: list[tuple[int, int, int]] = []
    if instance.per_machine is not None:
        return pairs
    for a in range(instance.num_types):
        for b in np.flatnonzero(instance.type2family[:a] == instance.type2family[a]).tolist():
            same = (instance.type2family == instance.type2family[a]) & (instance.price == instance.price[[a, b]].sum())
            large = first_true(same & (instance.capacity >= instance.capacity[[a, b]].sum(axis=0)).all(axis=1))
            if large is not None:
                pairs.append((b, a, large))
    return pairs


MAX_ENTRIES = 20_000_000
# Limits on machines and on moves only make the best solution dearer.
FEATURES = (STOCK, DISRUPTION, PER_MACHINE)
# Entries of the rows of all classes that are kept apart, above which only the hardest have rows.
MAX_APART = 5_000_000


@method("bound-resource", family=FAMILY, bounds=True, handles=FEATURES)
def bound_resource(instance: ProvisioningInstance) -> Outcome:
    """Bound the price by one resource at a time, each task at the cheapest price of what it takes; no solver."""
    fits = instance.fits()
    best = Fraction(max(int(instance.reservation_price.max()), fewest_machines(instance, fits)))
    for r in range(len(instance.resources)):
        rates = [_cheapest_rate(instance, f, r) for f in range(len(instance.families))]
        common = math.lcm(*(rate.denominator for rate in rates if rate is not None))
        worth = np.full(instance.num_classes, -1, dtype=object)
        for f, rate in enumerate(rates):
            usable = np.flatnonzero(fits[instance.type2family == f].any(axis=0))
            # Without any of the resource in the family, classes that fit there take none of it.
            price = 0 if rate is None else int(rate * common)
            value = instance.demand[f, usable].astype(object)[:, r] * price
            known = worth[usable]
            worth[usable] = np.where(known < 0, value, np.minimum(known, value))
        best = max(best, Fraction(int(worth @ instance.counts.astype(object)), common))
    step = price_step(instance)
    return Outcome(bound=math.ceil(best / step) * step)


def _cheapest_rate(instance: ProvisioningInstance, f: int, r: int) -> Fraction | None:
    """Return the least price of one unit of a resource on a family, in micro-dollars, or None where it has none."""
    types = np.flatnonzero((instance.type2family == f) & (instance.capacity[:, r] > 0))
    return min((Fraction(int(instance.price[k]), int(instance.capacity[k, r])) for k in types), default=None)


def _bounded(
    instance: ProvisioningInstance, blocks: list[Block], time_limit_s: float | None, machines: int | None = None
) -> Outcome:
    try:
        bound = block_bound(instance, blocks, machines=machines, time_limit_s=time_limit_s)
        reason = "The linear program was not solved in time."
    except BackendError as error:
        # Prices of 1 and of 10^15 in one linear program: HiGHS ends without a status.
        bound, reason = None, str(error)
    if bound is not None:
        return Outcome(bound=bound)
    details = {"reason": f"{reason} The bound is that of bound-resource."}
    return Outcome(bound=bound_resource(instance).bound, details=details)


@method("bound-assignment-lp", version=2, family=FAMILY, bounds=True, handles=FEATURES)
def bound_assignment_lp(instance: ProvisioningInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the price by the LP relaxation of Eva's ILP, over classes and types instead of tasks and machines."""
    return _bounded(instance, family_blocks(instance, demand_groups(instance)), time_limit_s, instance.num_tasks)


@method("bound-resource-prices", version=2, family=FAMILY, bounds=True, handles=FEATURES)
def bound_resource_prices(instance: ProvisioningInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the price by the best prices of the resources, for each machine family."""
    return _bounded(instance, family_blocks(instance, np.arange(len(instance.families))), time_limit_s)


@method("bound-type-prices", version=2, family=FAMILY, bounds=True, handles=FEATURES)
def bound_type_prices(instance: ProvisioningInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the price by the best prices of the resources, for each machine type."""
    merged = merge_equal_classes(instance).instance
    return _bounded(merged, type_blocks(merged, blocking=False), time_limit_s)


def _small_enough(instance: ProvisioningInstance) -> str | None:
    entries = instance.num_types * instance.num_classes * len(instance.resources) * 24
    if entries > MAX_ENTRIES:
        return f"dual-feasible rows of {instance.num_classes} classes have some {entries} entries, over {MAX_ENTRIES}"
    return None


@method("bound-dual-feasible", version=2, family=FAMILY, supports=_small_enough, bounds=True, handles=FEATURES)
def bound_dual_feasible(instance: ProvisioningInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the price by the best prices on what a task blocks: dual-feasible functions, and copies a machine."""
    merged = merge_equal_classes(instance).instance
    return _bounded(merged, type_blocks(merged, blocking=True), time_limit_s)


@model_builder("bound-assignment-lp", family=FAMILY)
def build_assignment_lp(instance: ProvisioningInstance) -> LinearModel:
    """Build the linear program of `bound-assignment-lp`."""
    return block_model(instance, family_blocks(instance, demand_groups(instance)), instance.num_tasks)


@model_builder("bound-dual-feasible", family=FAMILY)
def build_dual_feasible(instance: ProvisioningInstance) -> LinearModel:
    """Build the linear program of `bound-dual-feasible`; its rows are the merged classes."""
    merged = merge_equal_classes(instance).instance
    return block_model(merged, type_blocks(merged, blocking=True))


def family_blocks(instance: ProvisioningInstance, group: IntArray, apart: IntArray | None = None) -> list[Block]:
    """Return one block for each group of families with equal demands; its rows are the resources.

    Then come rows for classes of which only so many tasks may share a machine. group : (F,) int64, the group of each family.
    apart : those classes; None for all, or the hardest where there are very many.
    """
    blocks, apart = [], _kept_apart(instance, int(group.max()) + 1) if apart is None else apart
    for g in np.unique(group[instance.type2family]):
        types = np.flatnonzero(group[instance.type2family] == g)
        demand = instance.demand[instance.type2family[types[0]]]
        allowed = demand[:, 0] >= 0
        size, most = _apart_rows(instance, apart, allowed)
        rows = np.vstack((np.maximum(demand, 0).T, size))
        capacity = np.vstack((instance.capacity[types].T, np.repeat(most[:, None], types.size, axis=1)))
        blocks.append(Block(types, allowed, rows, capacity, len(instance.resources)))
    return blocks


def _kept_apart(instance: ProvisioningInstance, blocks: int) -> IntArray:
    """Return the classes for which blocks have rows."""
    every = classes_apart(instance)
    return every if every.size * instance.num_classes * blocks <= MAX_APART else hardest_apart(instance)


def _apart_rows(instance: ProvisioningInstance, apart: IntArray, allowed: BoolArray) -> tuple[IntArray, IntArray]:
    """Return rows (m, C) that count the tasks of one class, of those that are allowed, and how many (m,) a machine holds."""
    inside = apart[allowed[apart]]
    size = np.zeros((inside.size, instance.num_classes), np.int64)
    size[np.arange(inside.size), inside] = 1
    return size, instance.most_together[inside]


def type_blocks(
    instance: ProvisioningInstance, *, blocking: bool, apart: IntArray | None = None, copies: bool = False
) -> list[Block]:
    """Return one block for each machine type. blocking : also rows for copies and dual-feasible functions.

    apart : as in `family_blocks`; with `blocking`, copies say the same. copies : rows for these alone.
    """
    fits = instance.fits()
    apart = np.zeros(0, np.int64) if copies else apart
    apart = _kept_apart(instance, instance.num_types) if apart is None else apart
    blocks = []
    for k in range(instance.num_types):
        allowed = fits[k]
        demand = np.where(allowed[:, None], instance.demand[instance.type2family[k]], 0)
        rows = [(demand[:, r], int(instance.capacity[k, r])) for r in range(len(instance.resources))]
        core = len(rows)
        if blocking:
            rows += [row for size, room in rows for row in resource_rows(size, room)[1:]]
        if blocking or copies:
            rows += _copy_rows(instance, k, demand)
        size = np.array([row[0] for row in rows], np.int64).reshape(-1, instance.num_classes)
        capacity = np.array([row[1] for row in rows], np.int64).reshape(-1, 1)
        if not blocking:
            more, most = _apart_rows(instance, apart, allowed)
            size, capacity = np.vstack((size, more)), np.vstack((capacity, most[:, None]))
        blocks.append(Block(np.array([k]), allowed, size, capacity, core))
    return blocks


def _copy_rows(instance: ProvisioningInstance, k: int, demand: IntArray) -> list[tuple[IntArray, int]]:
    """Return, for each class that fits the type, the row that says how many of it fit at most."""
    rows = []
    for c in np.flatnonzero(instance.fits()[k]):
        needed = demand[c] > 0
        copies = min([int(instance.most_together[c]), *(instance.capacity[k, needed] // demand[c, needed]).tolist()])
        size = np.zeros(instance.num_classes, np.int64)
        size[c] = 1
        rows.append((size, copies))
    return rows


def cheap_bound(instance: ProvisioningInstance, deadline: float = math.inf) -> int:
    """Return the better of `bound-resource` and, if there is time and room for it, `bound-dual-feasible`, micro-dollars.

    deadline : of `time.perf_counter()`. For a method whose own program could not be built, or not solved.
    """
    best = bound_resource(instance).bound
    left = deadline - time.perf_counter()
    if left > 0 and find_method(FAMILY, "bound-dual-feasible").supports(instance) is None:
        best = max(best, bound_dual_feasible(instance, time_limit_s=None if math.isinf(left) else left).bound)
    return int(best)
