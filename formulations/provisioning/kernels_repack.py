"""Local search on pairs of machines: pool their tasks, split them anew, rent cheaper machines or gather the waste.

The waste of a machine is its price less what its tasks are worth at the duals. At equal cost the total waste cannot change,
but gathered on few machines it lets them become smaller, or go. All amounts are int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

POOL = 64
EMPTY = -1


@kernel
def draw(state: IntArray, stop: int) -> int:
    """Draw a whole number in 0..stop - 1 by a linear congruential generator; state : (1,) int64, in and out."""
    state[0] = (state[0] * 1103515245 + 12345) & 0x7FFFFFFFFFFF
    return (state[0] >> 16) % stop


@kernel
def cheapest_type(
    pool: IntArray,
    in_first: np.ndarray,
    side: bool,
    task_class: IntArray,
    demand: IntArray,
    capacity: IntArray,
    family: IntArray,
    by_price: IntArray,
    load: IntArray,
) -> int:
    """Return the cheapest type that fits the tasks on one side of the pool, EMPTY for none. O(n F R + K R)."""
    num_families, _, num_resources = demand.shape
    load[:] = 0
    number = 0
    for i in range(pool.shape[0]):
        if in_first[i] != side:
            continue
        number += 1
        for f in range(num_families):
            if demand[f, task_class[pool[i]], 0] < 0:
                load[f, 0] = 2**61
            for r in range(num_resources):
                load[f, r] += demand[f, task_class[pool[i]], r]
    if number == 0:
        return EMPTY
    for k in by_price:
        fits = True
        for r in range(num_resources):
            if load[family[k], r] > capacity[k, r]:
                fits = False
                break
        if fits:
            return k
    return -2


@kernel
def split_pool(
    worth: IntArray,
    first: IntArray,
    second: IntArray,
    rest_first: IntArray,
    rest_second: IntArray,
    least: int,
    node_limit: int,
    best_split: np.ndarray,
) -> int:
    """Split items over two machines so that the first holds the most worth above `least`; depth first, first side first.

    worth : (n,). first, second : (n, R) demands on either machine, negative where not allowed. rest_first, rest_second :
    (R,), capacities, used up and restored. best_split : (n,) bool, out. Returns the worth, or `least` if none was found
    within the node limit.
    """
    n, num_resources = first.shape
    suffix = np.zeros(n + 1, np.int64)
    for i in range(n - 1, -1, -1):
        suffix[i] = suffix[i + 1] + worth[i]
    choice = np.zeros(n, np.int64)
    gained = np.int64(0)
    best = least
    nodes = 0
    i = 0
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
            # 0: not tried, 1: on the first machine, 2: on the second, 3: both tried.
            while choice[i] < 2 and not forward:
                choice[i] += 1
                if choice[i] == 1:
                    fits = first[i, 0] >= 0
                    for r in range(num_resources):
                        fits = fits and first[i, r] <= rest_first[r]
                    if fits:
                        for r in range(num_resources):
                            rest_first[r] -= first[i, r]
                        gained += worth[i]
                        forward = True
                elif gained + suffix[i + 1] > best:
                    fits = second[i, 0] >= 0
                    for r in range(num_resources):
                        fits = fits and second[i, r] <= rest_second[r]
                    if fits:
                        for r in range(num_resources):
                            rest_second[r] -= second[i, r]
                        forward = True
        if forward:
            nodes += 1
            if nodes > node_limit:
                return best
            i += 1
            if i < n:
                choice[i] = 0
        else:
            i -= 1
            if i >= 0:
                if choice[i] == 1:
                    for r in range(num_resources):
                        rest_first[r] += first[i, r]
                    gained -= worth[i]
                elif choice[i] == 2:
                    for r in range(num_resources):
                        rest_second[r] += second[i, r]
    return best


@kernel
def repack(
    task_class: IntArray,
    machine_type: IntArray,
    head: IntArray,
    following: IntArray,
    demand: IntArray,
    capacity: IntArray,
    family: IntArray,
    price: IntArray,
    by_price: IntArray,
    value: IntArray,
    tries: int,
    node_limit: int,
    state: IntArray,
) -> int:
    """Try `tries` pairs of machines, in place; returns the price saved, never negative.

    task_class : (T,). machine_type : (M,), EMPTY for slots that rent nothing. head : (M,) and following : (T,): the tasks of
    a machine as a linked list, EMPTY at its end. demand : (F, C, R). capacity : (K, R). family, price : (K,).
    by_price : (K,), types by rising price. value : (C,), the classes' worth in the unit of price. state : (1,), random.
    """
    num_machines, num_types, num_resources = machine_type.shape[0], price.shape[0], capacity.shape[1]
    pool = np.empty(POOL, np.int64)
    key = np.empty(POOL, np.int64)
    in_first = np.zeros(POOL, np.bool_)
    load = np.zeros((demand.shape[0], num_resources), np.int64)
    waste = np.zeros(num_machines, np.int64)
    for m in range(num_machines):
        if machine_type[m] >= 0:
            waste[m] = price[machine_type[m]]
            t = head[m]
            while t >= 0:
                waste[m] -= value[task_class[t]]
                t = following[t]
    saved = np.int64(0)
    for _ in range(tries):
        one = draw(state, num_machines)
        two = draw(state, num_machines)
        third = draw(state, num_machines)
        if waste[third] > waste[two]:
            two = third
        if one == two or (machine_type[one] < 0 and machine_type[two] < 0):
            continue
        if waste[one] > waste[two]:
            one, two = two, one
        size = 0
        worth_one = np.int64(0)
        total = np.int64(0)
        for m in (one, two):
            t = head[m]
            while t >= 0 and size < POOL:
                pool[size] = t
                key[size] = -value[task_class[t]] * (64 + draw(state, 64))
                size += 1
                total += value[task_class[t]]
                t = following[t]
            if m == one:
                worth_one = total
            if t >= 0:
                size = POOL + 1
        if size > POOL or size == 0:
            continue
        paid = np.int64(0)
        for m in (one, two):
            if machine_type[m] >= 0:
                paid += price[machine_type[m]]
        type_one, type_two, least = machine_type[one], machine_type[two], worth_one
        if type_one < 0 or type_two < 0 or draw(state, 2) == 0:
            type_one = draw(state, num_types)
            type_two = draw(state, 2 * num_types)
            offered = price[type_one]
            if type_two < num_types:
                offered += price[type_two]
            else:
                type_two = EMPTY
            if offered > paid or offered < total:
                continue
            least = -1
        order = np.argsort(key[:size])
        items = pool[:size][order]
        worth = np.empty(size, np.int64)
        first = np.empty((size, num_resources), np.int64)
        second = np.empty((size, num_resources), np.int64)
        for i in range(size):
            c = task_class[items[i]]
            worth[i] = value[c]
            first[i] = demand[family[type_one], c]
            second[i] = EMPTY
            if type_two >= 0:
                second[i] = demand[family[type_two], c]
        split = in_first[:size]
        split[:] = False
        reached = split_pool(
            worth, first, second, capacity[type_one].copy(), capacity[max(type_two, 0)].copy(), least, node_limit, split
        )
        if reached <= least:
            continue
        new_one = cheapest_type(items, split, True, task_class, demand, capacity, family, by_price, load)
        new_two = cheapest_type(items, split, False, task_class, demand, capacity, family, by_price, load)
        now = np.int64(0)
        if new_one >= 0:
            now += price[new_one]
        if new_two >= 0:
            now += price[new_two]
        waste_one = -reached
        if new_one >= 0:
            waste_one += price[new_one]
        waste_two = now - total - waste_one
        # At equal cost, only towards more gathered waste, or rarely sideways.
        if now > paid:
            continue
        if now == paid and max(waste_one, waste_two) < max(waste[one], waste[two]) and draw(state, 50) > 0:
            continue
        saved += paid - now
        machine_type[one], machine_type[two] = new_one, new_two
        waste[one], waste[two] = waste_one, waste_two
        head[one] = head[two] = EMPTY
        for i in range(size):
            m = one if split[i] else two
            following[items[i]] = head[m]
            head[m] = items[i]
    return saved
