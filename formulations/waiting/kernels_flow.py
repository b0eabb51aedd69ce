"""The loop behind the optimum without waits: buy one machine after the other while the next one pays."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np

FAR = 2**62
# How a path came to a node: from the one before, or from the one after, where units idled.
IDLED, UNDONE = -1, -2


class Arcs(NamedTuple):
    """The network. Letters: V nodes in a row, N arcs of jobs.

    tail, head, cost : (N,) int64, sorted by tail; leaving : (V + 1,) int64, where those of a node begin. by_head : (N,)
    int64, arcs sorted by head; entering : (V + 1,) likewise. idle_cost : (V - 1,) int64, of the arc from a node to the next.
    """

    tail: np.ndarray
    head: np.ndarray
    cost: np.ndarray
    leaving: np.ndarray
    by_head: np.ndarray
    entering: np.ndarray
    idle_cost: np.ndarray


class Flow(NamedTuple):
    """What is bought. used : (N,) int64, 1 for arcs in use. idle : (V - 1,) int64, units that idle."""

    used: np.ndarray
    idle: np.ndarray


class Paths(NamedTuple):
    """Shortest paths from the first node.

    potential : (V,) int64, of `first_potentials` at first: it proves the flow cheapest. distance, arrived_by : (V,) int64.
    """

    potential: np.ndarray
    distance: np.ndarray
    arrived_by: np.ndarray


@kernel
def first_potentials(arcs: Arcs, potential: np.ndarray) -> None:
    """Write the least cost of a path from the first node to each, where nothing is in use. O(V + N)."""
    potential[:] = FAR
    potential[0] = 0
    for u in range(potential.shape[0] - 1):
        potential[u + 1] = min(potential[u + 1], potential[u] + arcs.idle_cost[u])
        for a in range(arcs.leaving[u], arcs.leaving[u + 1]):
            potential[arcs.head[a]] = min(potential[arcs.head[a]], potential[u] + arcs.cost[a])


@kernel
def buy_machine(arcs: Arcs, buy_cost: int, slots: int, flow: Flow, paths: Paths) -> bool:
    """Buy one more machine if it pays, and return whether it did; successive shortest paths.

    buy_cost : of one more unit from the first to the last node. slots : units a machine. flow, paths : changed.

    A unit's path in the residual network may take jobs off other units, so each machine is worth what marginal
    analysis says of it, and no more than the one before. O(slots x (V + N) log(V + N)).
    """
    potential = paths.potential
    last = potential.shape[0] - 1
    kept_used = flow.used.copy()
    kept_idle = flow.idle.copy()
    gain = 0
    for _ in range(slots):
        _find_paths(arcs, flow, paths)
        for u in range(last + 1):
            potential[u] += paths.distance[u]
        gain += potential[last] - potential[0] + buy_cost
        _add_unit(arcs, flow, paths.arrived_by)
    if gain >= 0:
        flow.used[:] = kept_used
        flow.idle[:] = kept_idle
    return gain < 0


@kernel
def _find_paths(arcs: Arcs, flow: Flow, paths: Paths) -> None:
    """Find the shortest path to the last node in the residual network, in costs reduced by the potentials.

    Nodes further away than the last one are as far as it: so potentials stay right, and most of the network is not searched.
    """
    potential, distance, arrived_by = paths
    tail, head, cost, leaving, by_head, entering, idle_cost = arcs
    last = potential.shape[0] - 1
    distance[:] = FAR
    distance[0] = 0
    heap = [(0, 0)]
    while len(heap) > 0:
        near, u = heapq.heappop(heap)
        if near > distance[u]:
            continue
        if u == last:
            break
        here = near + potential[u]
        if here + idle_cost[u] - potential[u + 1] < distance[u + 1]:
            distance[u + 1] = here + idle_cost[u] - potential[u + 1]
            arrived_by[u + 1] = IDLED
            heapq.heappush(heap, (distance[u + 1], u + 1))
        if u > 0 and flow.idle[u - 1] > 0 and here - idle_cost[u - 1] - potential[u - 1] < distance[u - 1]:
            distance[u - 1] = here - idle_cost[u - 1] - potential[u - 1]
            arrived_by[u - 1] = UNDONE
            heapq.heappush(heap, (distance[u - 1], u - 1))
        for a in range(leaving[u], leaving[u + 1]):
            v = head[a]
            if flow.used[a] == 0 and here + cost[a] - potential[v] < distance[v]:
                distance[v] = here + cost[a] - potential[v]
                arrived_by[v] = a
                heapq.heappush(heap, (distance[v], v))
        for i in range(entering[u], entering[u + 1]):
            a = by_head[i]
            v = tail[a]
            if flow.used[a] == 1 and here - cost[a] - potential[v] < distance[v]:
                distance[v] = here - cost[a] - potential[v]
                arrived_by[v] = a
                heapq.heappush(heap, (distance[v], v))
    for u in range(last):
        distance[u] = min(distance[u], distance[last])


@kernel
def _add_unit(arcs: Arcs, flow: Flow, arrived_by: np.ndarray) -> None:
    """Send one unit along the path to the last node."""
    u = arrived_by.shape[0] - 1
    while u != 0:
        a = arrived_by[u]
        if a == IDLED:
            flow.idle[u - 1] += 1
            u -= 1
        elif a == UNDONE:
            flow.idle[u] -= 1
            u += 1
        elif arcs.head[a] == u and flow.used[a] == 0:
            flow.used[a] = 1
            u = arcs.tail[a]
        else:
            flow.used[a] = 0
            u = arcs.head[a]
