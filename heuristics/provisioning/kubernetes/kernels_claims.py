"""Karpenter's provisioning: pods onto nodes, onto claims, or into a new claim; then the launch of each claim.

Which types a claim can still become need not be stored: it only loses types as its sums grow, so the set is that of
the types that hold the sums now.

Tasks on nodes: whether one fits, taking its room, and what stays where it runs.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.provisioning.kubernetes.state import Catalogue, Claims, Nodes, Tasks
from schedgap.instances.jit import inlined_kernel, lean_kernel


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


@inlined_kernel
def open_claim(claims: Claims, m: int, catalogue: Catalogue, pool: int) -> None:
    """Make an empty claim of a NodePool. O(F R + L)."""
    for f in range(claims.used.shape[1]):
        claims.is_open[m, f] = catalogue.pool[f] == pool
        for r in range(claims.used.shape[2]):
            claims.used[m, f, r] = 0
    for slot in range(claims.held.shape[1]):
        claims.held[m, slot] = 0


@inlined_kernel
def join(claims: Claims, m: int, catalogue: Catalogue, c: int) -> bool:
    """Add a task of a class to a claim and return True, if some type that can be had holds both. O(K R)."""
    used, demand = claims.used, catalogue.demand
    joins, may = False, shares(catalogue, claims.held, m, c)
    for f in range(used.shape[1]):
        if may and claims.is_open[m, f] and demand[f, c, 0] >= 0:
            joins |= _holds(claims, m, f, catalogue, c, 1)
    if joins:
        for f in range(used.shape[1]):
            if claims.is_open[m, f]:
                claims.is_open[m, f] = demand[f, c, 0] >= 0 and _holds(claims, m, f, catalogue, c, 1)
                for r in range(used.shape[2]):
                    used[m, f, r] += demand[f, c, r]
        if catalogue.slot[c] >= 0:
            claims.held[m, catalogue.slot[c]] += 1
    return joins


@inlined_kernel
def first_claim(claims: Claims, m: int, catalogue: Catalogue, c: int, pools: int) -> bool:
    """Make a claim for a task of a class, of the first of so many NodePools that accepts; return whether one did."""
    accepted, pool = False, 0
    while pool < pools and not accepted:
        open_claim(claims, m, catalogue, pool)
        accepted = join(claims, m, catalogue, c)
        pool += 1
    return accepted


@inlined_kernel
def _holds(claims: Claims, m: int, f: int, catalogue: Catalogue, c: int, more: int) -> bool:
    """Whether a type of a family that can be had holds a claim and so many more tasks of a class. O(K R)."""
    found = False
    i, stop = catalogue.widest_start[f], catalogue.widest_start[f + 1]
    while i < stop and not found:
        k = catalogue.widest[i]
        found = True
        for r in range(claims.used.shape[2]):
            found &= claims.used[m, f, r] + more * catalogue.demand[f, c, r] <= catalogue.capacity[k, r]
        i += 1
    return found


@inlined_kernel
def cheapest_type(claims: Claims, m: int, catalogue: Catalogue, is_spot: bool) -> int:
    """Return the cheapest type that can be had and holds a claim, the first in file order on ties, -1 for none. O(K R).

    is_spot : it must be spare capacity.
    """
    for k in catalogue.rising:
        if catalogue.stock[k] > 0 and (catalogue.spot[k] or not is_spot) and _is_held(claims, m, catalogue, k):
            return int(k)
    return -1


@inlined_kernel
def spare_types(claims: Claims, m: int, catalogue: Catalogue, paid: int) -> tuple[int, int, int]:
    """Return how many types of spare capacity hold a claim, how many of these can be had, and cost less than `paid`. O(K R)."""
    known, offered, cheaper = 0, 0, 0
    for k in range(catalogue.spot.shape[0]):
        if catalogue.spot[k] and _is_held(claims, m, catalogue, k):
            known += 1
            offered += catalogue.stock[k] > 0
            cheaper += catalogue.stock[k] > 0 and catalogue.price[k] < paid
    return known, offered, cheaper


@inlined_kernel
def _is_held(claims: Claims, m: int, catalogue: Catalogue, k: int) -> bool:
    """Whether a machine of a type holds a claim. O(R)."""
    f = catalogue.type2family[k]
    holds = claims.is_open[m, f]
    for r in range(claims.used.shape[2]):
        holds &= claims.used[m, f, r] <= catalogue.capacity[k, r]
    return bool(holds)


@lean_kernel
def provision(tasks: Tasks, catalogue: Catalogue, nodes: Nodes, num_nodes: int, claims: Claims) -> int:
    """Place the waiting tasks in queue order; return the number of claims. Claim m is place `num_nodes + m`.

    First node with room; else the claim with the fewest tasks that accepts, ties as a stable sort before every task
    leaves them; else a new claim of the first pool that accepts; else the task keeps waiting. What refuses a class
    refuses it for good, so that equal tasks in turn go over nodes and claims once: O((M + N) C' K R + T N), C' the
    runs of equal tasks in the queue, N claims; the last term moves numbers only.
    """
    number, most = 0, 1
    last, first, only, pools = -1, 0, -1, catalogue.pool[-1] + 1
    for t in tasks.queue:
        if tasks.place[t] >= 0:
            continue
        c = tasks.task2class[t]
        if c != last:
            last, first, only = c, 0, -1
        node = first_fit(catalogue, nodes, num_nodes, c)
        if node < num_nodes:
            take(catalogue, nodes, node, c, 1)
            tasks.place[t] = node
            continue
        at = -1
        if only >= 0:
            # All other claims refuse this class. This one came last to those with one task, and first to those with more.
            if join(claims, only, catalogue, c):
                at = claims.start[2] - 1 if claims.count[only] == 1 else claims.start[claims.count[only]]
        else:
            while first < number and not join(claims, claims.order[first], catalogue, c):
                first += 1
            at = first if first < number else -1
        if at >= 0:
            tasks.place[t] = num_nodes + claims.order[at]
            most = _promote(claims, at, number, most)
            continue
        if first_claim(claims, number, catalogue, c, pools):
            tasks.place[t] = num_nodes + number
            only, number = number, number + 1
            _enlist(claims, number, most)
    return number


@inlined_kernel
def _promote(claims: Claims, at: int, number: int, most: int) -> int:
    """Make the claim at a place of the order, which got a task, the first of its new count; return the largest count."""
    m = claims.order[at]
    n = claims.count[m] + 1
    claims.count[m] = n
    if n > most:
        most = n
        claims.start[most + 1] = number
    claims.start[n] -= 1
    for i in range(at, claims.start[n]):
        claims.order[i] = claims.order[i + 1]
    claims.order[claims.start[n]] = m
    return most


@inlined_kernel
def _enlist(claims: Claims, number: int, most: int) -> None:
    """Put the last of `number` claims, with one task, behind the others with one."""
    start = claims.start
    for n in range(2, most + 2):
        start[n] += 1
    for i in range(number - 1, start[2] - 1, -1):
        claims.order[i] = claims.order[i - 1]
    claims.order[start[2] - 1] = number - 1
    claims.count[number - 1] = 1


@lean_kernel
def launch(catalogue: Catalogue, claims: Claims, number: int, nodes: Nodes, num_nodes: int, claim2node: Any) -> int:
    """Rent for each claim the cheapest type of its set while the stock lasts; return the number of nodes then.

    claim2node : (N,) int64, set to -1 for claims of which no type is left. O(N K R).
    """
    for m in range(number):
        k = cheapest_type(claims, m, catalogue, False)
        claim2node[m] = -1
        if k >= 0:
            catalogue.stock[k] -= 1
            claim2node[m] = num_nodes
            nodes.machine_type[num_nodes] = k
            for r in range(nodes.left.shape[1]):
                nodes.left[num_nodes, r] = catalogue.capacity[k, r] - claims.used[m, catalogue.type2family[k], r]
            for slot in range(nodes.held.shape[1]):
                nodes.held[num_nodes, slot] = claims.held[m, slot]
            num_nodes += 1
    return num_nodes
