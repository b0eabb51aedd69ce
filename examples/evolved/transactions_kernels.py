"""Compiled parts of the family of transactions: a search over orders, and walks that bound every order.

Letters used for shapes: N transactions, D delays that there are between two.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

FAR = 2**30
# Transactions of a block that is moved.
LONGEST = 12


@kernel
def anneal(
    delay: Any,
    back: Any,
    length: Any,
    order: Any,
    best: Any,
    work: Any,
    weight: Any,
    random: Any,
    first: int,
    last: int,
    total: int,
    heat: Any,
) -> int:
    """Move a block of up to LONGEST transactions to a place drawn by what it makes of the makespan, and again; return the best.

    With the others in their order, let head be the longest path from the start to one of the block at a place, and tail that from
    it on to the end. Then a block that starts there as early as it may makes max(makespan of the others, its starts + tails).
    One pass each way gives these at all places: O(N^2) a step.

    delay, back : (N, N) int32, of j behind i at [i, j] and [j, i]. length : (N,) int32. order : (N,) int64, moves on.
    best : (N + 1,) int64, the best order and its makespan. work : (2 LONGEST + 3, N + 1) int32. weight : (N + 1,) float64.
    random : (1,) uint64. first, last, total : steps to do, of so many. heat : (3,), temperature of the first and of the last
    step, and how much the block's own path counts where it is not the longest.
    """
    n = length.shape[0]
    head, tail = work[:LONGEST], work[LONGEST : 2 * LONGEST]
    ready, left, path = work[2 * LONGEST], work[2 * LONGEST + 1], work[2 * LONGEST + 2]
    moved, start = np.empty(LONGEST, np.int64), np.empty(LONGEST, np.int64)
    for step in range(first, last):
        cold = 1.0 / (heat[0] * (heat[1] / heat[0]) ** (step / total))
        size = 1 + xorshift_below(random, min(LONGEST, n)) if xorshift_below(random, 2) else 1
        rest = n - size
        place = xorshift_below(random, rest + 1)
        moved[:size] = order[place : place + size]
        for at in range(place, rest):
            order[at] = order[at + size]
        ready[:n], left[:n] = 0, length
        for k in range(size):
            head[k, 0], tail[k, rest] = 0, length[moved[k]]
        makespan = 0
        for at in range(rest):
            begun, behind = ready[order[at]], delay[order[at]]
            makespan = max(makespan, begun + length[order[at]])
            for x in range(n):
                ready[x] = max(ready[x], np.int32(begun + behind[x]))
            for k in range(size):
                head[k, at + 1] = ready[moved[k]]
        for at in range(rest - 1, -1, -1):
            longest, before = left[order[at]], back[order[at]]
            for x in range(n):
                left[x] = max(left[x], np.int32(longest + before[x]))
            for k in range(size):
                tail[k, at] = left[moved[k]]
        least = FAR
        for at in range(rest + 1):
            path[at] = 0
            for k in range(size):
                start[k] = head[k, at]
                for j in range(k):
                    start[k] = max(start[k], start[j] + delay[moved[j], moved[k]])
                path[at] = max(path[at], start[k] + tail[k, at])
            least = min(least, path[at])
        drawn = 0.0
        for at in range(rest + 1):
            worse = max(path[at] - max(makespan, least), 0) + heat[2] * (path[at] - least)
            drawn += math.exp(-cold * worse) if cold * worse < 30.0 else 0.0
            weight[at] = drawn
        drawn *= xorshift_uniform(random)
        place = 0
        while place < rest and weight[place] < drawn:
            place += 1
        for at in range(rest - 1, place - 1, -1):
            order[at + size] = order[at]
        order[place : place + size] = moved[:size]
        makespan = max(makespan, path[place])
        if makespan < best[n]:
            best[:n], best[n] = order, makespan
    return int(best[n])


@kernel
def cheapest_walk(
    delay: Any, price: Any, length: Any, scale: int, lowest: int, value: Any, after: Any, came: Any, visits: Any
) -> int:
    """Return the least scaled makespan less prices of a walk of N steps, no two alike of three in a row; count its `visits`.

    A state is the last two transactions and how far apart they start: the next starts late enough for both. Of two states of one
    pair that with the larger distance and no larger value is as good in every case. O(N^4 D) a call.

    delay : (N, N) int64, of all pairs, its diagonal `lowest`, the least. price : (N,) int64, scaled. length : (N,) int64.
    value, after : (N, N, D) int64. came : (N, N, N, D) int32. visits : (N,) int64.
    """
    n, distances = delay.shape[0], value.shape[2]
    value[:] = FAR * scale
    for a in range(n):
        for b in range(n):
            if a != b:
                value[a, b, delay[a, b] - lowest] = delay[a, b] * scale - price[a] - price[b]
    for layer in range(2, n):
        for b in range(n):
            found = after[b]
            found[:] = FAR * scale
            for a in range(n):
                for e in range(distances):
                    if value[a, b, e] == FAR * scale:
                        continue
                    for c in range(n):
                        apart = max(delay[b, c], delay[a, c] - e - lowest)
                        total = value[a, b, e] + apart * scale - price[c]
                        if total < found[c, apart - lowest] and c != a and c != b:
                            found[c, apart - lowest] = total
                            came[layer, b, c, apart - lowest] = a * distances + e
            for c in range(n):
                least = FAR * scale
                for e in range(distances - 1, -1, -1):
                    if found[c, e] >= least:
                        found[c, e] = FAR * scale
                    least = min(least, found[c, e])
        value[:] = after
    best, b, c, e = FAR * scale, 0, 1, 0
    for i in range(n):
        for j in range(n):
            for f in range(distances):
                if value[i, j, f] < FAR * scale and value[i, j, f] + length[j] * scale < best:
                    best, b, c, e = value[i, j, f] + length[j] * scale, i, j, f
    visits[:] = 0
    visits[c] += 1
    for layer in range(n - 1, 1, -1):
        visits[b] += 1
        earlier = came[layer, b, c, e]
        b, c, e = earlier // distances, b, earlier % distances
    visits[b] += 1
    return int(best)
