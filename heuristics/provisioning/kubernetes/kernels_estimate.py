"""cluster-autoscaler: how many nodes of a group take which waiting tasks, and waiting tasks onto nodes that there are."""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.provisioning.kubernetes.kernels_claims import first_fit, fits, take
from schedgap.heuristics.provisioning.kubernetes.state import Catalogue, Nodes
from schedgap.instances.jit import inlined_kernel, lean_kernel

# In place of a limit on how many tasks of a class share a machine.
PLENTY = 2**62


@lean_kernel
def estimate(
    k: int, order: Any, start: Any, limit: int, catalogue: Catalogue, left: Any, most: Any, here: Any, where: Any,
    taken: Any,
) -> int:  # fmt: skip
    """Pack waiting tasks on at most so many new nodes of a type, class after class; return the number of nodes.

    A task goes to the first node with room, round robin, from behind the one that took the last task; at the first of a
    class without room on any, the rest of the class goes to the node opened last, and to new ones. At the limit no more are
    opened, but later classes still fill those that there are.

    order : (C',) classes in turn. start : (C + 1,) int64; the i-th waiting task of class c is start[c] + i. left : (limit, R)
    int64, most : (R,) int64, here : (limit,) int64, room to work in. where : (W,) int64, set to the node of each task that is
    taken. taken : (C,) int64, set to how many tasks of each class are. O(W N R) at worst for N nodes; a class that asks for more
    than any node has left, as of the last search of all, costs O(R).
    """
    f, number, at, opens = catalogue.type2family[k], 0, 0, True
    resources = left.shape[1]
    for c in range(taken.shape[0]):
        taken[c] = 0
    for c in order:
        demand = catalogue.demand[f, c]
        beside = catalogue.most[c] if catalogue.slot[c] >= 0 else PLENTY
        for m in range(number):
            here[m] = 0
        i, size = 0, start[c + 1] - start[c]
        searching = number > 0
        for r in range(resources):
            searching &= demand[r] <= most[r]
        while i < size and searching:
            m = _next_fit(demand, left, number, at, here, beside)
            searching = m >= 0
            if searching:
                for r in range(resources):
                    left[m, r] -= demand[r]
                where[start[c] + i] = m
                here[m] += 1
                at = m + 1 if m + 1 < number else 0
                i += 1
            else:
                _most_left(left, number, most)
        while i < size and opens:
            room = number > 0 and here[number - 1] < beside
            for r in range(resources):
                room = room and demand[r] <= left[number - 1, r]
            opens = room or number < limit
            if opens:
                if not room:
                    for r in range(resources):
                        most[r] = left[number, r] = catalogue.capacity[k, r]
                    here[number] = 0
                    number += 1
                here[number - 1] += 1
                for r in range(resources):
                    left[number - 1, r] -= demand[r]
                where[start[c] + i] = number - 1
                i += 1
        taken[c] = i
    return number


@inlined_kernel
def _next_fit(demand: Any, left: Any, number: int, at: int, here: Any, beside: int) -> int:
    """Return the first of so many nodes with room, and less than `beside` of the class `here`, round robin from `at`.

    -1 for none. O(N R).
    """
    for j in range(number):
        m = at + j if at + j < number else at + j - number
        room = here[m] < beside
        for r in range(left.shape[1]):
            room &= demand[r] <= left[m, r]
        if room:
            return m
    return -1


@inlined_kernel
def _most_left(left: Any, number: int, most: Any) -> None:
    """Set `most` to the largest room of any node in each resource. O(N R)."""
    for r in range(left.shape[1]):
        most[r] = left[0, r]
        for m in range(1, number):
            most[r] = max(most[r], left[m, r])


@lean_kernel
def fill(waiting: Any, task2class: Any, catalogue: Catalogue, nodes: Nodes, num_nodes: int, place: Any, at: int) -> int:
    """Put waiting tasks, in turn, on the first node with room from node `at` on, round robin; return the next `at`.

    O(W M R) at worst; a class that found no room is not looked for again.
    """
    for t in waiting:
        c = task2class[t]
        low = first_fit(catalogue, nodes, num_nodes, c)
        if low == num_nodes:
            continue
        m, searched = at, 0
        while searched < num_nodes and (m < low or not fits(catalogue, nodes, m, c)):
            m = m + 1 if m + 1 < num_nodes else 0
            searched += 1
        take(catalogue, nodes, m, c, 1)
        place[t] = m
        at = m + 1 if m + 1 < num_nodes else 0
    return at
