"""Tasks on nodes: whether one fits, taking its room, and what stays where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.instances.jit import inlined_kernel, lean_kernel

if TYPE_CHECKING:
    from schedgap.heuristics.provisioning.kubernetes.state import Catalogue, Nodes, Tasks


@inlined_kernel
def shares(catalogue: Catalogue, held: Any, m: int, c: int) -> bool:
    """Whether one more task of a class may share a machine, of which so many are `held` (M, L). O(1)."""
    slot = catalogue.slot[c]
    return slot < 0 or held[m, slot] < catalogue.most[c]


@inlined_kernel
def fits(catalogue: Catalogue, nodes: Nodes, m: int, c: int) -> bool:
    """Whether a node has room for one more task of a class. O(R)."""
    k = nodes.machine_type[m]
    if k < 0:
        return False
    f = catalogue.type2family[k]
    room = catalogue.demand[f, c, 0] >= 0 and shares(catalogue, nodes.held, m, c)
    for r in range(nodes.left.shape[1]):
        room &= catalogue.demand[f, c, r] <= nodes.left[m, r]
    return room


@inlined_kernel
def first_fit(catalogue: Catalogue, nodes: Nodes, num_nodes: int, c: int) -> int:
    """Return the first node with room for a task of a class, `num_nodes` for none. O(M R) once for a class, then O(R)."""
    while nodes.low[c] < num_nodes and not fits(catalogue, nodes, nodes.low[c], c):
        nodes.low[c] += 1
    return nodes.low[c]


@inlined_kernel
def take(catalogue: Catalogue, nodes: Nodes, m: int, c: int, sign: int) -> None:
    """Take the room of a task of a class on a node; sign -1 gives it back. O(R)."""
    f = catalogue.type2family[nodes.machine_type[m]]
    for r in range(nodes.left.shape[1]):
        nodes.left[m, r] -= sign * catalogue.demand[f, c, r]
    if catalogue.slot[c] >= 0:
        nodes.held[m, catalogue.slot[c]] += sign


@lean_kernel
def settle(tasks: Tasks, catalogue: Catalogue, nodes: Nodes) -> None:
    """Leave tasks on the nodes where they run, in queue order, as far as there is room; the others wait. O(T R)."""
    for t in tasks.queue:
        m = tasks.home[t]
        tasks.place[t] = -1
        if m >= 0 and fits(catalogue, nodes, m, tasks.task2class[t]):
            take(catalogue, nodes, m, tasks.task2class[t], 1)
            tasks.place[t] = m
