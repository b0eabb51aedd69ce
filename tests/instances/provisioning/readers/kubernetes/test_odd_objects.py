"""One odd object refuses no cluster: it is left out by name, or what is known of it counts."""

import pytest

from schedgap.instances.errors import InstanceError

PRICES = "name,price,cpu,memory_gib\ns,1,2,4\nb,1.8,4,8\n"
TYPE, OLD_TYPE = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"


def said(cluster, *words):
    return any(all(word in note for word in words) for note in cluster.notes)


def room(cluster, node):
    k = cluster.running.machine_type[cluster.running.names.index(node)]
    return cluster.capacity[k, : cluster.resources.index("pods")].tolist()


def odd(k8s, one):
    """Objects of each kind that Kubernetes would not have, by what is wrong."""
    limited = k8s.near(("disks", "Gt", ["many"]))
    return {
        "no containers": k8s.pod("odd", "n", None),
        "quantity": one("odd", "n", cpu="1x"),
        "below 0": one("odd", "n", cpu="-1"),
        "operator": one("odd", "n", affinity=k8s.near(("a", "Likes", ["b"]))),
        "limit": one("odd", "n", affinity=limited),
        "labels": k8s.pod("odd", "n", None, (k8s.requests("1"),), labels={"a": 1}),
        "selector": one(
            "odd", "n", affinity=k8s.apart({}, labelSelector={"matchExpressions": [{"key": "a", "operator": "Lt"}]})
        ),
        "volume": {"kind": "PersistentVolume", "metadata": {"name": "odd"}, "spec": {"nodeAffinity": 1}},
        "claim": {"kind": "PersistentVolumeClaim", "metadata": {"name": "odd"}, "spec": {"volumeName": 1}},
        "budget": {"kind": "PodDisruptionBudget", "metadata": {"name": "odd", "namespace": 1}},
        "node": k8s.node("odd", "s", 1.5, "4Gi", "110"),
        "node's labels": k8s.node("odd", "s", "2", "4Gi", "110", {"a": 1}),
    }


@pytest.mark.parametrize(
    "what",
    [
        *("no containers", "quantity", "below 0", "operator", "limit", "labels", "selector"),
        *("volume", "claim", "budget", "node", "node's labels"),
    ],
)
def test_a_malformed_object_is_left_out_by_name(read, one, k8s, what):
    cluster = read([k8s.node("n", "b", "4", "8Gi", "110"), one("q", "n"), odd(k8s, one)[what]], PRICES)
    assert (cluster.num_tasks, cluster.running.size) == (1, 1)
    assert said(cluster, "Left out, as Kubernetes has no such object: 1 objects", "odd")


def test_what_is_there_twice_counts_once(read, one, k8s):
    cluster = read([k8s.node("n", "b", "4", "8Gi", "110"), one("q", "n"), one("q", "n", cpu="2")], PRICES)
    assert (cluster.num_tasks, cluster.demand[0, 0, 0]) == (1, 1000)
    assert said(cluster, "Left out: 1 objects that are there twice; the first counts: Pod shop/q.")


def test_a_pod_on_a_node_that_is_not_there_is_left_out(read, one, k8s):
    pods = [one("q", "n"), one("gone", "elsewhere")]
    agent = k8s.pod("agent-e", "elsewhere", ("DaemonSet", "agent"), (k8s.requests("1"),))
    cluster = read([k8s.node("n", "b", "4", "8Gi", "110"), *pods, agent], PRICES)
    assert cluster.class_names == ("q",)
    assert said(cluster, "Left out: on a node that is not there, or could not be read: 1 pod: shop/gone.")


