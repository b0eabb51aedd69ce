"""What is added to a cluster, and no pod depends on, never raises the floor: exact optima of both instances, at random."""

from __future__ import annotations

import json
from random import Random

import pytest

from schedgap.instances.errors import InstanceError

PRICES = "name,price,cpu,memory_gib\ns,1,2,4\nb,1.8,4,8\nh,3.5,8,16\n"
SIZES = {"s": ("2", "4Gi"), "b": ("4", "8Gi"), "h": ("8", "16Gi")}
GROUP, POOL, ZONE = "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "topology.kubernetes.io/zone"
CONTROL = "node-role.kubernetes.io/control-plane"
TAINT = {"key": "team", "value": "x", "effect": "NoSchedule"}
TOLERANT = [{"operator": "Exists"}]


def a_node(k8s, random, name, **more):
    kind = more.pop("kind", random.choice("sbh"))
    labels = {GROUP: random.choice("ab")} if random.random() < 0.4 else {}
    labels |= {"team": random.choice("xy")} if random.random() < 0.4 else {}
    labels |= {ZONE: random.choice(["z1", "z2"])} if random.random() < 0.5 else {}
    labels |= {"maintenance": ""} if random.random() < 0.2 else {}
    taints = [TAINT] if random.random() < 0.3 else []
    return k8s.node(
        name, kind, *SIZES[kind], "110", labels | more.pop("labels", {}), more.pop("taints", taints), **more
    )


def a_pod(k8s, random, number, nodes):
    spec = {"tolerations": TOLERANT} if random.random() < 0.3 else {}
    there = random.choice([None, *nodes])
    match random.randrange(6):
        case 0:
            spec["nodeSelector"] = {"team": "x"}
        case 1:
            spec["affinity"] = k8s.near(("maintenance", "DoesNotExist", []))
        case 2:
            spec["affinity"] = k8s.near(("team", "NotIn", ["y"]))
        case 3:
            spec["affinity"] = k8s.apart({"app": f"o{number % 3}"})
    size = k8s.requests(random.choice(["500m", "1", "1500m", "3"]), random.choice(["1Gi", "3Gi"]))
    place = there["metadata"]["name"] if there else None
    owner = ("StatefulSet", f"o{number % 3}")
    return k8s.pod(f"p{number}", place, owner, (size,), labels={"app": f"o{number % 3}"}, **spec)


def an_agent(k8s, node, **spec):
    name = node["metadata"]["name"]
    return k8s.pod(f"agent-{name}", name, ("DaemonSet", "agent"), (k8s.requests("200m", "64Mi"),), **spec)


def a_cluster(k8s, random):
    """Nodes, pods, a DaemonSet that goes around taints or not, and a NodePool now and then."""
    nodes = [a_node(k8s, random, f"n{number}") for number in range(random.randrange(1, 4))]
    pods = [a_pod(k8s, random, number, nodes) for number in range(random.randrange(1, 6))]
    spec = {"tolerations": TOLERANT} if random.random() < 0.5 else {}
    agents = [an_agent(k8s, n, **spec) for n in nodes if spec or not n["spec"]["taints"]] * (random.random() < 0.5)
    pools = [k8s.pool("p", ("node.kubernetes.io/instance-type", "In", ["b"]))] * (random.random() < 0.3)
    return [*nodes, *pods, *agents, *pools]


def add(k8s, random, objects):
    """Return the objects with one more, or something done to one node, by hand."""
    objects = json.loads(json.dumps(objects))
    node = next(each for each in objects if each["kind"] == "Node")
    by_hand = {
        "taint": lambda: node["spec"]["taints"].append({"key": "by-hand", "effect": "NoSchedule"}),
        "cordon": lambda: node["spec"].update(unschedulable=True),
        "label": lambda: node["metadata"]["labels"].update({"maintenance": "now"}),
        "other label": lambda: node["metadata"]["labels"].update({"nobody": "asks"}),
        "delete": lambda: node["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z"),
        "starts": lambda: node["spec"]["taints"].append({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}),
    }
    new = a_node(k8s, random, "new")
    gpus = k8s.pool("gpus", ("karpenter.k8s.aws/instance-category", "In", ["p"]), taints=[TAINT])
    meta = {"name": "other", "namespace": "shop"}
    added = {
        "node": [new],
        "control plane": [
            a_node(k8s, random, "new", labels={CONTROL: ""}, taints=[{"key": CONTROL, "effect": "NoSchedule"}])
        ],
        "tainted node": [a_node(k8s, random, "new", taints=[{"key": "system", "effect": "NoExecute"}])],
        "node of another pool": [a_node(k8s, random, "new", labels={POOL: "gone"})],
        "node and agent": [new, *[an_agent(k8s, new)] * any("agent" in each["metadata"]["name"] for each in objects)],
        "virtual node": [a_node(k8s, random, "new", labels={"type": "virtual-kubelet"})],
        "unlike node": [k8s.node("new", "s", "100m", "1Gi", "3", {GROUP: "c"}, [TAINT])],
        "NodePool": [gpus],
        "own NodePool": [k8s.pool("q", ("node.kubernetes.io/arch", "In", ["x"]), labels={"tier": "1"})],
        "spot NodePool": [k8s.pool("q", ("karpenter.sh/capacity-type", "In", ["spot"]))],
        "budget": [{"kind": "PodDisruptionBudget", "metadata": meta}],
        "claim": [{"kind": "PersistentVolumeClaim", "metadata": meta, "spec": {"volumeName": "v"}}],
        "volume": [{"kind": "PersistentVolume", "metadata": {"name": "v", "labels": {ZONE: "z9"}}, "spec": {}}],
        "ended pod": [k8s.pod("done", None, None, (k8s.requests("8"),), phase="Succeeded")],
        "malformed pod": [{"kind": "Pod", "metadata": {"name": "odd"}, "spec": {"containers": []}}],
        "twice": [objects[0]],
    }
    what = random.choice([*by_hand, *added])
    if what in by_hand:
        by_hand[what]()
    return what, [*objects, *added.get(what, ())]


@pytest.mark.parametrize("seed", range(120))
def test_what_is_added_never_raises_the_floor(read, k8s, optimum, seed):
    random = Random(seed)
    objects = a_cluster(k8s, random)
    try:
        before = read(objects, PRICES)
    except InstanceError as error:
        assert "no pod fits" in str(error)
        return
    if any("ask for more than is left there" in note for note in before.notes):
        # Such a node has more room than any machine, but only for those that may be there.
        return
    floor = optimum(before)
    for _ in range(3):
        what, more = add(k8s, random, objects)
        after = read(more, PRICES)
        # A pod that only the new object lets run depends on it.
        assert optimum(after) <= floor or after.num_tasks > before.num_tasks, what
