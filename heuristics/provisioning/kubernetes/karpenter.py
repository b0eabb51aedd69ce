"""Karpenter's provisioning: kubernetes-sigs/karpenter, pkg/controllers/provisioning, commit 2266468 (August 2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import HANDLED, Cluster, sizes_of
from schedgap.heuristics.provisioning.kubernetes.kernels_claims import launch, provision
from schedgap.heuristics.provisioning.kubernetes.roles import role
from schedgap.heuristics.provisioning.kubernetes.state import Claims
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray

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
