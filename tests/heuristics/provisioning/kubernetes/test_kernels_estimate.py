"""The estimator's and the expanders' own tests (kubernetes/autoscaler), and filling nodes round robin."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import cluster_autoscaler
from schedgap.heuristics.provisioning.kubernetes.kernels_estimate import estimate, fill
from schedgap.instances.provisioning import verify


def estimated(instance, order, limit=1000):
    """The number of nodes of the first type, the tasks of each class taken, and their nodes."""
    cluster = Cluster.of(instance, np.arange(instance.num_tasks))
    start = np.concatenate(([0], np.cumsum(instance.counts)))
    where, taken = np.full(instance.num_tasks, -1), np.empty(instance.num_classes, np.int64)
    left = np.empty((limit, len(instance.resources)), np.int64)
    order, here = np.array(order), np.empty(limit, np.int64)
    number = estimate(0, order, start, limit, cluster.catalogue(), left, np.empty_like(left[0]), here, where, taken)
    return number, taken.tolist(), where.tolist()


@pytest.mark.parametrize(
    ("task", "count", "limit", "nodes", "pods"),
    [
        # estimator/binpacking_estimator_test.go, TestBinpackingEstimate, on 1000m, 2000 bytes and 10 pods a node.
        ([350, 1000, 1000, 0], 10, 1000, 5, 10),
        ([1, 1, 1000, 0], 20, 1000, 2, 20),
        ([200, 200, 1000, 1000], 8, 1000, 8, 8),
        ([500, 500, 1000, 0], 20, 5, 5, 10),
    ],
)
def test_estimates_of_the_estimators_own_tests(make, task, count, limit, nodes, pods):
    resources = ("cpu", "memory_bytes", "pods", "host_port")
    instance = make({"t": (1, [1000, 2000, 10_000, 1000])}, [(task, count)], resources=resources)
    number, taken, _ = estimated(instance, [0], limit)
    assert (number, taken) == (nodes, [pods])


def test_round_robin_then_only_the_last_node(make):
    # 6 | 6 | 6 open three nodes of 10. Then 2: from behind the last: nodes 0, 1, 2, and 0, 1, 2 again; then new ones.
    instance = make({"t": (1, [10])}, [([6], 3), ([2], 8)], resources=("cpu",))
    assert estimated(instance, [0, 1]) == (4, [3, 8], [0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 3])


def test_classes_after_the_limit_still_fill_nodes(make):
    instance = make({"t": (1, [10])}, [([6], 3), ([5], 1), ([4], 3)], resources=("cpu",))
    # Two nodes with 6 each, the third does not open; 5 finds no room, 4 does twice.
    assert estimated(instance, [0, 1, 2], limit=2) == (2, [2, 0, 2], [0, 1, -1, -1, 0, 1, -1])


@pytest.mark.parametrize("seed", range(20))
def test_against_the_rule_in_plain_python(make, seed):
    rng = np.random.default_rng(seed)
    tasks = [(rng.integers(1, 6, 2).tolist(), int(rng.integers(1, 7))) for _ in range(5)]
    instance = make({"t": (1, [7, 8])}, tasks, resources=("cpu", "ram_mib"))
    left, where, at = [], [], 0
    for demand, count in tasks:
        searching = True
        for _ in range(count):
            turn = [(at + j) % len(left) for j in range(len(left))] if searching else [len(left) - 1] if left else []
            m = next((m for m in turn if (left[m] >= demand).all()), None)
            if m is None and searching:
                searching, m = False, len(left) - 1 if left and (left[-1] >= demand).all() else None
            elif searching:
                at = (m + 1) % len(left)
            if m is None:
                left.append(np.array([7, 8]))
                m = len(left) - 1
            left[m] = left[m] - demand
            where.append(m)
    assert estimated(instance, range(5)) == (len(left), [count for _, count in tasks], where)


def test_fill_goes_round(make):
    nodes = [("t", [0, 0]), ("t", [1, 0]), ("t", [0, 0])]
    instance = make({"t": (1, [10])}, [([8], 1), ([3], 8)], nodes, resources=("cpu",))
    cluster = Cluster.of(instance, np.arange(9))
    place = cluster.tasks.place
    at = fill(cluster.waiting, cluster.tasks.task2class, cluster.catalogue(), cluster.nodes, 3, place, 2)
    # 3 fits on nodes 0 and 2, three times each; two tasks wait.
    assert place.tolist() == [1, 2, 0, 2, 0, 2, 0, -1, -1]
    assert at == 1


def test_tasks_that_share_no_node_are_given_one_each(make):
    """Three of a class kept apart and four others of 1 on nodes of 4: three nodes. Others first fill one of two nodes."""
    instance = make({"t": (1, [4])}, [([1], 3), ([1], 4)], resources=("cpu",), per_machine=[1, -1])
    number, taken, where = estimated(instance, [0, 1])
    assert (number, taken) == (3, [3, 4])
    assert sorted(where[:3]) == [0, 1, 2]
    assert estimated(instance, [1, 0], limit=2)[:2] == (2, [1, 4])
    solution = cluster_autoscaler(instance, np.random.default_rng(1)).solution
    assert verify(instance, solution) == 3
