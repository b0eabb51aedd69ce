"""The loop behind the optimum without waits: buy one machine after the other while the next one pays."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np

FAR = 2**62


@kernel
def first_potentials(
    head: np.ndarray, cost: np.ndarray, leaving: np.ndarray, idle_cost: np.ndarray, potential: np.ndarray
) -> None:
    """Write the least cost of a path from the first node to each, (V,) int64; arrays as for `buy_machine`. O(V + N)."""
    potential[:] = FAR
    potential[0] = 0
    for u in range(potential.shape[0] - 1):
        potential[u + 1] = min(potential[u + 1], potential[u] + idle_cost[u])
        for a in range(leaving[u], leaving[u + 1]):
            potential[head[a]] = min(potential[head[a]], potential[u] + cost[a])


@kernel
def buy_machine(
    tail: np.ndarray,
    head: np.ndarray,
    cost: np.ndarray,
    leaving: np.ndarray,
    by_head: np.ndarray,
    entering: np.ndarray,
    idle_cost: np.ndarray,
    buy_cost: int,
    slots: int,
    used: np.ndarray,
    idle: np.ndarray,
    potential: np.ndarray,
    distance: np.ndarray,
    arrived_by: np.ndarray,
) -> bool:
    """Buy one more machine if it pays, and return whether it did; successive shortest paths.

    tail, head, cost : (N,) int64, arcs of the jobs, sorted by tail; leaving : (V + 1,) int64, where those of a node
    begin. by_head : (N,) int64, arcs sorted by head; entering : (V + 1,) likewise. idle_cost : (V - 1,) int64, of the
    arc from a node to the next. buy_cost : of one more unit from the first to the last node. slots : units a machine.
    used : (N,) int64, changed, zeros at first: 1 for arcs in use. idle : (V - 1,) int64 likewise: units that idle.
    potential : (V,) int64, changed, of `first_potentials` at first: it proves the flow cheapest. distance, arrived_by :
    (V,) int64 work.

    A unit's path in the residual network may take jobs off other units, so each machine is worth what marginal
    analysis says of it, and no more than the one before. O(slots x (V + N) log(V + N)).
    """
    last = potential.shape[0] - 1
    kept_used = used.copy()
    kept_idle = idle.copy()
    gain = 0
    for _ in range(slots):
        distance[:] = FAR
        distance[0] = 0
        heap = [(0, 0)]
        while len(heap) > 0:
            near, u = heapq.heappop(heap)
            if near > distance[u]:
                continue
            here = near + potential[u]
            if u < last and here + idle_cost[u] - potential[u + 1] < distance[u + 1]:
                distance[u + 1] = here + idle_cost[u] - potential[u + 1]
                arrived_by[u + 1] = -1
                heapq.heappush(heap, (distance[u + 1], u + 1))
            if u > 0 and idle[u - 1] > 0 and here - idle_cost[u - 1] - potential[u - 1] < distance[u - 1]:
                distance[u - 1] = here - idle_cost[u - 1] - potential[u - 1]
                arrived_by[u - 1] = -2
                heapq.heappush(heap, (distance[u - 1], u - 1))
            for a in range(leaving[u], leaving[u + 1]):
                v = head[a]
                if used[a] == 0 and here + cost[a] - potential[v] < distance[v]:
                    distance[v] = here + cost[a] - potential[v]
                    arrived_by[v] = a
                    heapq.heappush(heap, (distance[v], v))
            for i in range(entering[u], entering[u + 1]):
                a = by_head[i]
                v = tail[a]
                if used[a] == 1 and here - cost[a] - potential[v] < distance[v]:
                    distance[v] = here - cost[a] - potential[v]
                    arrived_by[v] = a
                    heapq.heappush(heap, (distance[v], v))
        for u in range(last + 1):
            potential[u] += distance[u]
        gain += potential[last] - potential[0] + buy_cost
        u = last
        while u != 0:
            a = arrived_by[u]
            if a == -1:
                idle[u - 1] += 1
                u -= 1
            elif a == -2:
                idle[u] -= 1
                u += 1
            elif head[a] == u and used[a] == 0:
                used[a] = 1
                u = tail[a]
            else:
                used[a] = 0
                u = head[a]
    if gain >= 0:
        used[:] = kept_used
        idle[:] = kept_idle
    return gain < 0
