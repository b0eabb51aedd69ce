"""kube-scheduler on nodes that cluster-autoscaler adds."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import HANDLED, Cluster
from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import ScaleUp
from schedgap.heuristics.provisioning.kubernetes.kernels_scores import LEAST, MOST, RATIO, Scoring, schedule
from schedgap.heuristics.provisioning.kubernetes.state import mebibytes, role
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance

STRATEGIES = {"least-allocated": LEAST, "most-allocated": MOST, "requested-to-capacity-ratio": RATIO}
TIES = ("random", "first")
# What a container that asks for no CPU, or no memory, counts as in scores.
MISSING_MILLI_CPU, MISSING_MIB = 100, 200


@method(
    "kube-scheduler",
    family=FAMILY,
    stochastic=True,
    version=2,
    choices={"score": tuple(STRATEGIES), "ties": TIES},
    handles=HANDLED,
)
def kube_scheduler(
    instance: ProvisioningInstance,
    rng: np.random.Generator,
    score: str = "least-allocated",
    balanced: bool = True,
    ties: str = "random",
    balanced_skips_idle: bool = True,
) -> Outcome:
    """Place the tasks that run nowhere, in list order, on the node of the highest score; what runs stays where it is.

    Which nodes there are is not kube-scheduler's decision. It begins with the running machines; where tasks find no room,
    nodes are added as `cluster-autoscaler` does with its expander least-waste, and kube-scheduler goes on with the tasks
    that wait. Nodes that stay empty are given back.

    score : NodeResourcesFit over CPU and memory, whole numbers from 0 to 100. `least-allocated`, the default of clusters:
        mean of (capacity - asked) 100 / capacity. `most-allocated`: mean of asked 100 / capacity.
        `requested-to-capacity-ratio`: the same with the shape (0, 0), (100, 10), without resources of score 0, rounded.
        A task that asks for none counts as 100 thousandths of CPU, or 200 MiB, in these.
    balanced : whether NodeResourcesBalancedAllocation is added, as is default: (1 - s) 100, s the standard deviation of the
        shares of CPU and memory in use (the formula of releases up to 1.35).
    balanced_skips_idle : whether that is left out for tasks that ask for neither CPU nor memory, as since pull request 130260
        of kubernetes/kubernetes (2025).
    ties : among nodes of the highest score, `random`, or the `first`: running machines by name, then new ones by age.

    Of 100 nodes or more only some are looked at for each task, as in kube-scheduler. Other scores, all equal here, are left
    out. What comes with a node (`Running.reserved`) counts as asked for, of all that it has (`whole`). A machine that holds
    more than its capacity gives up tasks as in `karpenter`, in list order.
    """
    cluster = Cluster.of(instance, np.arange(instance.num_tasks))
    scale_up, at = ScaleUp(cluster, instance.resources, "least-waste", rng), 0
    random = rng.integers(0, 2**63, 1).astype(np.uint64)
    roles = np.array([role(instance.resources, what) for what in ("cpu", "memory")])
    missing = np.array(
        [MISSING_MILLI_CPU, mebibytes(instance.resources[roles[1]], MISSING_MIB) if roles[1] >= 0 else 0]
    )
    while (waiting := cluster.waiting).size:
        catalogue = cluster.catalogue()
        if cluster.number:
            whole, reserved = (np.ascontiguousarray(each[:, roles]) for each in cluster.now())
            asked = _asked(cluster, roles, missing) + reserved
            rest = (ties == "random", whole, reserved, balanced_skips_idle)
            scoring = Scoring(STRATEGIES[score], balanced, roles, missing, asked, *rest)
            at = schedule(waiting, cluster.tasks, catalogue, cluster.nodes, cluster.number, scoring, at, random)
        option, _, _ = scale_up.best(catalogue)
        if option is None:
            break
        cluster.add_nodes(option.machine_type, option.nodes)
    return cluster.outcome(instance)


def _asked(cluster: Cluster, roles: IntArray, missing: IntArray) -> IntArray:
    """(M, 2) int64, what the tasks of each node count as in its score."""
    asked = np.zeros((cluster.number, 2), np.int64)
    placed = np.flatnonzero(cluster.tasks.place >= 0)
    node = cluster.tasks.place[placed]
    demand = cluster.demand[cluster.type2family[cluster.nodes.machine_type[node]], cluster.tasks.task2class[placed]]
    for i, r in enumerate(roles.tolist()):
        if r >= 0:
            np.add.at(asked[:, i], node, np.where(demand[:, r] > 0, demand[:, r], missing[i]))
    return asked
