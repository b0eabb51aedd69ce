"""Steps to a placement: each fits when it is done, and what must stop before it starts is said."""

import numpy as np

from schedgap.instances.placement import Placement, random_pods, verify
from schedgap.instances.placement.model import ONE, devices_of, use
from schedgap.instances.placement.verify import steps
from tests.instances.placement.test_stranded import cluster
from tests.oracles.placement import optimum


def test_a_pod_starts_anew_before_it_ends():
    """Node 0 of 4 GPUs is full; one pod goes to node 1, then the new one of 2 GPUs comes."""
    found = cluster([(8, 2), (8, 1)], [(1, 1, 1000), (1, 2, 1000)], [(0, 0, 1), (1, -1, 0)])
    plan = Placement(np.array([1, 0]), np.array([1, 3]))
    assert verify(found, plan) == 0
    assert steps(found, plan) == [
        {"pod": "pod-0", "node": "node-1", "gpus": [0], "from": "node-0"},
        {"pod": "pod-1", "node": "node-0", "gpus": [0, 1]},
    ]


def test_a_swap_evicts_first():
    """Each node is full, and their pods change places: one ends before it starts."""
    found = cluster([(8, 1), (4, 1)], [(2, 1, 1000), (4, 1, 1000)], [(0, 1, 1), (1, 0, 1)])
    plan = Placement(np.array([0, 1]), np.array([1, 1]))
    assert verify(found, plan) == 0
    assert steps(found, plan) == [
        {"pod": "pod-0", "from": "node-1", "evict": True},
        {"pod": "pod-1", "node": "node-1", "gpus": [0], "from": "node-0"},
        {"pod": "pod-0", "node": "node-0", "gpus": [0]},
    ]


def test_every_step_fits_in_small_clusters():
    """Played step by step on plans of random clusters, each node holds its pods at any time."""
    played = 0
    for seed in range(40):
        found = random_pods(seed=seed, nodes=3, pods=6, running=0.8)
        rng = np.random.default_rng(seed)
        plan = Placement(found.running_node, found.running_gpus)
        node, gpus = plan.node.copy(), plan.gpus.copy()
        # Pods of a class that may move change places at random.
        for c in range(len(found.class_names)):
            alike = np.flatnonzero(found.is_running & found.movable & (found.pod2class == c))
            other = rng.permutation(alike)
            node[alike], gpus[alike] = found.running_node[other], found.running_gpus[other]
        played += play(found, Placement(node, gpus))
    assert played > 12


def play(found, plan):
    names = {found.pod_name(pod): pod for pod in range(found.num_pods)}
    places = {found.node_name(n): n for n in range(found.num_nodes)}
    node, gpus = found.running_node.copy(), found.running_gpus.copy()
    done = steps(found, plan)
    for step in done:
        pod = names[step["pod"]]
        if step.get("evict"):
            node[pod], gpus[pod] = -1, 0
            continue
        with_both = np.append(node, places[step["node"]]), np.append(gpus, sum(1 << g for g in step.get("gpus", ())))
        double = found.replace(
            pod2class=np.append(found.pod2class, found.pod2class[pod]),
            gang=np.append(found.gang, -1),
            running_node=np.append(found.running_node, -1),
            running_gpus=np.append(found.running_gpus, 0),
            movable=np.append(found.movable, True),
            pod_names=None,
        )
        used, milli = use(double, *with_both)
        assert (used <= found.capacity[found.node2type]).all()
        assert (milli <= ONE).all()
        node[pod], gpus[pod] = with_both[0][-1], with_both[1][-1]
    assert node.tolist() == plan.node.tolist()
    assert devices_of(gpus, 8).tolist() == devices_of(plan.gpus, 8).tolist()
    return len(done)


def test_least_moves_to_admit_a_job_of_four():
    """volcano#3948: three nodes of 8 GPUs with 7, 6 and 7 used by single ones, a job of 4 waits. 4 GPUs are free in all.

    2 of the node with 6 have to leave for its 4, and the others have room for one each.
    """
    used = [(0, n, 1 << g) for n, number in enumerate((7, 6, 7)) for g in range(number)]
    found = cluster([(99, 8)] * 3, [(1, 1, 1000), (1, 4, 1000)], [*used, (1, -1, 0)])
    assert [optimum(found.replace(max_moves=k)) for k in (0, 1, 2)] == [1000, 1000, 0]
