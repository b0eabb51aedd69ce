"""Karpenter's provisioning: kubernetes-sigs/karpenter, pkg/controllers/provisioning, commit 2266468 (August 2026).

Karpenter's consolidation: kubernetes-sigs/karpenter, pkg/controllers/disruption, commit 2266468 (August 2026).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.balanced import Balance
from schedgap.heuristics.provisioning.kubernetes.cluster import (
    AS_POOLS,
    BALANCED,
    HANDLED,
    POLICIES,
    WHEN_EMPTY,
    Cluster,
    Limits,
    sizes_of,
)
from schedgap.heuristics.provisioning.kubernetes.kernels_claims import launch, provision
from schedgap.heuristics.provisioning.kubernetes.kernels_removal import (
    KEEP,
    Search,
    Work,
    commit,
    first_removable,
    list_tasks,
    removal,
    widest_prefix,
)
from schedgap.heuristics.provisioning.kubernetes.state import GONE, Claims, role
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.running import EMPTY, UNDERUTILIZED

POOLS = ("one", "family")


@method("karpenter", family=FAMILY, choices={"pools": POOLS}, handles=HANDLED)
def karpenter(instance: ProvisioningInstance, pools: str = "one") -> Outcome:
    """Place the tasks that run nowhere as Karpenter does one batch of pending pods; what runs stays where it is.

    Tasks are taken by falling CPU, then falling memory, then in list order. Each goes to the first running machine with
    room, by name; else to the claim, a machine about to be launched, that has the fewest tasks and accepts it; else to a
    new claim. A claim accepts a task while any type that can be had holds its tasks and this one, so claims grow as large
    as the catalogue permits; at the end each becomes the cheapest type that holds its tasks, the first in file order of
    equal price. Karpenter's sort leaves open which of two claims with as many tasks is first; here it is a stable sort.

    A type that ends while claims are launched leaves claims without a machine; their tasks, and only those, are placed
    again, on what was launched and on other types, until none waits or nothing helps (no solution then).

    pools : `one` NodePool with all types; or one for each machine family, of which a new claim takes the first, in file
        order, that accepts. A claim has types of one NodePool.

    Running machines without tasks are given back. Tasks of a machine that holds more than its capacity stay in the order
    above while they fit; the others are placed anew, and count as moved. Cost: `kernels_claims.provision`.
    """
    cluster = Cluster.of(instance, queue_of(instance))
    place_waiting(cluster, pools_of(cluster, pools))
    return cluster.outcome(instance)


def queue_of(instance: ProvisioningInstance) -> IntArray:
    """(T,) int64, Karpenter's queue: falling CPU, falling memory, list order."""
    return queued(instance.resources, sizes_of(instance), instance.task_classes())


def queued(resources: Sequence[str], sizes: IntArray, task2class: IntArray) -> IntArray:
    """(T,) int64, tasks by falling CPU, then memory of their classes, sizes (C, R), then in list order."""
    keys = [-sizes[:, r] for r in (role(resources, "memory"), role(resources, "cpu")) if r >= 0]
    if not keys:
        return np.arange(task2class.shape[0])
    return np.lexsort([key[task2class] for key in keys])


def pools_of(cluster: Cluster, pools: str) -> IntArray:
    """(F,) int64, the NodePool of each machine family."""
    families = cluster.demand.shape[0]
    return np.arange(families) if pools == "family" else np.zeros(families, np.int64)


def place_waiting(cluster: Cluster, pool: IntArray) -> None:
    """Place what waits, and launch machines for it, until nothing waits or nothing more can be placed."""
    waiting = cluster.waiting.shape[0]
    before = waiting + 1
    while 0 < waiting < before:
        catalogue, claims = cluster.catalogue(pool), new_claims(waiting, cluster)
        number = provision(cluster.tasks, catalogue, cluster.nodes, cluster.number, claims)
        cluster.make_room(number)
        claim2node, place = np.empty(number, np.int64), cluster.tasks.place
        last = launch(catalogue, claims, number, cluster.nodes, cluster.number, claim2node)
        claimed = place >= cluster.number
        place[claimed] = claim2node[place[claimed] - cluster.number]
        cluster.number = last
        before, waiting = waiting, cluster.waiting.shape[0]