@pytest.mark.parametrize(
    ("status", "has"),
    [
        ({"capacity": {"cpu": "3", "memory": "4Gi", "pods": "9"}}, [3000, 4]),
        ({"allocatable": {"cpu": "1"}, "capacity": {"cpu": "3", "memory": "3Gi"}}, [1000, 3]),
        ({"allocatable": {"cpu": "-1", "memory": "4Gi"}}, [4000, 4]),
        ({}, [4000, 8]),
        (None, [4000, 8]),
    ],
)
def test_a_node_that_does_not_say_what_it_has(read, one, k8s, optimum, status, has):
    node = k8s.node("n", "b", "4", "8Gi", "110")
    node["status"] = status
    if status is None:
        del node["status"]
    cluster = read([node, k8s.node("m", "b", "4", "8Gi", "110"), one("q", "m"), one("r", cpu="1m")], PRICES)
    assert [room(cluster, "n")[0], room(cluster, "n")[1] // 1024] == has
    assert optimum(cluster) == 1_000_000
    assert said(cluster, "What 1 nodes have is not said") is not (
        status == {"capacity": {"cpu": "3", "memory": "4Gi", "pods": "9"}}
    )


def test_an_ephemeral_volume(read, one, k8s, optimum):
    """Its claim is named after the pod and the volume; without the claim the pod is bound nowhere."""
    zone = "topology.kubernetes.io/zone"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"labels": {"t": "x"}}, "spec": spec}
    pod = one("a", "n2", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}])
    nodes = [k8s.node(f"n{n}", "s", "2", "4Gi", "110", {zone: f"z{n}"}) for n in (1, 2)]
    prices = "name,price,cpu,memory_gib,zone\ns,1,2,4,z1\ns,2,2,4,z2\n"
    assert optimum(read([*nodes, pod], prices)) == 1_000_000
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "a-v", "namespace": "shop"},
        "spec": {"volumeName": "v"},
    }
    volume = {"kind": "PersistentVolume", "metadata": {"name": "v", "labels": {zone: "z2"}}, "spec": {}}
    assert optimum(read([*nodes, pod, claim, volume], prices)) == 2_000_000


VIRTUAL = [
    ({"eks.amazonaws.com/compute-type": "fargate"}, []),
    ({"type": "virtual-kubelet"}, []),
    ({}, [{"key": "virtual-kubelet.io/provider", "value": "azure", "effect": "NoSchedule"}]),
]


@pytest.mark.parametrize(("labels", "taints"), VIRTUAL)
def test_virtual_nodes_are_left_out_with_their_pods(read, one, k8s, labels, taints):
    virtual = k8s.node("v", "", "800", "4000Gi", "110", labels, taints)
    pods = [one("p1", "n"), one("p2", "v"), k8s.pod("d", "v", ("DaemonSet", "d"), (k8s.requests("1"),))]
    cluster = read([k8s.node("n", "s", "2", "4Gi", "110"), virtual, *pods], PRICES)
    assert (cluster.class_names, cluster.running.names) == (("p1",), ("n",))
    assert said(cluster, "Left out: 1 virtual nodes, which are no machines, with their pods: v.")
    assert said(cluster, "Left out: on virtual nodes, which are no machines: 1 pod: shop/p2.")


def untyped(k8s, name, **labels):
    node = k8s.node(name, "", "2", "4Gi", "110", labels)
    del node["metadata"]["labels"][TYPE]
    return node


def test_nodes_without_a_type(read, one, k8s, tmp_path):
    nodes, pods = [untyped(k8s, "a"), untyped(k8s, "b")], [one("p1", "a"), one("p2", "b")]
    with pytest.raises(
        InstanceError, match=r"on node a, b, .* --set node_type=NAME, .* --set node_types=FILE\.csv, a CSV with"
    ):
        read([*nodes, *pods], PRICES)
    cluster = read([*nodes, *pods], PRICES, node_type="s")
    assert cluster.price[cluster.running.machine_type].tolist() == [1_000_000] * 2
    assert said(cluster, f"2 nodes without label {TYPE} count as s")
    with pytest.raises(InstanceError, match=r"no price of node a \(x, on-demand\), b"):
        read([*nodes, *pods], PRICES, node_type="x")
    file = tmp_path / "nodes.csv"
    file.write_text("node,type\na,s\nb,b\n")
    cluster = read([*nodes, *pods], PRICES, node_types=str(file))
    assert cluster.price[cluster.running.machine_type].tolist() == [1_000_000, 1_800_000]
    for line, message in (
        ("c,s", "'c' is none of the cluster's"),
        ("a,b", "'a' is there twice"),
        ("b,", "'b' has no type"),
    ):
        file.write_text(f"node,type\na,s\n{line}\n")
        with pytest.raises(InstanceError, match=rf"nodes.csv line 3: node {message}; mend or remove the line"):
            read([*nodes, *pods], PRICES, node_types=str(file))


def test_the_old_label_of_the_type(read, one, k8s):
    cluster = read([untyped(k8s, "a", **{OLD_TYPE: "s"}), one("p", "a")], PRICES)
    assert cluster.price[cluster.running.machine_type].tolist() == [1_000_000]
