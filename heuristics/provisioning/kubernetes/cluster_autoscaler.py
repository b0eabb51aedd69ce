"""cluster-autoscaler: kubernetes/autoscaler, cluster-autoscaler-release-1.37, commit a16f0ae (2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import HANDLED, Cluster, in_order
from schedgap.heuristics.provisioning.kubernetes.consolidation import new_work
from schedgap.heuristics.provisioning.kubernetes.karpenter import new_claims
from schedgap.heuristics.provisioning.kubernetes.kernels_estimate import fill
from schedgap.heuristics.provisioning.kubernetes.kernels_removal import DELETE, Search, commit, first_removable
from schedgap.heuristics.provisioning.kubernetes.roles import role
from schedgap.heuristics.provisioning.kubernetes.scale_up import ScaleUp
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.disruption.model import GOING, NO_SCALE_DOWN
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import BoolArray, IntArray

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
        replaced by a smaller machine. Repeated while a node goes. With `max_moves`, a node stays that would move too many.
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
            cluster.remove(empty[little_used[empty]])
            little_used[empty] = False
            gone = shrink(cluster, np.flatnonzero(little_used), instance.max_moves)
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


def shrink(cluster: Cluster, chosen: IntArray, max_moves: int | None = None) -> bool:
    """Drop those of some nodes, in turn, whose tasks fit on others; return whether one has gone.

    max_moves : so many tasks may be elsewhere than where they ran at first.
    """
    work, catalogue, claims = new_work(cluster), cluster.catalogue(), new_claims(1, cluster)
    gone = False
    while chosen.size:
        rest = (cluster.tasks, catalogue, cluster.nodes, cluster.number)
        search = Search(*rest, claims, work, 0, cluster.moves_left(max_moves), False)
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
