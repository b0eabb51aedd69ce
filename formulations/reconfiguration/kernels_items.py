"""The items of one machine's content: which of them fit, what their needs are worth, and the best choice at given rates.

Half of the search for the most valuable content (`kernels_contents`): everything here is linear in the items. All
arithmetic is int64; `limits` says for which instances nothing leaves 62 bits.

Letters: N items, R resources, W workloads, G groups, M rows of resource prices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.provisioning.kernels import improve_multipliers

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

# Rates are whole millionths.
RATE_UNIT = 1_000_000
ROUNDS = 60
# Resource prices are tuned for items that run at these rates.
RATES = (1.0, 0.85, 0.7)
# No sum of worths over the items that fit goes beyond it.
FAR = 1 << 60


@kernel
def _most_surplus(base: IntArray, speed: IntArray, rent: IntArray, start: int, stop: int, rate: int) -> int:
    most = np.int64(-FAR)
    for i in range(start, stop):
        most = max(most, base[i] + (speed[i] * rate + RATE_UNIT - 1) // RATE_UNIT - rent[i])
    return int(most)


@kernel
def best_items(
    numbers: IntArray,
    base: IntArray,
    speed: IntArray,
    rent: IntArray,
    item: IntArray,
    group: IntArray,
    limit: IntArray,
    demand: IntArray,
    capacity: IntArray,
    first: IntArray,
    rate: IntArray,
    target: int,
    whole: int,
    node_limit: int,
    picked: IntArray,
    content: IntArray,
) -> tuple[int, int]:
    """Choose so many items of each workload, and any that do not run, worth most above `target`; linear, rates fixed.

    whole : the price of the machine's resources and the surplus of what does not run. A node's bound is that, plus the
    largest surplus of each workload as often as it is there, less what the items chosen so far have missed of it.
    """
    n, num_resources, num_workloads = item.shape[0], capacity.shape[0], numbers.shape[0]
    total, num_running, bound = numbers.sum(), first[num_workloads], whole
    value, missed = np.empty(n, np.int64), np.empty(n, np.int64)
    for w in range(num_workloads):
        if numbers[w] > 0:
            surplus = _most_surplus(base, speed, rent, first[w], first[w + 1], rate[w])
            bound += numbers[w] * surplus
            for i in range(first[w], first[w + 1]):
                value[i] = base[i] + (speed[i] * rate[w] + RATE_UNIT - 1) // RATE_UNIT
                missed[i] = surplus - value[i] + rent[i]
    idle_limit = np.int64(0)
    for i in range(num_running, n):
        value[i] = base[i]
        missed[i] = max(0, rent[i] - base[i])
        idle_limit += limit[group[item[i]]]
    depth_limit = total + idle_limit + 1
    rest = np.empty((depth_limit, num_resources), np.int64)
    slack = np.empty(depth_limit, np.int64)
    gained = np.empty(depth_limit, np.int64)
    chosen = np.empty(depth_limit, np.int64)
    of_group = np.zeros(limit.shape[0], np.int64)
    picked[:] = 0
    rest[0], slack[0], gained[0] = capacity, bound, 0
    best, nodes, depth = target, 0, 0
    ends = np.empty(total + 1, np.int64)
    starts = np.empty(total + 1, np.int64)
    place = 0
    for w in range(num_workloads):
        for _ in range(numbers[w]):
            starts[place], ends[place] = first[w], first[w + 1]
            place += 1
    starts[total], ends[total] = num_running, n
    i = starts[0]
    while True:
        at = min(depth, total)
        found = False
        while i < ends[at]:
            k = item[i]
            if slack[depth] - missed[i] > best and of_group[group[k]] < limit[group[k]]:
                found = True
                for r in range(num_resources):
                    found = found and demand[k, r] <= rest[depth, r]
                if found:
                    break
            i += 1
        if found:
            nodes += 1
            if nodes > node_limit:
                return best, nodes
            k = item[i]
            picked[i] += 1
            of_group[group[k]] += 1
            chosen[depth] = i
            gained[depth + 1] = gained[depth] + value[i]
            slack[depth + 1] = slack[depth] - missed[i]
            for r in range(num_resources):
                rest[depth + 1, r] = rest[depth, r] - demand[k, r]
            depth += 1
            if depth >= total and gained[depth] > best:
                best = gained[depth]
                content[:] = 0
                for j in range(n):
                    content[item[j]] = picked[j]
            i = max(i, starts[min(depth, total)])
        else:
            if depth == 0:
                return best, nodes
            depth -= 1
            i = chosen[depth]
            picked[i] -= 1
            of_group[group[item[i]]] -= 1
            i += 1


@kernel
def that_fit(
    worth: IntArray,
    speed_worth: IntArray,
    workload: IntArray,
    group: IntArray,
    limit: IntArray,
    demand: IntArray,
    capacity: IntArray,
) -> tuple[IntArray, IntArray]:
    """Return the items that are worth something and fit, by workload, those that do not run last; and how many fit."""
    item, fit = np.empty(worth.shape[0], np.int64), np.empty(worth.shape[0], np.int64)
    number = np.zeros(worth.shape[0], np.int64)
    last = np.int64(-1)
    for i in range(worth.shape[0]):
        most = limit[group[i]] if worth[i] + speed_worth[i] > 0 else 0
        for r in range(capacity.shape[0]):
            if demand[i, r] < 0:
                most = 0
            elif demand[i, r] > 0:
                most = min(most, capacity[r] // demand[i, r])
        number[i] = most
        last = max(last, workload[i])
    n = 0
    # Loops instead of a sort, which takes longer to compile than all of this function.
    for w in range(last + 2):
        for i in range(worth.shape[0]):
            if number[i] > 0 and (workload[i] == w or (w == last + 1 and workload[i] < 0)):
                item[n], fit[n] = i, number[i]
                n += 1
    return item[:n], fit[:n]


@kernel
def order_by_efficiency(
    start: int, item: IntArray, fit: IntArray, base: IntArray, speed: IntArray, rent: IntArray
) -> None:
    """Put the items from `start` on, all that do not run, in order of falling worth for their price, in place."""
    ratio = np.empty(item.shape[0] - start)
    for i in range(start, item.shape[0]):
        ratio[i - start] = -base[i] / (rent[0, i] + 1e-9)
    order = np.argsort(ratio, kind="mergesort")
    for values in (item, fit, base, speed):
        _permute(values, start, order)
    for m in range(rent.shape[0]):
        _permute(rent[m], start, order)


@kernel
def _permute(values: IntArray, start: int, order: IntArray) -> None:
    """Put the values from `start` on in this order, in place."""
    before = values[start:].copy()
    for i in range(order.shape[0]):
        values[start + i] = before[order[i]]


@kernel
def rents(
    base: IntArray, speed: IntArray, demand: IntArray, capacity: IntArray, fit: IntArray
) -> tuple[IntArray, IntArray]:
    """Return whole prices of what each item needs (M, N) and of the whole machine (M,); any prices are valid.

    Where a machine full of the dearest resources would go beyond `FAR`, nothing has a price.
    """
    n, num_resources = demand.shape
    rent, whole = np.zeros((len(RATES), n), np.int64), np.zeros(len(RATES), np.int64)
    price = np.zeros(num_resources)
    value = np.empty(n, np.int64)
    for m in range(len(RATES)):
        for i in range(n):
            value[i] = base[i] + np.int64(speed[i] * RATES[m])
        price[:] = 0.0
        improve_multipliers(value, demand, fit, np.maximum(capacity, 1), 0, ROUNDS, price)
        full = 0.0
        for r in range(num_resources):
            full += np.rint(price[r]) * capacity[r]
        if full > FAR:
            # In floats first: whole numbers might wrap.
            continue
        for r in range(num_resources):
            cost = np.int64(np.rint(price[r]))
            whole[m] += cost * capacity[r]
            for i in range(n):
                rent[m, i] += cost * demand[i, r]
        if whole[m] > FAR // (1 + fit.sum()):
            whole[m] = 0
            for i in range(n):
                rent[m, i] = 0
    return rent, whole
