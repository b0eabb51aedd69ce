"""Giving up nodes whose tasks find room on the others, or on those and one cheaper machine; Karpenter's searches for them.

What is tested is undone again, and left in `Work` for `commit`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedgap.heuristics.provisioning.kubernetes.kernels_claims import (
    cheapest_type,
    first_claim,
    first_fit,
    fits,
    join,
    spare_types,
    take,
)
from schedgap.heuristics.provisioning.kubernetes.state import GONE, Catalogue, Claims, Nodes, Tasks
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels.sort import sort

# What a test says, where it does not name the type of the machine to rent.
DELETE, KEEP = -1, -2
# So many types of spare capacity must be cheaper than a single machine of it that another one replaces.
FEWEST_SPOT = 15


class Work(NamedTuple):
    """Tasks by node, and the last test; int64.

    head : (M,) a task of each node, -1 for none; following : (T,) the next task on the same node, -1 for none.
    gone : (M,) types of the nodes of the test. ranks, scratch : (T,) queue positions of their tasks, in queue order.
    target : (T,) the node of each of these, -1 for the new machine. size : (1,) number of these tasks.
    """

    head: Any
    following: Any
    gone: Any
    ranks: Any
    scratch: Any
    target: Any
    size: Any


class Search(NamedTuple):
    """What tests of removals look at, and where they work.

    num_nodes : of `nodes`. claims : room for one. pools : from so many a machine may be rented, 0 for none. disruption : so much
    more there may be. spot_to_spot : whether spare capacity may replace spare capacity.
    """

    tasks: Tasks
    catalogue: Catalogue
    nodes: Nodes
    num_nodes: int
    claims: Claims
    work: Work
    pools: int
    disruption: int
    spot_to_spot: bool


@lean_kernel
def list_tasks(tasks: Tasks, work: Work) -> None:
    """List the tasks of each node. O(M + T)."""
    for m in range(work.head.shape[0]):
        work.head[m] = -1
    for t in range(tasks.place.shape[0]):
        m = tasks.place[t]
        if m >= 0:
            work.following[t], work.head[m] = work.head[m], t


@lean_kernel
def removal(chosen: Any, number: int, search: Search) -> int:
    """Say what happens if the first `number` nodes of `chosen` go: `DELETE`, the type of a new machine, or `KEEP` them.

    Their tasks, in queue order, go to the first other node with room, else to one claim of the first of the pools that
    accepts. The claim becomes its cheapest type, if that costs less than the nodes together;
    and of several nodes, less than the cheapest one of a type that the claim could be. Nothing goes if a task that no other
    node takes fits on one that has not started.
    O((M R + K R) C' + S log S), for S tasks, C' runs of equal ones.
    """
    tasks, catalogue, nodes, num_nodes, claims, work, pools, disruption, spot_to_spot = search
    paid = 0
    for i in range(number):
        work.gone[i] = nodes.machine_type[chosen[i]]
        paid += catalogue.price[work.gone[i]]
    if _gather(chosen, number, tasks, nodes, work) > disruption:
        return KEEP
    size = work.size[0]
    for i in range(size):
        first_fit(catalogue, nodes, num_nodes, tasks.task2class[tasks.queue[work.ranks[i]]])
    for i in range(number):
        nodes.machine_type[chosen[i]] = GONE
    last, node, placed, claimed, refused, waits = -1, 0, 0, False, False, False
    while placed < size and not refused:
        c = tasks.task2class[tasks.queue[work.ranks[placed]]]
        if c != last:
            last, node, waits = c, nodes.low[c], False
        while node < num_nodes and (nodes.starting[node] or not fits(catalogue, nodes, node, c)):
            waits |= nodes.starting[node] and fits(catalogue, nodes, node, c)
            node += 1
        work.target[placed] = -1
        if node < num_nodes:
            take(catalogue, nodes, node, c, 1)
            work.target[placed] = node
        elif waits:
            refused = True
        elif claimed:
            refused = not join(claims, 0, catalogue, c)
        else:
            claimed = first_claim(claims, 0, catalogue, c, pools)
            refused = not claimed
        placed += not refused
    for i in range(placed):
        if work.target[i] >= 0:
            take(catalogue, nodes, work.target[i], tasks.task2class[tasks.queue[work.ranks[i]]], -1)
    for i in range(number):
        nodes.machine_type[chosen[i]] = work.gone[i]
    if refused:
        return KEEP
    return _replacement(number, catalogue, claims, work, paid, spot_to_spot) if claimed else DELETE


@inlined_kernel
def _gather(chosen: Any, number: int, tasks: Tasks, nodes: Nodes, work: Work) -> int:
    """Sort the tasks of nodes by their places in the queue; return what it disrupts that these nodes go."""
    size, disruption = 0, 0
    for i in range(number):
        disruption += nodes.disruption[chosen[i]]
        t = work.head[chosen[i]]
        while t >= 0:
            if tasks.home[t] == tasks.place[t]:
                disruption += tasks.weight[tasks.task2class[t]]
            work.ranks[size] = tasks.rank[t]
            size += 1
            t = work.following[t]
    work.size[0] = size
    sort(work.ranks, work.scratch, size)
    return disruption


@inlined_kernel
def _replacement(number: int, catalogue: Catalogue, claims: Claims, work: Work, paid: int, spot_to_spot: bool) -> int:
    """Return the type of the claim, or `KEEP` where it does not cost less than what it replaces. O(K R + number).

    A claim that may be spare capacity becomes it, or nothing. If all that goes is spare capacity and the claim may be, the
    gate decides, and for one node how many types of it are cheaper.
    """
    all_spot = True
    for i in range(number):
        all_spot &= catalogue.spot[work.gone[i]]
    known, offered, cheaper = spare_types(claims, 0, catalogue, paid)
    if all_spot and known > 0 and (not spot_to_spot or (number == 1 and cheaper < FEWEST_SPOT)):
        return KEEP
    k = cheapest_type(claims, 0, catalogue, offered > 0)
    if number > 1:
        for i in range(number):
            j = work.gone[i]
            f = catalogue.type2family[j]
            possible = claims.is_open[0, f] and catalogue.stock[j] > 0
            for r in range(claims.used.shape[2]):
                possible &= claims.used[0, f, r] <= catalogue.capacity[j, r]
            if possible:
                paid = min(paid, catalogue.price[j])
    return k if k >= 0 and catalogue.price[k] < paid else KEEP


@lean_kernel
def commit(
    chosen: Any, number: int, rented: int, tasks: Tasks, catalogue: Catalogue, nodes: Nodes, num_nodes: int, work: Work
) -> int:
    """Carry out the last test, whose answer was `rented`; return the number of nodes. O(S R)."""
    if rented != DELETE:
        catalogue.stock[rented] -= 1
        nodes.machine_type[num_nodes], nodes.disruption[num_nodes] = rented, 0
        work.head[num_nodes] = -1
        for r in range(nodes.left.shape[1]):
            nodes.left[num_nodes, r] = catalogue.capacity[rented, r]
        for slot in range(nodes.held.shape[1]):
            nodes.held[num_nodes, slot] = 0
    for i in range(number):
        m = chosen[i]
        catalogue.stock[nodes.machine_type[m]] += 1
        nodes.machine_type[m], work.head[m] = GONE, -1
    for i in range(work.size[0]):
        t = tasks.queue[work.ranks[i]]
        m = work.target[i] if work.target[i] >= 0 else num_nodes
        take(catalogue, nodes, m, tasks.task2class[t], 1)
        tasks.place[t] = m
        work.following[t], work.head[m] = work.head[m], t
    return num_nodes + (rented != DELETE)


@lean_kernel
def widest_prefix(chosen: Any, number: int, search: Search) -> int:
    """Return how many of the first of `chosen` Karpenter's multi-node consolidation gives up, by its binary search; or 0.

    It halves 2..number as if what works for some worked for fewer. O(log number) tests; the caller tests the answer anew.
    """
    low, high, best = 1, number - 1, 0
    while low <= high:
        middle = (low + high) // 2
        if removal(chosen, middle + 1, search) != KEEP:
            best, low = middle + 1, middle + 1
        else:
            high = middle - 1
    return best


@lean_kernel
def first_removable(chosen: Any, number: int, search: Search) -> int:
    """Return the place (from 1) of the first of `chosen` that can go by itself, which is made their first one too; or 0.

    O(number) tests.
    """
    for i in range(number):
        first, chosen[0] = chosen[0], chosen[i]
        if removal(chosen, 1, search) != KEEP:
            return i + 1
        chosen[0] = first
    return 0