def new_claims(number: int, cluster: Cluster) -> Claims:
    """Return room for so many claims."""
    families, _, resources = cluster.demand.shape
    return Claims(
        np.empty((number, families, resources), np.int64),
        np.empty((number, families), np.bool_),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
        np.zeros(number + 2, np.int64),
        np.empty((number, cluster.nodes.held.shape[1]), np.int32),
    )


ORDERS = ("savings-ratio", "node-cost")
# Multi-node consolidation looks at no larger set (its search starts with 0..100).
MOST_AT_ONCE = 101


def has_running(instance: ProvisioningInstance) -> str | None:
    """Return why there is nothing to consolidate, or None."""
    return None if instance.running is not None else f"{instance.name} has no running machines; karpenter places tasks"


@method(
    "karpenter-consolidation",
    family=FAMILY,
    supports=has_running,
    choices={"order": ORDERS, "pools": POOLS, "policy": POLICIES},
    handles=HANDLED,
)
def karpenter_consolidation(
    instance: ProvisioningInstance,
    order: str = "savings-ratio",
    budget_percent: int = 100,
    passes: int = 10_000,
    pools: str = "one",
    spot_to_spot: bool = False,
    policy: str = AS_POOLS,
) -> Outcome:
    """Place what waits as `karpenter` does, then give up machines pass by pass until a pass changes nothing.

    A pass: machines without tasks go. Then multi-node: the machines in order, at most 101 and at most the budget; a binary
    search for a prefix of at least two that can go together. If there is none, single-node: the first in order that can
    go. Machines can go if their tasks, in Karpenter's queue order, find room on the others, by name and then new ones by
    age; or on those and one new machine of the cheapest type that can be had, which must cost less than all that goes, and
    in multi-node also less than the cheapest one that goes of a type that could be the new machine.

    Where an instance says which machines may go (`Disruption`), only such are looked at: of a pool, started, not held, and in
    pools that give up empty machines only, these. The budgets of their pools hold in each pass: of all reasons that of empty
    machines for these, which stay and are paid where it forbids, and that of underutilized ones; in single-node, pools take
    turns. No machine goes if one of its tasks would go to a machine that has not started. New machines are of the pool of the
    first running one of their family.

    Where types are spare capacity (spot): if the new machine could be one, it is one; and if all that go are, none of them is
    replaced, unless `spot_to_spot` (the feature gate SpotToSpotConsolidation), and a single one only if 15 types of spare
    capacity are cheaper than it.

    order : `savings-ratio`, price / node cost falling; or `node-cost` rising, as releases before 2026 did. A node costs one,
        and what its tasks count (`ProvisioningInstance.disruption`). Ties, which Karpenter leaves open, in the order of the
        machines. Of machines of one pool that is the order of their scores in `balanced.py`, if they are deleted.
    policy : of all pools. `when-empty` gives up empty machines only, `when-empty-or-underutilized` all that is cheaper then,
        and `balanced` of the latter what has a score of one half at least (`balanced.py`), in the binary search, too; of
        several pools every one must approve that has the policy. Empty machines have no score. `as-pools`: each pool's own,
        `when-empty-or-underutilized` where nothing is said.
    budget_percent : of the machines, rounded up, so many may go in one pass (the disruption budget of a NodePool).
    passes : at most so many.

    A machine is empty if its tasks count nothing, of new ones if it has none; such tasks are placed anew. With `max_disruption`,
    what would disrupt more than is left is not done. New machines may go too, once they are there; prices are certain, so that
    the worst launch price of a type is its price. O(M) tests a pass.
    """
    cluster = Cluster.of(instance, queue_of(instance))
    pool, limits, most = pools_of(cluster, pools), Limits.of(instance, policy), instance.max_disruption
    place_waiting(cluster, pool)
    if not cluster.waiting.size:
        for _ in range(passes):
            empty = np.flatnonzero(cluster.idle() & cluster.is_there())
            if limits is not None:
                by_cost = candidates(cluster, order, limits.may_go(cluster, EMPTY))
                empty = limits.within(cluster, by_cost, EMPTY)
            cluster.remove(empty := cluster.affordable(empty, most))
            place_waiting(cluster, pool)
            if cluster.waiting.size:
                break
            allowed = -(-cluster.num_nodes * budget_percent // 100)
            left = cluster.disruption_left(most)
            gone = consolidate(cluster, pool, order, allowed, left, limits=limits, spot_to_spot=spot_to_spot)
            if not gone and (limits is None or not empty.size):
                break
    return cluster.outcome(instance, None if limits is None else cluster.empty())


def consolidate(
    cluster: Cluster,
    pool: IntArray,
    order: str,
    allowed: int,
    disruption: int,
    kept: IntArray | None = None,
    limits: Limits | None = None,
    *,
    spot_to_spot: bool = False,
    policy: str = AS_POOLS,
) -> int:
    """Do one pass of consolidation of nodes that are not empty; return how many have gone.

    pool : (F,) int64. allowed : at most so many may go. disruption : at most so much more, in 1 / `ONE_TASK`. kept : nodes that
    stay. policy : of all pools, `as-pools` for that of each in `limits`.
    """
    if policy == WHEN_EMPTY:
        return 0
    cluster.make_room(1)
    nodes = np.flatnonzero(cluster.nodes.machine_type[: cluster.number] != GONE)
    if limits is not None:
        nodes = limits.may_go(cluster, UNDERUTILIZED)
    if kept is not None:
        nodes = np.setdiff1d(nodes, kept)
    chosen = alone = candidates(cluster, order, nodes)
    if limits is not None:
        chosen, alone = (each(cluster, chosen, UNDERUTILIZED) for each in (limits.within, limits.in_turn))
    # Pools that give up all that is cheaper then approve of everything.
    own = policy == AS_POOLS
    balance = Balance.of(cluster, limits, everywhere=policy == BALANCED) if own or policy == BALANCED else None
    hidden = np.empty(0, np.int64) if limits is None else limits.unsettled(cluster)
    types = cluster.nodes.machine_type[hidden]
    cluster.nodes.machine_type[hidden] = GONE
    work, catalogue = new_work(cluster), cluster.catalogue(pool)
    claims, pools = new_claims(1, cluster), int(pool[-1]) + 1
    rest = (claims, work, pools, disruption, spot_to_spot)
    search = Search(cluster.tasks, catalogue, cluster.nodes, cluster.number, *rest)
    most = min(allowed, MOST_AT_ONCE, chosen.shape[0])
    number = (
        widest_prefix(chosen, most, search) if balance is None else _widest_that_passes(chosen, most, search, balance)
    )
    if number == 0 and allowed > 0:
        chosen = alone
        if balance is None:
            number = min(first_removable(chosen, chosen.shape[0], search), 1)
        else:
            chosen, number = _first_that_passes(chosen, search, balance)
    if number:
        rented = removal(chosen, number, search)
        cluster.number = commit(chosen, number, rented, cluster.tasks, catalogue, cluster.nodes, cluster.number, work)
    cluster.nodes.machine_type[hidden] = types
    return number


def _widest_that_passes(chosen: IntArray, number: int, search: Search, balance: Balance) -> int:
    """Return what `widest_prefix` does if a prefix must pass, too."""
    low, high, best = 1, number - 1, 0
    while low <= high:
        middle = (low + high) // 2
        rented = removal(chosen, middle + 1, search)
        if rented != KEEP and balance.passes(chosen[: middle + 1], rented):
            best, low = middle + 1, middle + 1
        else:
            high = middle - 1
    return best


def _first_that_passes(chosen: IntArray, search: Search, balance: Balance) -> tuple[IntArray, int]:
    """Return the first of the nodes that can go by itself and passes, and 1; or none, and 0."""
    for m in chosen[balance.can_pass(chosen)].tolist():
        one = np.array([m])
        rented = removal(one, 1, search)
        if rented != KEEP and balance.passes(one, rented):
            return one, 1
    return chosen[:0], 0


def candidates(cluster: Cluster, order: str, nodes: IntArray) -> IntArray:
    """Return nodes in the order in which they are looked at."""
    cost = cluster.node_cost()[nodes]
    ratio = -cluster.price[cluster.nodes.machine_type[nodes]] / cost
    return nodes[np.argsort(cost if order == "node-cost" else ratio, kind="stable")]


def new_work(cluster: Cluster) -> Work:
    """List the tasks of each node, beside room for tests."""
    num_tasks, rows = cluster.tasks.place.shape[0], cluster.nodes.machine_type.shape[0]
    head, gone, size = np.empty(rows, np.int64), np.empty(rows, np.int64), np.zeros(1, np.int64)
    following, ranks, scratch, target = np.empty((4, num_tasks), np.int64)
    work = Work(head, following, gone, ranks, scratch, target, size)
    list_tasks(cluster.tasks, work)
    return work
