"""The loops behind the optimum without waits: units are sent through a network, one shortest path after the other."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import kernel

FAR = 2**62
# How a path came to a node: from the one before, or from the one after, where units idled.
IDLED, UNDONE = -1, -2
# Of an arc that is not in the network any more.
GONE = -1


class Arcs(NamedTuple):
    """The network. Letters: V nodes in a row, N arcs of jobs.

    tail, head, cost : (N,) int64, sorted by tail; leaving : (V + 1,) int64, where those of a node begin. by_head : (N,)
    int64, arcs sorted by head; entering : (V + 1,) likewise.
    """

    tail: np.ndarray
    head: np.ndarray
    cost: np.ndarray
    leaving: np.ndarray
    by_head: np.ndarray
    entering: np.ndarray


class Flow(NamedTuple):
    """Units on their way from the first node to the last one, and the proof that as many cannot go for less.

    used : (N,) int64, 1 for arcs in use, `GONE` for those taken out. idle : (V - 1,) int64, units that idle. potential : (V,)
    int64; no arc of the residual network costs less than the potential of its head less that of its tail.
    """

    used: np.ndarray
    idle: np.ndarray
    potential: np.ndarray


class Paths(NamedTuple):
    """Room for the search of a path: (V,) int64."""

    distance: np.ndarray
    arrived_by: np.ndarray


@kernel
def first_potentials(arcs: Arcs, potential: np.ndarray) -> None:
    """Write the least cost of a path from the first node to each, where nothing is in use. O(V + N)."""
    potential[:] = FAR
    potential[0] = 0
    for u in range(potential.shape[0] - 1):
        potential[u + 1] = min(potential[u + 1], potential[u])
        for a in range(arcs.leaving[u], arcs.leaving[u + 1]):
            potential[arcs.head[a]] = min(potential[arcs.head[a]], potential[u] + arcs.cost[a])


@kernel
def change_machines(arcs: Arcs, cost: int, slots: int, is_bought: bool, flow: Flow, paths: Paths) -> bool:
    """Buy one more machine, or give one back, if that pays, and return whether it did.

    cost : of a machine. slots : units of one. flow : changed.

    A unit's path in the residual network may take jobs off other units, so each machine is worth what marginal
    analysis says of it, and no more than the one before. O(slots x (V + N) log(V + N)).
    """
    last = flow.potential.shape[0] - 1
    used, idle, potential = flow.used.copy(), flow.idle.copy(), flow.potential.copy()
    total = cost if is_bought else -cost
    for _ in range(slots):
        total += _send(arcs, 0 if is_bought else last, last if is_bought else 0, flow, paths)
    if total >= 0:
        flow.used[:] = used
        flow.idle[:] = idle
        flow.potential[:] = potential
    return total < 0


@kernel
def take_out(arcs: Arcs, which: np.ndarray, flow: Flow, paths: Paths) -> None:
    """Take arcs (M,) out of the network; a unit on one of them goes the cheapest other way. flow : changed."""
    for a in which:
        is_used = flow.used[a] == 1
        flow.used[a] = GONE
        if is_used:
            _send(arcs, arcs.tail[a], arcs.head[a], flow, paths)


@kernel
def _send(arcs: Arcs, source: int, target: int, flow: Flow, paths: Paths) -> int:
    """Send a unit along a shortest path of the residual network, in costs reduced by the potentials; return what it costs.

    Nodes further away than the target count as far as it: so potentials stay right, and most of the network is not searched.
    """
    potential, distance = flow.potential, paths.distance
    distance[:] = FAR
    distance[source] = 0
    # Most arcs cost nothing: nodes as near as the last one wait in `level`, not in the heap.
    near, heap, level = 0, [(0, source)], [source]
    while True:
        if len(level) > 0:
            u = level.pop()
        else:
            near, u = heapq.heappop(heap)
            if near > distance[u]:
                continue
        if u == target:
            break
        here = near + potential[u]
        if u + 1 < potential.shape[0]:
            _reach(paths, heap, level, near, u + 1, here - potential[u + 1], IDLED)
        if u > 0 and flow.idle[u - 1] > 0:
            _reach(paths, heap, level, near, u - 1, here - potential[u - 1], UNDONE)
        for a in range(arcs.leaving[u], arcs.leaving[u + 1]):
            if flow.used[a] == 0:
                _reach(paths, heap, level, near, arcs.head[a], here + arcs.cost[a] - potential[arcs.head[a]], a)
        for i in range(arcs.entering[u], arcs.entering[u + 1]):
            a = arcs.by_head[i]
            if flow.used[a] == 1:
                _reach(paths, heap, level, near, arcs.tail[a], here - arcs.cost[a] - potential[arcs.tail[a]], a)
    for u in range(potential.shape[0]):
        potential[u] += min(distance[u], distance[target]) - distance[target]
    _add_unit(arcs, source, target, flow, paths.arrived_by)
    total: int = potential[target] - potential[source]
    return total


@kernel
def _reach(
    paths: Paths, heap: list[tuple[int, int]], level: list[int], near: int, v: int, length: int, by: int
) -> None:
    """Note a path to a node, if it is the shortest so far."""
    if length < paths.distance[v]:
        paths.distance[v], paths.arrived_by[v] = length, by
        if length == near:
            level.append(v)
        else:
            heapq.heappush(heap, (length, v))


@kernel
def _add_unit(arcs: Arcs, source: int, target: int, flow: Flow, arrived_by: np.ndarray) -> None:
    """Send one unit along the path that was found."""
    u = target
    while u != source:
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
