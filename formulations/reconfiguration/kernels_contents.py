"""The most valuable content of one machine whose tasks slow each other down, by exact branch and bound.

An item is a task that may be put on the machine. It is worth a fixed `worth` and, while it runs, `speed_worth` times its
rate: the product of its workload's throughputs beside every other running item. Rates follow from the numbers of
running items of each workload alone, so the outer search goes over these numbers, and the inner one, with rates fixed,
over the items themselves. Both are bounded by resource prices (weak Lagrangian duality). All arithmetic is int64 and
rates are rounded up, so no content is worth more than what is found.

Letters: N items, R resources, W workloads, G groups, M rows of resource prices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.reconfiguration.kernels_items import (
    FAR,
    RATE_UNIT,
    best_items,
    order_by_efficiency,
    rents,
    that_fit,
)
from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

THOUSAND = 1000
NOT_RUNNING = -1


@kernel
def best_content(
    worth: IntArray,
    speed_worth: IntArray,
    workload: IntArray,
    group: IntArray,
    limit: IntArray,
    demand: IntArray,
    capacity: IntArray,
    throughput: IntArray,
    target: int,
    node_limit: int,
    content: IntArray,
) -> tuple[int, int, int]:
    """Find the content worth most above `target`.

    worth, speed_worth : (N,), not negative. workload : (N,), NOT_RUNNING for an item that neither runs nor contends.
    group : (N,), limit : (G,), at most so many items of a group together. demand : (N, R), negative where the item may
    not be here. capacity : (R,). throughput : (W, W) thousandths, at most 1000. content : (N,), out, zeros if nothing
    beats the target.

    Returns (best, upper, nodes): the best worth found or the target, a proven upper bound on every content's worth or
    on the target, equal to best unless `node_limit` was hit, and the nodes of both searches.
    """
    content[:] = 0
    item, fit = that_fit(worth, speed_worth, workload, group, limit, demand, capacity)
    n, num_workloads = item.shape[0], throughput.shape[0]
    if n == 0:
        return target, target, 0
    first = np.zeros(num_workloads + 1, np.int64)
    num_running = 0
    for i in range(n):
        if workload[item[i]] >= 0:
            first[workload[item[i]] + 1] += 1
            num_running += 1
    first = np.cumsum(first)
    base, speed = worth[item], speed_worth[item]
    rent, rest_rent = rents(base, speed, demand[item], capacity, fit)
    if num_running < n:
        order_by_efficiency(num_running, item, fit, base, speed, rent)
    num_rents = rest_rent.shape[0]
    # What the items that do not run can add at most.
    for m in range(num_rents):
        for i in range(num_running, n):
            rest_rent[m] += fit[i] * max(0, base[i] - rent[m, i])
    most = np.zeros(num_workloads, np.int64)
    depth_limit = 1
    for w in range(num_workloads):
        for i in range(first[w], first[w + 1]):
            most[w] += fit[i]
        depth_limit += most[w]
    new_rate = np.full((depth_limit, num_workloads), RATE_UNIT, np.int64)
    rate = np.zeros((depth_limit, num_workloads), np.int64)
    chosen = np.zeros(depth_limit, np.int64)
    numbers = np.zeros(num_workloads, np.int64)
    picked = np.zeros(n, np.int64)
    best, root, nodes, depth, w = target, np.int64(0), 0, 0, 0
    enter = True
    while True:
        if enter:
            nodes += 1
            own, below = _bounds(
                numbers,
                most,
                w,
                base,
                speed,
                rent,
                rest_rent,
                fit,
                picked,
                first,
                new_rate[depth],
                rate[depth],
                throughput,
            )
            if depth == 0:
                root = np.int64(max(int(own.min()), int(below.min())))
            m = int(np.argmin(own))
            if own[m] > best:
                best, inner = best_items(
                    numbers,
                    base,
                    speed,
                    rent[m],
                    item,
                    group,
                    limit,
                    demand,
                    capacity,
                    first,
                    rate[depth],
                    best,
                    rest_rent[m],
                    node_limit - nodes,
                    picked,
                    content,
                )
                nodes += inner
            if nodes > node_limit:
                return best, max(best, int(root)), nodes
            if below.min() <= best:
                w = num_workloads
        while w < num_workloads and numbers[w] == most[w]:
            w += 1
        if w < num_workloads and depth + 1 < depth_limit:
            numbers[w] += 1
            chosen[depth] = w
            _add_one(w, throughput, depth, new_rate, rate)
            depth += 1
            enter = True
        elif depth == 0:
            return best, best, nodes
        else:
            depth -= 1
            w = chosen[depth]
            numbers[w] -= 1
            w += 1
            enter = False


@kernel
def _add_one(v: int, throughput: IntArray, depth: int, new_rate: IntArray, rate: IntArray) -> None:
    """Write the rates at depth + 1, of one more item of each workload and of those that run, with one more of v."""
    for w in range(throughput.shape[0]):
        new_rate[depth + 1, w] = (new_rate[depth, w] * throughput[w, v] + THOUSAND - 1) // THOUSAND
        rate[depth + 1, w] = (rate[depth, w] * throughput[w, v] + THOUSAND - 1) // THOUSAND
    if rate[depth, v] == 0:
        rate[depth + 1, v] = new_rate[depth, v]


@kernel
def _bounds(
    numbers: IntArray,
    most: IntArray,
    last: int,
    base: IntArray,
    speed: IntArray,
    rent: IntArray,
    rest_rent: IntArray,
    fit: IntArray,
    taken: IntArray,
    first: IntArray,
    new_rate: IntArray,
    rate: IntArray,
    throughput: IntArray,
) -> tuple[IntArray, IntArray]:
    """Bound the worth with exactly these numbers, and with more items of the workloads from `last` on.

    rent : (M, N), the price of what each item needs. rest_rent : (M,), that of the machine.
    Items that run already only get slower; k more of one workload slow each other down.
    """
    own, below = rest_rent.copy(), rest_rent.copy()
    for m in range(rest_rent.shape[0]):
        for w in range(numbers.shape[0]):
            if numbers[w] > 0:
                own[m] += _sum_of_best(
                    base, speed, rent[m], fit, taken, first[w], first[w + 1], rate[w], numbers[w], True
                )
        below[m] = own[m]
        for w in range(last, numbers.shape[0]):
            more, curr, k = np.int64(0), new_rate[w], 1
            while k <= most[w] - numbers[w]:
                slowed = (curr * throughput[w, w] + THOUSAND - 1) // THOUSAND
                number = most[w] - numbers[w] if slowed == curr else k
                gain = _sum_of_best(base, speed, rent[m], fit, taken, first[w], first[w + 1], curr, number, False)
                if gain <= 0:
                    break
                more = max(more, np.int64(gain))
                if slowed == curr:
                    break
                curr = slowed
                k += 1
            below[m] += more
    return own, below


@kernel
def _sum_of_best(
    base: IntArray,
    speed: IntArray,
    rent: IntArray,
    fit: IntArray,
    taken: IntArray,
    start: int,
    stop: int,
    rate: int,
    number: int,
    is_forced: bool,
) -> int:
    """Return the largest sum of the surplus of `number` items, or of at most so many if not forced."""
    total, left = np.int64(0), number
    taken[start:stop] = 0
    while left > 0:
        most, best = np.int64(-FAR), -1
        for i in range(start, stop):
            if taken[i] == 0:
                surplus = base[i] + (speed[i] * rate + RATE_UNIT - 1) // RATE_UNIT - rent[i]
                if surplus > most:
                    most, best = surplus, i
        if best < 0 or (most <= 0 and not is_forced):
            break
        copies = min(left, fit[best])
        taken[best] = 1
        total += copies * most
        left -= copies
    return int(total)
