"""Local search on pairs of machines: pool their tasks, split them anew, rent cheaper machines or gather the waste.

The waste of a machine is its price less what its tasks are worth at the duals. At equal cost the total waste cannot change,
but gathered on few machines it lets them become smaller, or go. All amounts are int64.

A class of which there are more tasks than may share a machine is crowded: it counts as a resource of the two machines, of which
a task of the class needs one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.provisioning.kernels_types import Catalogue, add_load, cheapest_type
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import congruential_below as draw

EMPTY = -1


@kernel
def crowded_classes(items: IntArray, task_class: IntArray, most: IntArray, number: IntArray) -> IntArray:
    """(L,) int64: the classes of which there are more items than may share a machine. number : (C,), work."""
    for t in items:
        number[task_class[t]] += 1
    crowded = np.empty(items.shape[0], np.int64)
    found = 0
    for t in items:
        c = task_class[t]
        if number[c] > most[c]:
            crowded[found] = c
            found += 1
        number[c] = 0
    return crowded[:found]


@kernel
def needs_of(items: IntArray, task_class: IntArray, types: Catalogue, k: int, crowded: IntArray) -> IntArray:
    """(n, R + L) int64: what items need on type k, and of each crowded class its items; EMPTY where k rents nothing."""
    resources = types.capacity.shape[1]
    needs = np.full((items.shape[0], resources + crowded.shape[0]), EMPTY)
    if k >= 0:
        for i in range(items.shape[0]):
            c = task_class[items[i]]
            for r in range(resources):
                needs[i, r] = types.demand[types.type2family[k], c, r]
            for j in range(crowded.shape[0]):
                needs[i, resources + j] = crowded[j] == c
    return needs


@kernel
def room_of(types: Catalogue, k: int, crowded: IntArray) -> IntArray:
    """(R + L,) int64: what a machine of type k has, and how many of each crowded class may share it."""
    resources = types.capacity.shape[1]
    rest = np.empty(resources + crowded.shape[0], np.int64)
    rest[:resources] = types.capacity[k]
    for j in range(crowded.shape[0]):
        rest[resources + j] = types.most[crowded[j]]
    return rest


POOL = 64


class Machines(NamedTuple):
    """Machines and their tasks as linked lists, all int64.

    task_class : (T,). machine_type : (M,), EMPTY for slots that rent nothing. head : (M,) and following : (T,): the tasks of
    a machine, EMPTY at the end.
    """

    task_class: Any
    machine_type: Any
    head: Any
    following: Any


class Pool(NamedTuple):
    """The tasks of two machines: work arrays. tasks, key : (POOL,) int64. in_first : (POOL,) bool. load : (F, R) int64.

    number : (C,) int64, 0 between uses: how many there are of each class.
    """

    tasks: Any
    key: Any
    in_first: Any
    load: Any
    number: Any


@kernel
def side_type(items: IntArray, split: BoolArray, side: bool, task_class: IntArray, types: Catalogue, load: Any) -> int:
    """Return the cheapest type for the tasks on one side of a split, EMPTY for none. load : (F, R), work. O(n F R + K R)."""
    load[:] = 0
    number = 0
    for i in range(items.shape[0]):
        if split[i] == side:
            number += 1
            add_load(load, types.demand, task_class[items[i]], 1)
    return cheapest_type(load, types) if number > 0 else EMPTY


@kernel
def _put(needs: IntArray, i: int, rest: IntArray) -> bool:
    """Take what task i needs, (n, R), off the rest (R,) if it is allowed and fits; return whether it does."""
    fits = needs[i, 0] >= 0
    for r in range(rest.shape[0]):
        fits = fits and needs[i, r] <= rest[r]
    if fits:
        for r in range(rest.shape[0]):
            rest[r] -= needs[i, r]
    return fits


@kernel
def _take_back(needs: IntArray, i: int, rest: IntArray) -> None:
    for r in range(rest.shape[0]):
        rest[r] += needs[i, r]


@kernel
def split_pool(
    worth: IntArray,
    first: IntArray,
    second: IntArray,
    rest_first: IntArray,
    rest_second: IntArray,
    least: int,
    node_limit: int,
    best_split: BoolArray,
) -> int:
    """Split items over two machines so that the first holds the most worth above `least`; depth first, first side first.

    worth : (n,). first, second : (n, R) demands on either machine, negative where not allowed. rest_first, rest_second :
    (R,), capacities, used up and restored. best_split : (n,) bool, out. Returns the worth, or `least` if none was found
    within the node limit.
    """
    n = first.shape[0]
    suffix = np.zeros(n + 1, np.int64)
    for i in range(n - 1, -1, -1):
        suffix[i] = suffix[i + 1] + worth[i]
    # 0: not tried, 1: on the first machine, 2: on the second, or both tried.
    choice = np.zeros(n, np.int64)
    gained, best, nodes, i = np.int64(0), least, 0, 0
    while i >= 0:
        forward = False
        if i == n:
            if gained > best:
                best = gained
                for j in range(n):
                    best_split[j] = choice[j] == 1
                if gained == suffix[0]:
                    return best
        else:
            while choice[i] < 2 and not forward:
                choice[i] += 1
                if choice[i] == 1:
                    forward = _put(first, i, rest_first)
                    gained += worth[i] if forward else 0
                elif gained + suffix[i + 1] > best:
                    forward = _put(second, i, rest_second)
        if forward:
            nodes += 1
            if nodes > node_limit:
                return best
            i += 1
            if i < n:
                choice[i] = 0
            continue
        i -= 1
        if i >= 0 and choice[i] == 1:
            _take_back(first, i, rest_first)
            gained -= worth[i]
        elif i >= 0:
            _take_back(second, i, rest_second)
    return best


@kernel
def _wastes(machines: Machines, price: IntArray, value: IntArray) -> IntArray:
    """(M,) int64: the waste of each machine."""
    waste = np.zeros(machines.machine_type.shape[0], np.int64)
    for m in range(waste.shape[0]):
        if machines.machine_type[m] >= 0:
            waste[m] = price[machines.machine_type[m]]
            t = machines.head[m]
            while t >= 0:
                waste[m] -= value[machines.task_class[t]]
                t = machines.following[t]
    return waste


@kernel
def _gather(
    machines: Machines, value: IntArray, one: int, two: int, pool: Pool, state: IntArray
) -> tuple[int, int, int]:
    """Pool the tasks of two machines; return how many (over POOL if too many), the worth on the first, and of all."""
    size, worth_one, total = 0, np.int64(0), np.int64(0)
    for m in (one, two):
        t = machines.head[m]
        while t >= 0 and size < POOL:
            worth = value[machines.task_class[t]]
            pool.tasks[size] = t
            pool.key[size] = -worth * (64 + draw(state, 64))
            size += 1
            total += worth
            t = machines.following[t]
        if m == one:
            worth_one = total
        if t >= 0:
            size = POOL + 1
    return size, worth_one, total


@kernel
def _new_types(
    types: Catalogue, type_one: int, type_two: int, paid: int, total: int, worth_one: int, state: IntArray
) -> tuple[int, int, int]:
    """Return the types to split over, and the worth to beat on the first: the present ones, or others of their price.

    The first is EMPTY where those drawn cost more than is paid, or less than all tasks are worth.
    """
    if type_one >= 0 and type_two >= 0 and draw(state, 2) != 0:
        return type_one, type_two, worth_one
    num_types = types.price.shape[0]
    type_one, type_two = draw(state, num_types), draw(state, 2 * num_types)
    offered = types.price[type_one]
    if type_two < num_types:
        offered += types.price[type_two]
    else:
        type_two = EMPTY
    return EMPTY if offered > paid or offered < total else type_one, type_two, -1


@kernel
def _try_pair(
    machines: Machines,
    types: Catalogue,
    value: IntArray,
    waste: IntArray,
    pool: Pool,
    one: int,
    two: int,
    node_limit: int,
    state: IntArray,
) -> int:
    """Split the tasks of two machines anew, if that saves or gathers waste; returns the price saved."""
    size, worth_one, total = _gather(machines, value, one, two, pool, state)
    if size > POOL or size == 0:
        return 0
    kind, price = machines.machine_type, types.price
    paid = (price[kind[one]] if kind[one] >= 0 else 0) + (price[kind[two]] if kind[two] >= 0 else 0)
    type_one, type_two, least = _new_types(types, kind[one], kind[two], paid, total, worth_one, state)
    if type_one < 0:
        return 0
    items = pool.tasks[:size][np.argsort(pool.key[:size])]
    worth = np.empty(size, np.int64)
    for i in range(size):
        worth[i] = value[machines.task_class[items[i]]]
    crowded = crowded_classes(items, machines.task_class, types.most, pool.number)
    first = needs_of(items, machines.task_class, types, type_one, crowded)
    second = needs_of(items, machines.task_class, types, type_two, crowded)
    split = pool.in_first[:size]
    split[:] = False
    rest_one, rest_two = room_of(types, type_one, crowded), room_of(types, max(type_two, 0), crowded)
    reached = split_pool(worth, first, second, rest_one, rest_two, least, node_limit, split)
    if reached <= least:
        return 0
    new_one = side_type(items, split, True, machines.task_class, types, pool.load)
    new_two = side_type(items, split, False, machines.task_class, types, pool.load)
    price_one = price[new_one] if new_one >= 0 else 0
    now = price_one + (price[new_two] if new_two >= 0 else 0)
    waste_one = price_one - reached
    waste_two = now - total - waste_one
    # At equal cost, only towards more gathered waste, or rarely sideways.
    if now > paid:
        return 0
    if now == paid and max(waste_one, waste_two) < max(waste[one], waste[two]) and draw(state, 50) > 0:
        return 0
    kind[one], kind[two] = new_one, new_two
    waste[one], waste[two] = waste_one, waste_two
    machines.head[one] = machines.head[two] = EMPTY
    for i in range(size):
        m = one if split[i] else two
        machines.following[items[i]] = machines.head[m]
        machines.head[m] = items[i]
    return paid - now


@kernel
def repack(machines: Machines, types: Catalogue, value: IntArray, tries: int, node_limit: int, state: IntArray) -> int:
    """Try `tries` pairs of machines, in place; returns the price saved, never negative.

    value : (C,), the classes' worth in the unit of the types' price. state : (1,), random.
    """
    num_machines = machines.machine_type.shape[0]
    load = np.zeros((types.demand.shape[0], types.demand.shape[2]), np.int64)
    number = np.zeros(types.most.shape[0], np.int64)
    pool = Pool(np.empty(POOL, np.int64), np.empty(POOL, np.int64), np.zeros(POOL, np.bool_), load, number)
    waste = _wastes(machines, types.price, value)
    saved = np.int64(0)
    for _ in range(tries):
        one, two, third = draw(state, num_machines), draw(state, num_machines), draw(state, num_machines)
        if waste[third] > waste[two]:
            two = third
        if one == two or (machines.machine_type[one] < 0 and machines.machine_type[two] < 0):
            continue
        if waste[one] > waste[two]:
            one, two = two, one
        saved += _try_pair(machines, types, value, waste, pool, one, two, node_limit, state)
    return saved
