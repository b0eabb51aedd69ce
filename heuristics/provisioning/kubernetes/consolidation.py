"""Karpenter's consolidation: kubernetes-sigs/karpenter, pkg/controllers/disruption, commit 2266468 (August 2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import HANDLED, Cluster
from schedgap.heuristics.provisioning.kubernetes.karpenter import (
    POOLS,
    new_claims,
    place_waiting,
    pools_of,
    queue_of,
)
from schedgap.heuristics.provisioning.kubernetes.kernels_removal import (
    Search,
    Work,
    commit,
    first_removable,
    list_tasks,
    removal,
    widest_prefix,
)
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
    choices={"order": ORDERS, "pools": POOLS},
    handles=HANDLED,
)
def karpenter_consolidation(
    instance: ProvisioningInstance,
    order: str = "savings-ratio",
    budget_percent: int = 100,
    passes: int = 10_000,
    pools: str = "one",
) -> Outcome:
    """Place what waits as `karpenter` does, then give up machines pass by pass until a pass changes nothing.

    A pass: machines without tasks go. Then multi-node: the machines in order, at most 101 and at most the budget; a binary
    search for a prefix of at least two that can go together. If there is none, single-node: the first in order that can
    go. Machines can go if their tasks, in Karpenter's queue order, find room on the others, by name and then new ones by
    age; or on those and one new machine of the cheapest type that can be had, which must cost less than all that goes, and
    in multi-node also less than the cheapest one that goes of a type that could be the new machine.

    order : `savings-ratio`, price / (1 + tasks) falling; or `node-cost`, tasks rising, as releases before 2026 did. Ties,
        which Karpenter leaves open, in the order of the machines.
    budget_percent : of the machines, rounded up, so many may go in one pass (the disruption budget of a NodePool).
    passes : at most so many.

    With `max_moves`, what would move more tasks than are left is not done. Every machine may be disrupted, new ones too,
    once it is there; prices are certain, so that the worst launch price of a type is its price. O(M) tests a pass.
    """
    cluster = Cluster.of(instance, queue_of(instance))
    pool = pools_of(cluster, pools)
    place_waiting(cluster, pool)
    if not cluster.waiting.size:
        for _ in range(passes):
            cluster.remove_empty()
            allowed = -(-cluster.num_nodes * budget_percent // 100)
            if not consolidate(cluster, pool, order, allowed, cluster.moves_left(instance.max_moves)):
                break
    return cluster.outcome(instance)


def consolidate(
    cluster: Cluster, pool: IntArray, order: str, allowed: int, moves: int, kept: IntArray | None = None
) -> int:
    """Do one pass of consolidation of nodes that are not empty; return how many have gone.

    pool : (F,) int64. allowed : at most so many may go. moves : so many tasks may leave their home. kept : nodes that stay.
    """
    cluster.make_room(1)
    chosen = candidates(cluster, order, kept)
    work, catalogue = new_work(cluster), cluster.catalogue(pool)
    claims, pools = new_claims(1, cluster), int(pool[-1]) + 1
    search = Search(cluster.tasks, catalogue, cluster.nodes, cluster.number, claims, work, pools, moves)
    number = widest_prefix(chosen, min(allowed, MOST_AT_ONCE, chosen.shape[0]), search)
    if number == 0 and allowed > 0:
        number = min(first_removable(chosen, chosen.shape[0], search), 1)
    if number == 0:
        return 0
    rented = removal(chosen, number, search)
    cluster.number = commit(chosen, number, rented, cluster.tasks, catalogue, cluster.nodes, cluster.number, work)
    return number


def candidates(cluster: Cluster, order: str, kept: IntArray | None) -> IntArray:
    """Return the nodes that may go, in the order in which they are looked at."""
    nodes = np.flatnonzero(cluster.nodes.machine_type[: cluster.number] != GONE)
    if kept is not None:
        nodes = np.setdiff1d(nodes, kept)
    cost = 1 + np.bincount(cluster.tasks.place[cluster.tasks.place >= 0], minlength=cluster.number)[nodes]
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
