"""Cheapest directed trees from a source to some regions: exactly, and as a linear program.

Letters used for shapes: R regions, L links, D destinations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import dijkstra

from schedgap.formulations.linear_model import Rows

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import FloatArray, IntArray

# What no tree costs; thrice of it fits 64 bits.
FAR = 2**61


def shortest(size: int, tail: IntArray, head: IntArray, weight: IntArray, source: int) -> tuple[FloatArray, IntArray]:
    """Return the least weight of a path to each region, (R,), inf for none, and the region before it. weight : (L,), positive."""
    matrix = np.zeros((size, size), np.int64)
    matrix[tail, head] = weight
    found: tuple[FloatArray, IntArray] = dijkstra(matrix, indices=source, return_predecessors=True)
    return found


def cheapest_tree(
    size: int, tail: IntArray, head: IntArray, weight: IntArray, source: int, destinations: IntArray
) -> tuple[int, IntArray] | None:
    """Return the weight of a cheapest tree from the source to all destinations, and the region before each, (R,); None for none.

    cost[s, v] is of a tree from v to the destinations of set s: it goes along a path to some u, and is divided in two there.
    O(3^D R + 2^D R^2). tail, head, weight : (L,), the links.
    """
    n, count = size, destinations.size
    apart = np.full((n, n), FAR)
    apart[tail, head] = weight
    np.fill_diagonal(apart, 0)
    first = np.tile(np.arange(n), (n, 1))
    for via in range(n):
        detour = apart[:, [via]] + apart[via]
        first = np.where(detour < apart, first[:, [via]], first)
        apart = np.minimum(apart, detour)
    cost, division = np.full((2**count, n), FAR), np.zeros((2**count, n), np.int64)
    to = np.zeros_like(division)
    for chosen in range(1, 2**count):
        if chosen & (chosen - 1) == 0:
            to[chosen] = destinations[chosen.bit_length() - 1]
            cost[chosen] = apart[:, to[chosen, 0]]
            continue
        divided, part = np.full(n, FAR), (chosen - 1) & chosen
        while part > chosen // 2:
            both = cost[part] + cost[chosen ^ part]
            division[chosen] = np.where(both < divided, part, division[chosen])
            divided, part = np.minimum(divided, both), (part - 1) & chosen
        ways = apart + divided
        to[chosen], cost[chosen] = ways.argmin(axis=1), np.minimum(ways.min(axis=1), FAR)
    if cost[-1, source] >= FAR:
        return None
    links, todo = set[tuple[int, int]](), [(2**count - 1, source)]
    while todo:
        chosen, region = todo.pop()
        end = int(to[chosen, region])
        while region != end:
            links.add((region, int(first[region, end])))
            region = int(first[region, end])
        if part := int(division[chosen, region]):
            todo += [(part, region), (chosen ^ part, region)]
    tails, heads = np.array(sorted(links)).T
    return int(cost[-1, source]), shortest(n, tails, heads, np.ones_like(tails), source)[1]


def flow_model(
    size: int, tail: IntArray, head: IntArray, cost: FloatArray, source: int, destinations: IntArray, scale: int
) -> LinearModel:
    """Return the linear program of flows: y(l) of each link is paid for, and f(d, l) flows to d, at most y(l).

    Minimise  sum of cost(l) y(l)
    Rows      f(d, .) into a region less out of it: 1 at d, -1 at the source, else 0;  f(d, l) <= y(l)
    """
    n, count, links = size, destinations.size, tail.size
    flow = links + np.arange(count * links)
    link, place = np.tile(np.arange(links), count), np.repeat(np.arange(count), links)
    rows = Rows(links * (count + 1))
    supply = np.zeros((count, n))
    supply[:, source] = -1
    supply[np.arange(count), destinations] = 1
    into, out_of = (place * n + ends[link] for ends in (head, tail))
    rows.add("balance", (into, flow, 1.0), (out_of, flow, -1.0), lower=supply.ravel(), upper=supply.ravel())
    rows.add("rented", (flow - links, link, 1.0), (flow - links, flow, -1.0), lower=np.zeros(flow.size))
    costs = np.concatenate((cost, np.zeros(flow.size)))
    return rows.model("flows", costs, np.ones(costs.size), scale, integral=False)
