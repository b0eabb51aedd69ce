"""cluster-autoscaler: kubernetes/autoscaler, cluster-autoscaler-release-1.37, commit a16f0ae (2026).

How cluster-autoscaler chooses nodes to add: an estimate for each group, and an expander among them.

kubernetes/autoscaler, cluster-autoscaler-release-1.37, commit a16f0ae: estimator, expander.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import tanh
from typing import Any

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import HANDLED, Cluster, in_order
from schedgap.heuristics.provisioning.kubernetes.karpenter import new_claims, new_work
from schedgap.heuristics.provisioning.kubernetes.kernels_estimate import estimate, fill
from schedgap.heuristics.provisioning.kubernetes.kernels_removal import DELETE, Search, commit, first_removable
from schedgap.heuristics.provisioning.kubernetes.state import GONE, Catalogue, mebibytes, role
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.running import GOING, NO_SCALE_DOWN
from schedgap.instances.units import DOLLAR

# --max-nodes-per-scaleup.
MOST_NODES = 1000
# What the price model of Google's provider asks for a core and a GiB an hour, in micro-dollars; no other is in wide use.
CORE_PRICE, GIB_PRICE = 33_174, 4_446
# Preferred cores of a node (1 at first) in a cluster of more nodes than these.
PREFERRED = ((2, 2), (6, 4), (20, 8), (60, 16), (200, 32))
GPU_UNFITNESS = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """So many nodes of a type, for so many tasks, which ask for so much CPU and memory together."""

    machine_type: int
    nodes: int
    tasks: int
    asked: tuple[int, int]


class ScaleUp:
    """The node groups, one for each machine type that can be had; capacities are what the instance has."""

    def __init__(self, cluster: Cluster, resources: Sequence[str], expander: str, rng: np.random.Generator) -> None:
        """Look at a cluster, whose waiting tasks change."""
        self.cluster, self.expander, self.rng = cluster, expander, rng
        self.roles = tuple(role(resources, what) for what in ("cpu", "memory", "gpu"))
        memory = self.roles[1]
        self.gib = mebibytes(resources[memory], 1024) if memory >= 0 else 0
        self._orders: dict[int, IntArray] = {}

    def best(self, catalogue: Catalogue) -> tuple[Option | None, IntArray, IntArray]:
        """Return the option that the expander chooses, the tasks that it is for, and the node, from 0, of each."""
        cluster = self.cluster
        waiting = cluster.waiting
        classes = cluster.tasks.task2class[waiting]
        listed = waiting[np.argsort(classes, kind="stable")]
        counts = np.bincount(classes, minlength=cluster.demand.shape[1])
        start = np.concatenate(([0], np.cumsum(counts)))
        where, taken = np.empty(waiting.shape[0], np.int64), np.empty_like(counts)
        options = [
            Option(k, number, int(taken.sum()), self._asked(k, taken))
            for k in np.flatnonzero(cluster.stock > 0).tolist()
            if (number := self._estimate(k, counts, start, catalogue, where, taken))
        ]
        if not options:
            return None, waiting[:0], where[:0]
        option = self._chosen(options)
        self._estimate(option.machine_type, counts, start, catalogue, where, taken)
        within = np.arange(listed.shape[0]) - np.repeat(start[:-1], counts)
        used = within < np.repeat(taken, counts)
        return option, listed[used], where[used]

    def _estimate(
        self, k: int, counts: IntArray, start: IntArray, catalogue: Catalogue, where: IntArray, taken: IntArray
    ) -> int:
        order = self._order(k)
        order = order[counts[order] > 0]
        limit = min(MOST_NODES, int(self.cluster.stock[k]), int(counts[order].sum()))
        resources = self.cluster.capacity.shape[1]
        left, most = np.empty((limit, resources), np.int64), np.empty(resources, np.int64)
        here = np.empty(limit, np.int64)
        return estimate(k, order, start, limit, catalogue, left, most, here, where, taken)

    def _order(self, k: int) -> IntArray:
        """Return the classes that fit a type, by falling sum of the shares of its CPU and memory; ties in file order."""
        if k not in self._orders:
            demand, capacity = self.cluster.demand[self.cluster.type2family[k]], self.cluster.capacity[k]
            shares = [demand[:, r] / capacity[r] for r in self.roles[:2] if r >= 0 and capacity[r] > 0]
            order = np.argsort(-sum(shares, np.zeros(demand.shape[0])), kind="stable")
            fits = (demand[:, 0] >= 0) & (demand <= capacity).all(axis=1)
            self._orders[k] = order[fits[order]]
        return self._orders[k]

    def _asked(self, k: int, taken: IntArray) -> tuple[int, int]:
        demand = self.cluster.demand[self.cluster.type2family[k]]
        cpu, memory = (int(taken @ np.maximum(demand[:, r], 0)) if r >= 0 else 0 for r in self.roles[:2])
        return cpu, memory

    def _chosen(self, options: list[Option]) -> Option:
        scores: dict[str, Callable[[Option], Any]] = {
            "least-waste": self._waste,
            "most-pods": lambda option: -option.tasks,
            "least-nodes": lambda option: option.nodes,
            "price": self._price,
            "random": lambda _: 0,
        }
        score = [scores[self.expander](option) for option in options]
        least = min(score)
        best = [option for option, value in zip(options, score, strict=True) if value == least]
        return best[int(self.rng.integers(len(best)))]

    def _waste(self, option: Option) -> Fraction:
        """Share of CPU plus share of memory that the tasks leave free."""
        capacity, waste = self.cluster.capacity[option.machine_type], Fraction(0)
        for r, asked in zip(self.roles[:2], option.asked, strict=True):
            if r >= 0 and capacity[r]:
                waste += 1 - Fraction(asked, option.nodes * int(capacity[r]))
        return waste

    def _price(self, option: Option) -> float:
        """Price of the nodes over that of the tasks, both steadied, times how unfit the size of a node is."""
        cpu, _, gpu = self.roles
        capacity = self.cluster.capacity[option.machine_type]
        steady = (0.5 * CORE_PRICE + 500 / 1024 * GIB_PRICE) / DOLLAR
        tasks = option.asked[0] / 1000 * CORE_PRICE + (option.asked[1] / self.gib * GIB_PRICE if self.gib else 0.0)
        nodes = int(self.cluster.price[option.machine_type]) * option.nodes
        score = (nodes / DOLLAR + steady) / (tasks / DOLLAR + steady)
        if gpu >= 0 and capacity[gpu]:
            return GPU_UNFITNESS * score
        size = int(self.cluster.num_nodes)
        preferred = max([1, *(cores for least, cores in PREFERRED if size > least)])
        cores = capacity[cpu] / 1000 if cpu >= 0 and capacity[cpu] else preferred
        unfit = max(preferred / cores, cores / preferred)
        return float(((unfit - 1) * (1 - tanh((option.nodes - 1) / 15)) + 1) * score)


EXPANDERS = ("least-waste", "most-pods", "least-nodes", "price", "random")


@method(
    "cluster-autoscaler",
    family=FAMILY,
    stochastic=True,
    choices={"expander": EXPANDERS},
    handles=HANDLED,
)
def cluster_autoscaler(
    instance: ProvisioningInstance,
    rng: np.random.Generator,
    expander: str = "least-waste",
    scale_down: bool = True,
    utilisation_percent: int = 50,
    ignore_daemonsets: bool = False,
) -> Outcome:
    """Add nodes of one group a loop for the tasks that wait, then drop nodes that are little used, as cluster-autoscaler.

    Each machine type is a node group; the stock of a type is the maximum size of its group. A loop: waiting tasks, in list
    order, go to nodes with room, round robin. For each group that can grow, an estimate packs those that still wait (see
    `kernels_estimate.estimate`) on at most 1,000 new nodes; the expander chooses one group; its nodes are added, with the
    tasks of the estimate (in a cluster kube-scheduler has the last word: see `kube-scheduler`).

    expander : of the estimates, `least-waste`: the least share of CPU plus share of memory left free, `most-pods`, the most
        tasks, `least-nodes`, `price`: price of the nodes over that of the tasks by Google's list, times how unfit the size
        of a node is for a cluster of this size; `random`. Ties at random.
    scale_down : afterwards, nodes whose CPU and memory are used to at most `utilisation_percent` (with a GPU: of which the
        GPU is) go one by one if their tasks fit on other nodes, the first with room by name and then by age; nothing is
        replaced by a smaller machine. Repeated while a node goes. With `max_disruption`, a node stays that would disrupt too
        much.
        Used is also what comes with a node (`Running.reserved`), of all that it has (`whole`): so an empty node may stay,
        too, and is paid. A node marked `scale-down-disabled`, or that goes already, stays.
    ignore_daemonsets : what comes with a node counts neither as used nor as there (--ignore-daemonsets-utilization and
        --ignore-mirror-pods-utilization, which are off by default).

    The capacity is that of the instance, in scores also, where cluster-autoscaler takes a node's whole capacity in
    `least-waste`. Without `scale_down`, machines that run without tasks are given back in any case.
    """
    cluster = Cluster.of(instance, np.arange(instance.num_tasks))
    grow(cluster, ScaleUp(cluster, instance.resources, expander, rng))
    stay = None
    if scale_down and not cluster.waiting.size:
        gone = True
        while gone:
            little_used = is_little_used(cluster, instance.resources, utilisation_percent, ignore_daemonsets)
            little_used[: cluster.num_running] &= ~_stays(instance)
            empty = cluster.empty()
            cluster.remove(cluster.affordable(empty[little_used[empty]], instance.max_disruption))
            little_used[empty] = False
            gone = shrink(cluster, np.flatnonzero(little_used), instance.max_disruption)
        stay = cluster.empty()
    return cluster.outcome(instance, stay)


def _stays(instance: ProvisioningInstance) -> BoolArray:
    """(E,) bool, whether a running machine is marked to stay, in the order of nodes."""
    running = instance.running
    if running is None or running.disruption is None:
        return np.zeros(0 if running is None else running.size, np.bool_)
    stays: BoolArray = running.disruption.marks[in_order(running)] & (NO_SCALE_DOWN | GOING) != 0
    return stays


def grow(cluster: Cluster, scale_up: ScaleUp) -> None:
    """Add nodes until no task waits, or no group can grow for any."""
    tasks, at = cluster.tasks, 0
    while (waiting := cluster.waiting).size:
        catalogue = cluster.catalogue()
        if cluster.number:
            at = fill(waiting, tasks.task2class, catalogue, cluster.nodes, cluster.number, tasks.place, at)
        option, taken, where = scale_up.best(catalogue)
        if option is None:
            break
        first, k = cluster.number, option.machine_type
        cluster.add_nodes(k, option.nodes)
        tasks.place[taken] = first + where
        classes = tasks.task2class[taken]
        np.subtract.at(cluster.nodes.left, first + where, cluster.demand[cluster.type2family[k], classes])
        slot = cluster.slot[classes]
        np.add.at(cluster.nodes.held, (first + where[slot >= 0], slot[slot >= 0]), 1)


def shrink(
    cluster: Cluster,
    chosen: IntArray,
    max_disruption: int | None = None,
    admitted: Callable[[IntArray], IntArray] = lambda rows: rows,
) -> bool:
    """Drop those of some nodes, in turn, whose tasks fit on others; return whether one has gone.

    max_disruption : so much may be disrupted in all. admitted : which of the nodes may still go.
    """
    work, catalogue, claims = new_work(cluster), cluster.catalogue(), new_claims(1, cluster)
    gone = False
    while (chosen := admitted(chosen)).size:
        rest = (cluster.tasks, catalogue, cluster.nodes, cluster.number)
        search = Search(*rest, claims, work, 0, cluster.disruption_left(max_disruption), False)
        place = first_removable(chosen, chosen.shape[0], search)
        if place == 0:
            break
        commit(chosen, 1, DELETE, *rest, work)
        chosen, gone = chosen[place:], True
    return gone


def is_little_used(
    cluster: Cluster, resources: Sequence[str], utilisation_percent: int, ignore_daemonsets: bool = False
) -> BoolArray:
    """(M,) bool. ignore_daemonsets : what comes with a node counts neither as used nor as there."""
    types = cluster.nodes.machine_type[: cluster.number]
    whole, reserved = cluster.now()
    used = cluster.capacity[types] - cluster.nodes.left[: cluster.number]
    used, capacity = (used, whole - reserved) if ignore_daemonsets else (used + reserved, whole)
    little = used * 100 <= capacity * utilisation_percent
    cpu, memory, gpu = (role(resources, what) for what in ("cpu", "memory", "gpu"))
    plain = np.all([little[:, r] for r in (cpu, memory) if r >= 0] or [np.ones(types.shape[0], np.bool_)], axis=0)
    if gpu >= 0:
        plain = np.where(capacity[:, gpu] > 0, little[:, gpu], plain)
    little_used: BoolArray = plain & (types != GONE)
    return little_used
