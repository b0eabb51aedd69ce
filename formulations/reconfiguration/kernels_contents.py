"""The most valuable content of one machine whose tasks slow each other down, by exact branch and bound.

An item is a task that may be put on the machine. It is worth a fixed `worth` and, while it runs, `speed_worth` times its
rate: the product of its workload's throughputs beside every other running item. Rates follow from the numbers of
running items of each workload alone, so the outer search goes over these numbers, and the inner one, with rates fixed,
over the items themselves. Both are bounded by resource prices (weak Lagrangian duality). All arithmetic is int64 and
rates are rounded up, so no content is worth more than what is found.

Letters: N items, R resources, W workloads, G groups, M rows of resource prices.
"""

from __future__ import annotations

import numpy as np

from schedgap.formulations.reconfiguration.kernels_items import (
    FAR,
    RATE_UNIT,
    Candidates,
    Fitting,
    best_items,
    fitting,
)
from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel

THOUSAND = 1000
NOT_RUNNING = -1


@kernel
def best_content(
    c: Candidates, throughput: IntArray, target: int, node_limit: int, content: IntArray
) -> tuple[int, int, int]:
    """Find the content worth most above `target`.

    throughput : (W, W) thousandths, at most 1000. content : (N,), out, zeros if nothing beats the target.

    Returns (best, upper, nodes): the best worth found or the target, a proven upper bound on every content's worth or
    on the target, equal to best unless `node_limit` was hit, and the nodes of both searches.
    """
    content[:] = 0
    num_workloads = throughput.shape[0]
    f = fitting(c, num_workloads)
    n = f.item.shape[0]
    if n == 0:
        return target, target, 0
    most = np.zeros(num_workloads, np.int64)
    for w in range(num_workloads):
        most[w] = f.fit[f.first[w] : f.first[w + 1]].sum()
    depth_limit = 1 + most.sum()
    new_rate = np.full((depth_limit, num_workloads), RATE_UNIT, np.int64)
    rate = np.zeros((depth_limit, num_workloads), np.int64)
    chosen, numbers = np.zeros(depth_limit, np.int64), np.zeros(num_workloads, np.int64)
    picked = np.zeros(n, np.int64)
    best, root, nodes, depth, w = target, np.int64(0), 0, 0, 0
    enter = True
    while True:
        if enter:
            nodes += 1
            own, below = _bounds(f, numbers, most, w, picked, new_rate[depth], rate[depth], throughput)
            if depth == 0:
                root = np.int64(max(int(own.min()), int(below.min())))
            m = int(np.argmin(own))
            if own[m] > best:
                best, inner = best_items(c, f, m, numbers, rate[depth], best, node_limit - nodes, picked, content)
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
    f: Fitting, numbers: IntArray, most: IntArray, last: int, taken: IntArray, new_rate: IntArray, rate: IntArray,
    throughput: IntArray,
) -> tuple[IntArray, IntArray]:  # fmt: skip
    """Bound the worth with exactly these numbers, and with more items of the workloads from `last` on; both (M,).

    Items that run already only get slower; k more of one workload slow each other down. taken : (n,), work space.
    """
    own, below = f.rest_rent.copy(), f.rest_rent.copy()
    for m in range(own.shape[0]):
        for w in range(numbers.shape[0]):
            if numbers[w] > 0:
                own[m] += _sum_of_best(f, m, w, taken, rate[w], numbers[w], True)
        below[m] = own[m]
        for w in range(last, numbers.shape[0]):
            more, curr, k = np.int64(0), new_rate[w], 1
            while k <= most[w] - numbers[w]:
                slowed = (curr * throughput[w, w] + THOUSAND - 1) // THOUSAND
                number = most[w] - numbers[w] if slowed == curr else k
                gain = _sum_of_best(f, m, w, taken, curr, number, False)
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
def _sum_of_best(f: Fitting, m: int, w: int, taken: IntArray, rate: int, number: int, is_forced: bool) -> int:
    """Return the largest sum of the surplus of `number` items of a workload, or of at most so many if not forced."""
    start, stop = f.first[w], f.first[w + 1]
    total, left = np.int64(0), number
    taken[start:stop] = 0
    while left > 0:
        most, best = np.int64(-FAR), -1
        for i in range(start, stop):
            if taken[i] == 0:
                surplus = f.base[i] + (f.speed[i] * rate + RATE_UNIT - 1) // RATE_UNIT - f.rent[m, i]
                if surplus > most:
                    most, best = surplus, i
        if best < 0 or (most <= 0 and not is_forced):
            break
        copies = min(left, f.fit[best])
        taken[best] = 1
        total += copies * most
        left -= copies
    return int(total)
