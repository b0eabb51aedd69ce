"""The items of one machine's content: which of them fit, what their needs are worth, and the best choice at given rates.

Half of the search for the most valuable content (`kernels_contents`): everything here is linear in the items. All
arithmetic is int64; `contents` says for which instances nothing leaves 62 bits.

Letters: N items, R resources, W workloads, G groups, M rows of resource prices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.sort import argsort
from schedgap.instances.provisioning.kernels import improve_multipliers

# Rates are whole millionths.
RATE_UNIT = 1_000_000
ROUNDS = 60
# Resource prices are tuned for items that run at these rates.
RATES = (1.0, 0.85, 0.7)
# No sum of worths over the items that fit goes beyond it.
FAR = 1 << 60


class Candidates(NamedTuple):
    """Items that may be put on a machine.

    worth, speed_worth : (N,), not negative. workload : (N,), NOT_RUNNING for an item that neither runs nor contends.
    group : (N,), limit : (G,), at most so many items of a group together. demand : (N, R), negative where the item may
    not be here. capacity : (R,).
    """

    worth: IntArray
    speed_worth: IntArray
    workload: IntArray
    group: IntArray
    limit: IntArray
    demand: IntArray
    capacity: IntArray


class Fitting(NamedTuple):
    """The n of the candidates that are worth something and fit, by workload, those that do not run last.

    item : (n,), which candidates. fit : (n,), how many of each. base, speed : (n,), their worth and speed_worth.
    first : (W + 1,), where the items of each workload begin, and those that do not run. rent : (M, n), the price of what
    each item needs. rest_rent : (M,), that of the machine, and the surplus of what does not run.
    """

    item: IntArray
    fit: IntArray
    base: IntArray
    speed: IntArray
    first: IntArray
    rent: IntArray
    rest_rent: IntArray


@kernel
def fitting(c: Candidates, num_workloads: int) -> Fitting:
    """Return the candidates that are worth something and fit, priced."""
    item, fit = that_fit(c)
    n = item.shape[0]
    first = np.zeros(num_workloads + 1, np.int64)
    num_running = 0
    for i in range(n):
        if c.workload[item[i]] >= 0:
            first[c.workload[item[i]] + 1] += 1
            num_running += 1
    first = np.cumsum(first)
    base, speed = c.worth[item], c.speed_worth[item]
    rent, rest_rent = np.zeros((len(RATES), n), np.int64), np.zeros(len(RATES), np.int64)
    if n > 0:
        rent, rest_rent = rents(base, speed, c.demand[item], c.capacity, fit)
    if num_running < n:
        order_by_efficiency(num_running, item, fit, base, speed, rent)
    # What the items that do not run can add at most.
    for m in range(rest_rent.shape[0]):
        for i in range(num_running, n):
            rest_rent[m] += fit[i] * max(0, base[i] - rent[m, i])
    return Fitting(item, fit, base, speed, first, rent, rest_rent)


@kernel
def best_items(
    c: Candidates, f: Fitting, m: int, numbers: IntArray, rate: IntArray, target: int, node_limit: int, picked: IntArray,
    content: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Choose so many items of each workload, and any that do not run, worth most above `target`; linear, rates fixed.

    m : row of resource prices. A node's bound is the price of the machine's resources and the surplus of what does not
    run, plus the largest surplus of each workload as often as it is there, less what the items chosen so far have missed
    of it. Writes `content` where it finds a better one; returns its worth, or the target, and the nodes.
    """
    n, num_resources, total = f.item.shape[0], c.capacity.shape[0], numbers.sum()
    value, missed, bound = _values(f, m, numbers, rate)
    starts, ends = _stages(f, numbers, total)
    idle_limit = np.int64(0)
    for i in range(starts[total], n):
        idle_limit += c.limit[c.group[f.item[i]]]
    depth_limit = total + idle_limit + 1
    rest = np.empty((depth_limit, num_resources), np.int64)
    slack, gained = np.empty(depth_limit, np.int64), np.empty(depth_limit, np.int64)
    chosen = np.empty(depth_limit, np.int64)
    of_group = np.zeros(c.limit.shape[0], np.int64)
    picked[:] = 0
    rest[0], slack[0], gained[0] = c.capacity, bound, 0
    best, nodes, depth, i = target, 0, 0, starts[0]
    while True:
        end = ends[min(depth, total)]
        while i < end:
            g = c.group[f.item[i]]
            if slack[depth] - missed[i] > best and of_group[g] < c.limit[g] and _fits(c, f.item[i], rest[depth]):
                break
            i += 1
        if i < end:
            nodes += 1
            if nodes > node_limit:
                return best, nodes
            picked[i] += 1
            of_group[c.group[f.item[i]]] += 1
            chosen[depth] = i
            gained[depth + 1] = gained[depth] + value[i]
            slack[depth + 1] = slack[depth] - missed[i]
            for r in range(num_resources):
                rest[depth + 1, r] = rest[depth, r] - c.demand[f.item[i], r]
            depth += 1
            if depth >= total and gained[depth] > best:
                best = gained[depth]
                content[:] = 0
                for j in range(n):
                    content[f.item[j]] = picked[j]
            i = max(i, starts[min(depth, total)])
        elif depth == 0:
            return best, nodes
        else:
            depth -= 1
            i = chosen[depth]
            picked[i] -= 1
            of_group[c.group[f.item[i]]] -= 1
            i += 1


