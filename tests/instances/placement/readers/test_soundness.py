"""What a scheduler did is a placement of what is read: no constraint of the instance is stricter than the cluster's."""

from random import Random

import numpy as np
import pytest

from schedgap.instances.placement import Placement, stranded, verify
from schedgap.instances.placement.model import devices_of
from schedgap.instances.placement.stranded import room_of
from tests.instances.provisioning.readers.kubernetes import conftest as builders
from tests.instances.provisioning.readers.kubernetes.test_soundness import admits, daemons, draw_node, draw_pod

GPU = "nvidia.com/gpu"
GPUS = 3


def scheduled(random):
    """Nodes and pods of a plain scheduler, which gives whole GPUs, too."""
    nodes = [draw_node(builders, random, number) for number in range(5)]
    for node in nodes:
        node["status"]["allocatable"][GPU] = str(GPUS)
    there = {node["metadata"]["name"]: [] for node in nodes}
    pods = list(daemons(builders, random, nodes))
    for pod in pods:
        there[pod["spec"]["nodeName"]].append(pod)
    for number in range(30):
        pod = draw_pod(builders, random, number)
        pod["spec"]["containers"][0]["resources"]["requests"][GPU] = str(random.choice((0, 0, 1, 2)))
        for node in random.sample(nodes, 5):
            held = there[node["metadata"]["name"]]
            if admits(node, held, pod) and sum(map(gpus_of, (*held, pod))) <= GPUS:
                pod["spec"]["nodeName"] = node["metadata"]["name"]
                held.append(pod)
                pods.append(pod)
                break
    return nodes, pods


def gpus_of(pod):
    return int(pod["spec"]["containers"][0]["resources"]["requests"].get(GPU, 0))


@pytest.mark.parametrize("seed", range(40))
def test_a_schedule_is_a_placement(read, seed):
    """Some pods wait again; all of them fit where they were, and arithmetic does not say that fewer do."""
    random = Random(seed)
    nodes, pods = scheduled(random)
    was = {}
    for pod in pods:
        if pod["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet" and random.random() < 0.4:
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            was[name] = pod["spec"].pop("nodeName")
            pod["status"] = {"phase": "Pending"}
    found = read(*nodes, *pods)
    node, gpus = found.running_node.copy(), found.running_gpus.copy()
    free = np.ones((found.num_nodes, GPUS), bool)
    for pod in np.flatnonzero(found.is_running).tolist():
        free[node[pod]] &= ~devices_of(gpus[pod : pod + 1], GPUS)[0]
    for pod in np.flatnonzero(~found.is_running).tolist():
        node[pod] = found.node_names.index(was[found.pod_names[pod]])
        chosen = np.flatnonzero(free[node[pod]])[: found.gpus[found.pod2class[pod]]]
        gpus[pod] = sum(1 << g for g in chosen.tolist())
        free[node[pod], chosen] = False
    assert verify(found, Placement(node, gpus)) == 0
    assert len(was) == (~found.is_running).sum()
    now, tied = (room_of(found, pods) for pods in (found.is_running, found.is_running & ~found.movable))
    asked = np.bincount(found.pod2class[~found.is_running], minlength=len(found.class_names))
    for c in np.flatnonzero(asked).tolist():
        assert stranded.at_most(found, now, tied, c) >= stranded.fitting(found, now, c).sum() > 0
        assert stranded.at_most(found, now, tied, c) >= asked[c]
