"""What a scheduler did is a solution of what is read: no constraint of the instance is stricter than the cluster's."""

from random import Random

import numpy as np
import pytest

from schedgap.instances.provisioning import Provisioning, verify

ZONE = "topology.kubernetes.io/zone"
PRICES = "name,cpu,memory_gib,price,spot_price,pods\n" + "".join(
    f"t{n},{n},{4 * n},{n},0.{n},{8 * n}\n" for n in (2, 4, 8)
)


def draw_pod(k8s, random, number):
    """A pod of one of eight owners, whose constraints are those of the owner."""
    owner = Random(f"{number % 8} {random.randrange(3)}")
    name = f"o{number % 8}"
    size = k8s.requests(f"{owner.randrange(20) * 50}m", owner.choice(["100M", "256Mi", "1Gi", "1500Ki", "0"]))
    spec = {}
    match owner.randrange(8):
        case 0:
            spec["affinity"] = k8s.apart({"app": name})
        case 1:
            spec["affinity"] = k8s.apart({"group": str(number % 2)})
        case 2:
            spec["nodeSelector"] = {ZONE: owner.choice(["z0", "z1"])}
        case 3:
            spec["affinity"] = k8s.near(("disk", owner.choice(["In", "NotIn"]), ["ssd"]))
        case 4:
            spec["tolerations"] = [{"key": "k", "operator": "Exists"}]
    containers = [{"name": "c", "resources": size}]
    if owner.random() < 0.2:
        containers[0]["ports"] = [{"hostPort": owner.randrange(2) + 80}]
    labels = {"app": name, "group": str(number % 2)}
    return k8s.pod(
        f"{name}-{number}", None, ("StatefulSet", f"{name}-{owner.random()}"), containers, labels=labels, **spec
    )


def draw_node(k8s, random, number):
    size = random.choice((2, 4, 8))
    labels = {ZONE: f"z{number % 2}"} | ({"disk": "ssd"} if random.random() < 0.4 else {})
    labels |= {"karpenter.sh/capacity-type": random.choice(["spot", "on-demand"])}
    taints = [{"key": "k", "effect": "NoSchedule"}] if random.random() < 0.3 else []
    memory = f"{size * 4 * 2**20 - random.randrange(900)}Ki"
    return k8s.node(
        f"n{number}", f"t{size}", f"{size * 1000 - 80}m", memory, str(random.randrange(3, 8 * size)), labels, taints
    )


def daemons(k8s, random, nodes):
    """Pods of two DaemonSets, on the nodes that admit them, save that some are not there yet."""
    asked = ({"nodeSelector": {"disk": "ssd"}}, {"tolerations": [{"operator": "Exists"}]})
    for number, spec in enumerate(asked):
        late = random.random() < 0.3
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"]["labels"]
            admits = not node["spec"]["taints"] if number == 0 else True
            admits &= number == 1 or labels.get("disk") == "ssd"
            if admits and not (late and random.random() < 0.5):
                size = k8s.requests(f"{50 + 50 * number}m", "64Mi")
                yield k8s.pod(f"d{number}-{name}", name, ("DaemonSet", f"d{number}"), (size,), **spec)


def units(text):
    for suffix, size in (("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30), ("M", 10**6), ("m", 1)):
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * size
    return int(text)


def admits(node, there, pod):
    """Whether a plain scheduler puts the pod on the node, which holds some already."""
    asked = [each["spec"]["containers"][0] for each in (*there, pod)]
    room = node["status"]["allocatable"]
    for resource, limit in (("cpu", units(room["cpu"])), ("memory", units(room["memory"]))):
        if sum(units(each["resources"]["requests"][resource]) for each in asked) > limit:
            return False
    ports = [port["hostPort"] for each in asked for port in each.get("ports", ())]
    labels, spec = node["metadata"]["labels"], pod["spec"]
    ok = len(asked) <= int(room["pods"]) and len(set(ports)) == len(ports)
    ok &= all(labels.get(key) == value for key, value in spec.get("nodeSelector", {}).items())
    ok &= not node["spec"]["taints"] or "tolerations" in spec
    for terms in spec.get("affinity", {}).get("nodeAffinity", {}).values():
        each = terms["nodeSelectorTerms"][0]["matchExpressions"][0]
        ok &= (labels.get(each["key"]) in each["values"]) == (each["operator"] == "In")
    return (
        ok
        and not any(excludes(a, b) for a, b in ((pod, each) for each in there))
        and not any(excludes(a, pod) for a in there)
    )


def excludes(pod, other):
    terms = pod["spec"].get("affinity", {}).get("podAntiAffinity", {}).values()
    labels = other["metadata"]["labels"].items()
    return any(term["labelSelector"]["matchLabels"].items() <= labels for given in terms for term in given)


@pytest.mark.parametrize("seed", range(60))
def test_a_schedule_is_a_solution(read, k8s, seed):
    random = Random(seed)
    nodes = [draw_node(k8s, random, number) for number in range(6)]
    there = {node["metadata"]["name"]: [] for node in nodes}
    pods = list(daemons(k8s, random, nodes))
    for pod in pods:
        there[pod["spec"]["nodeName"]].append(pod)
    for number in range(40):
        pod = draw_pod(k8s, random, number)
        chosen = next((n for n in random.sample(nodes, 6) if admits(n, there[n["metadata"]["name"]], pod)), None)
        if chosen is not None:
            pod["spec"]["nodeName"] = chosen["metadata"]["name"]
            there[chosen["metadata"]["name"]].append(pod)
            pods.append(pod)
    for parameters in ({}, {"zones": "ignore"}, {"capacity_types": "admitted"}):
        cluster = read([*nodes, *pods], PRICES, **parameters)
        running = cluster.running
        content = running.contents(cluster.num_classes)
        used = content.sum(axis=1) > 0
        solution = Provisioning.from_machines(running.machine_type[used], content[used])
        assert verify(cluster, solution) == cluster.price[running.machine_type[used]].sum()
        assert running.placed(cluster.num_classes).tolist() == cluster.counts.tolist()
        assert all(
            can_be_rented(cluster, k) for k in set(running.machine_type.tolist()) if is_firm(cluster, k, parameters)
        )


def is_firm(cluster, k, parameters):
    return "spot" not in cluster.type_names[k] or "capacity_types" in parameters


def can_be_rented(cluster, k):
    """Whether a machine that is no smaller, dearer or choosier can be rented anew."""
    free = cluster.stock < 0 if cluster.stock is not None else np.ones(cluster.num_types, bool)
    may = cluster.demand[:, :, 0] >= 0
    wide = (may[cluster.type2family] >= may[cluster.type2family[k]]).all(axis=1)
    large = (cluster.capacity >= cluster.capacity[k]).all(axis=1)
    return bool((free & wide & large & (cluster.price <= cluster.price[k])).any())
