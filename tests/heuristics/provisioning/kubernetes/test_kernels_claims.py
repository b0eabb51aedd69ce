"""The compiled batch against Karpenter's rule in plain Python, with sets of types and a sort before every pod."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.karpenter import new_claims, place_waiting, queue_of
from schedgap.heuristics.provisioning.kubernetes.kernels_claims import launch, provision


def plain(instance, cluster, pool):
    """Machines as (type, tasks), in the order in which they are tried."""
    demand, capacity = instance.demand, instance.capacity
    task2class = instance.task_classes()

    def needs(tasks, k):
        rows = demand[instance.type2family[k], task2class[tasks]]
        return None if (rows < 0).any() else rows.sum(axis=0)

    def holding(tasks, types):
        return [k for k in types if (total := needs(tasks, k)) is not None and (total <= capacity[k]).all()]

    nodes = [(k, np.flatnonzero(cluster.tasks.place == m).tolist()) for m, k in enumerate(cluster.nodes.machine_type)]
    claims = []
    for t in queue_of(instance).tolist():
        if cluster.tasks.place[t] >= 0:
            continue
        for k, tasks in nodes:
            if holding([*tasks, t], [k]):
                tasks.append(t)
                break
        else:
            claims.sort(key=lambda claim: len(claim[0]))
            for tasks, types in claims:
                if held := holding([*tasks, t], types):
                    tasks.append(t)
                    types[:] = held
                    break
            else:
                pools = [np.flatnonzero(pool[instance.type2family] == p).tolist() for p in range(pool[-1] + 1)]
                claims.append(([t], next(held for types in pools if (held := holding([t], types)))))
    launched = [(min(types, key=lambda k: (instance.price[k], k)), sorted(tasks)) for tasks, types in claims]
    return [(k, sorted(tasks)) for k, tasks in nodes], sorted(launched, key=lambda machine: machine[1])


@pytest.mark.parametrize("pools", ["one", "family"])
@pytest.mark.parametrize("seed", range(60))
def test_batch_is_that_of_the_plain_rule(drawn, seed, pools):
    instance = drawn(seed)
    cluster = Cluster.of(instance, queue_of(instance))
    pool = np.arange(2) if pools == "family" else np.zeros(2, np.int64)
    nodes, launched = plain(instance, cluster, pool)
    place_waiting(cluster, pool)
    types, place = cluster.nodes.machine_type, cluster.tasks.place
    machines = [(types[m], np.flatnonzero(place == m).tolist()) for m in range(cluster.number)]
    assert machines[: len(nodes)] == nodes
    assert sorted(machines[len(nodes) :], key=lambda machine: machine[1]) == launched


def test_launch_takes_the_cheapest_type_that_is_left(make):
    instance = make(
        {"dear": (3, [4]), "cheap": (2, [4]), "small": (1, [1])}, [([4], 3)], resources=("cpu",), stock=[1, 1, 9]
    )
    cluster = Cluster.of(instance, queue_of(instance))
    catalogue, claims = cluster.catalogue(), new_claims(3, cluster)
    assert provision(cluster.tasks, catalogue, cluster.nodes, 0, claims) == 3
    cluster.make_room(3)
    claim2node = np.empty(3, np.int64)
    assert launch(catalogue, claims, 3, cluster.nodes, 0, claim2node) == 2
    assert claim2node.tolist() == [0, 1, -1]
    assert cluster.nodes.machine_type[:2].tolist() == [1, 0]
    assert cluster.stock.tolist() == [0, 0, 9]