@kernel
def _fits(c: Candidates, k: int, rest: IntArray) -> bool:
    fits = True
    for r in range(rest.shape[0]):
        fits = fits and c.demand[k, r] <= rest[r]
    return fits


@kernel
def _values(f: Fitting, m: int, numbers: IntArray, rate: IntArray) -> tuple[IntArray, IntArray, int]:
    """Return what each item is worth, (n,), what it misses of its workload's largest surplus, (n,), and the bound."""
    n = f.item.shape[0]
    value, missed, bound = np.empty(n, np.int64), np.empty(n, np.int64), f.rest_rent[m]
    for w in range(numbers.shape[0]):
        if numbers[w] > 0:
            surplus = np.int64(-FAR)
            for i in range(f.first[w], f.first[w + 1]):
                value[i] = f.base[i] + (f.speed[i] * rate[w] + RATE_UNIT - 1) // RATE_UNIT
                surplus = max(surplus, value[i] - f.rent[m, i])
            bound += numbers[w] * surplus
            for i in range(f.first[w], f.first[w + 1]):
                missed[i] = surplus - value[i] + f.rent[m, i]
    for i in range(f.first[numbers.shape[0]], n):
        value[i] = f.base[i]
        missed[i] = max(0, f.rent[m, i] - f.base[i])
    return value, missed, int(bound)


@kernel
def _stages(f: Fitting, numbers: IntArray, total: int) -> tuple[IntArray, IntArray]:
    """Return from which item and up to which each of the running ones is chosen, and at last those that do not run."""
    starts, ends = np.empty(total + 1, np.int64), np.empty(total + 1, np.int64)
    place = 0
    for w in range(numbers.shape[0]):
        for _ in range(numbers[w]):
            starts[place], ends[place] = f.first[w], f.first[w + 1]
            place += 1
    starts[total], ends[total] = f.first[numbers.shape[0]], f.item.shape[0]
    return starts, ends


@kernel
def that_fit(c: Candidates) -> tuple[IntArray, IntArray]:
    """Return the items that are worth something and fit, by workload, those that do not run last; and how many fit."""
    number_of = c.worth.shape[0]
    item, fit = np.empty(number_of, np.int64), np.empty(number_of, np.int64)
    number = np.zeros(number_of, np.int64)
    last = np.int64(-1)
    for i in range(number_of):
        most = c.limit[c.group[i]] if c.worth[i] + c.speed_worth[i] > 0 else 0
        for r in range(c.capacity.shape[0]):
            if c.demand[i, r] < 0:
                most = 0
            elif c.demand[i, r] > 0:
                most = min(most, c.capacity[r] // c.demand[i, r])
        number[i] = most
        last = max(last, c.workload[i])
    n = 0
    # Loops instead of a sort, which takes longer to compile than all of this function.
    for w in range(last + 2):
        for i in range(number_of):
            if number[i] > 0 and (c.workload[i] == w or (w == last + 1 and c.workload[i] < 0)):
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
    order = argsort(ratio)
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
        improve_multipliers(value, demand, fit, np.arange(n), np.maximum(capacity, 1), ROUNDS, price)
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
