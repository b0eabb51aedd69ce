"""Which machines can be rented: NodePools, labels and taints of nodes, zones, volumes, prices, DaemonSets."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import kubernetes

TYPE, CAPACITY_TYPE = "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type"


def test_every_type_may_have_the_labels_of_some_node_with_its_taints_or_none(allowed, one, k8s):
    """m of node a, r for all, l larger: of team x, plain, or tainted where only node b is."""
    taint = {"key": "gpu", "effect": "NoSchedule"}
    nodes = [k8s.node("a", "m", "4", "16Gi", "9", {"team": "x"}), k8s.node("b", "l", "8", "32Gi", "9", taints=[taint])]
    tolerant = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}
    pods = [one("x", nodeSelector={"team": "x"}), one("any", cpu="2"), one("gpu", cpu="3", **tolerant)]
    types, _ = allowed([*nodes, *pods])
    assert types["x"] == ["m", "l (new group team=x)", "r"]
    # A machine of team x holds whatever one without a team does.
    assert types["any"] == types["x"]
    assert types["gpu"] == ["m", "l (gpu)", *types["x"][1:]]


def test_architecture_and_instance_type(allowed, one, k8s):
    pods = [one("arm", nodeSelector={"kubernetes.io/arch": "arm64"}), one("l", nodeSelector={TYPE: "l"})]
    types, _ = allowed([k8s.node("a", "m", "4", "16Gi", "9"), *pods])
    assert types == {"arm": ["r"], "l": ["l"]}


def test_node_pools(allowed, one, k8s):
    """A pool's labels and requirements are its machines'; a label that it neither has nor requires, none has."""
    small = k8s.pool("small", (TYPE, "In", ["m"]), ("team", "In", ["x", "y"]), labels={"tier": "1"})
    large = k8s.pool("large", ("karpenter.k8s.aws/instance-generation", "Gt", ["2"]), (TYPE, "NotIn", ["m", "r"]))
    pods = [
        one("y", nodeSelector={"team": "y"}),
        one("z", cpu="2", nodeSelector={"team": "z"}),
        one("tier", cpu="3", nodeSelector={"tier": "1"}),
        one("no-tier", cpu="3500m", affinity=k8s.near(("tier", "DoesNotExist", []))),
        one("pool", cpu="100m", nodeSelector={"karpenter.sh/nodepool": "large"}),
    ]
    node = k8s.node("a", "m", "4", "16Gi", "9", {"karpenter.sh/nodepool": "small", "team": "x", "tier": "1"})
    types, cluster = allowed([node, small, large, *pods])
    # The node is of team x, as it happens; a new machine may be of either.
    assert (types["y"], types["tier"]) == (["m"], ["m", "m (a)"])
    assert types["no-tier"] == types["pool"] == ["l"]
    assert "Left out: fit no machine that can be had: 1 pod: shop/z." in cluster.notes


def test_a_pool_with_a_malformed_requirement(read, one, k8s):
    with pytest.raises(InstanceError, match="NodePool p: label 'n' is to be Gt \\['x'\\]; give one whole number"):
        read([k8s.node("a", "m", "4", "16Gi", "9"), one("x"), k8s.pool("p", ("n", "Gt", ["x"]))], k8s.offered)


def test_labels_that_nothing_has_new_groups_may_have(allowed, one, k8s):
    pods = [
        one("x", nodeSelector={"nobody/has": "it"}),
        one("here", cpu="2", nodeSelector={"kubernetes.io/hostname": "a"}),
    ]
    types, cluster = allowed([k8s.node("a", "m", "4", "16Gi", "9"), *pods])
    # A node has the labels that it has.
    assert (types["x"], types["here"]) == (["l", "r"], ["m", "l", "r"])
    assert "Relaxed: bound to a node by name: 1 pod: shop/here." in cluster.notes


def test_spot_and_on_demand(allowed, one, k8s):
    """A pod that admits spot alone is on spot, and on what has no spot price."""
    pods = [
        one("spot", nodeSelector={CAPACITY_TYPE: "spot"}),
        one("firm", cpu="2", nodeSelector={CAPACITY_TYPE: "on-demand"}),
    ]
    nodes = [k8s.node("a", "m", "4", "16Gi", "9")]
    types, cluster = allowed([*nodes, *pods])
    # m is dearer than r, and no larger; the node has no such label.
    assert types == {"spot": ["m (spot)", "l (spot)", "r"], "firm": ["l", "r"]}
    said = "New machines may be spot, at spot prices, as some pods admit nothing else: shop/spot."
    assert said in cluster.notes
    assert "Relaxed: bound to spot or on-demand machines: 2 pods: shop/firm, shop/spot." in cluster.notes
    assert allowed([*nodes, *pods], capacity_types="admitted")[0] == types
    types, cluster = allowed([*nodes, pods[1]])
    assert (types, said in cluster.notes) == ({"firm": ["l", "r"]}, False)


@pytest.mark.parametrize(
    "labels",
    [
        {CAPACITY_TYPE: "spot"},
        {"eks.amazonaws.com/capacityType": "SPOT"},
        {"cloud.google.com/gke-spot": "true"},
        {"kubernetes.azure.com/scalesetpriority": "spot"},
    ],
)
def test_spot_nodes_cost_the_spot_price(read, one, k8s, labels):
    cluster = read([k8s.node("a", "m", "4", "16Gi", "9", labels), one("x", "a")], k8s.offered)
    k = int(cluster.running.machine_type[0])
    assert (cluster.type_names[k], cluster.price[k], cluster.stock[k]) == ("m (spot, a)", 400_000, 1)


def test_zones_of_the_price_list(allowed, one, k8s):
    prices = "name,cpu,memory_gib,price,zone\nm,4,16,1,z1\nm,4,16,1.1,z2\nl,8,32,1.9,z2\n"
    zone = "topology.kubernetes.io/zone"
    nodes = [k8s.node("a", "m", "4", "16Gi", "9", {zone: "z2"})]
    bound = [one("z1", nodeSelector={zone: "z1"}), one("any", cpu="2")]
    types, cluster = allowed([*nodes, *bound], prices)
    assert types == {"z1": ["m (z1)"], "any": ["m (z1)", "m (z2)", "l (z2)"]}
    assert cluster.price.tolist() == [1_000_000, 1_100_000, 1_900_000]
    # Where nothing is bound, the cheapest zone, and the node at its own price.
    types, cluster = allowed([*nodes, one("any")], prices)
    assert types == {"any": ["m", "l", "m (a)"]}
    assert cluster.price.tolist() == [1_000_000, 1_900_000, 1_100_000]


def test_volumes_bind_to_zones(allowed, one, k8s):
    zone = "topology.kubernetes.io/zone"
    nodes = [k8s.node(name, "m", "4", "16Gi", "9", {zone: name}) for name in ("z1", "z2")]
    terms = [{"matchExpressions": [{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": ["z2"]}]}]
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
    }
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": {"volumeName": "v"},
    }
    data = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]}
    types, cluster = allowed([*nodes, volume, claim, one("x", **data)], "name,price\nm,1\n")
    assert types == {"x": ["m (z2)"]}
    assert "Relaxed: limits on volumes attached to a node: 1 pod: shop/x." in cluster.notes
    types, cluster = allowed([*nodes, one("x", **data)], "name,price\nm,1\n")
    assert types == {"x": ["m"]}
    assert "Relaxed: volumes whose place is not given: 1 pod: shop/x." in cluster.notes


def test_daemon_sets_come_with_new_machines_if_they_are_on_every_node_that_admits_them(read, one, k8s):
    agent = [
        k8s.pod(f"d-{n}", n, ("DaemonSet", "d"), (k8s.requests(cpu),)) for n, cpu in (("a", "200m"), ("b", "100m"))
    ]
    partial = [k8s.pod("p-a", "a", ("DaemonSet", "p"), (k8s.requests("1"),))]
    nodes = [k8s.node(name, "m", "4", "16Gi", "10") for name in "ab"]
    cluster = read([*agent, *partial, *nodes, one("x", cpu="1m")], k8s.offered)
    rows = dict(zip(cluster.type_names, cluster.capacity[:, 0].tolist(), strict=True))
    # m as the larger of its nodes; l and r have none: their size less the least that the agent asks for.
    assert rows == {"m": 3900, "l": 7900, "r": 3900, "m (a)": 2800}


def test_a_daemon_set_that_may_come_or_not_is_not_counted(read, one, k8s):
    """New machines are of team x or y, as the NodePool says; the DaemonSet is of x."""
    agent = k8s.pod("d-a", "a", ("DaemonSet", "d"), (k8s.requests("200m"),), nodeSelector={"team": "x"})
    node = k8s.node("a", "m", "4", "16Gi", "10", {"karpenter.sh/nodepool": "p", "team": "x"})
    for teams, cpu in ((["x", "y"], 8000), (["x"], 7800)):
        cluster = read([agent, node, one("x", cpu="1m"), k8s.pool("p", ("team", "In", teams))], k8s.offered)
        assert dict(zip(cluster.type_names, cluster.capacity[:, 0].tolist(), strict=True))["l"] == cpu


def test_nodes_that_differ_by_less_than_any_pod_can_use_are_one_type(read, one, k8s):
    nodes = [
        k8s.node(name, "m", "4", memory, "9")
        for name, memory in (("a", "16000123Ki"), ("b", "16000000Ki"), ("c", "8Gi"))
    ]
    cluster = read([*nodes, one("x")], "name,price\nm,1\n")
    assert cluster.resources == ("cpu", "ram_mib", "pods")
    assert [cluster.type_names[k] for k in cluster.running.machine_type] == ["m", "m", "m (c)"]


def test_transient_taints_and_nodes_that_take_no_pods(read, one, k8s):
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cluster = read(
        [k8s.node("a", "m", "4", "16Gi", "9", taints=[taint], unschedulable=True), one("x", "a")], k8s.offered
    )
    assert cluster.families == ("general",)
    assert "1 nodes are not ready or take no pods; they are paid, and taken as any other: a." in cluster.notes


def test_prices_finer_than_a_micro_dollar(read, one, k8s):
    cluster = read([k8s.node("a", "m", "4", "16Gi", "9"), one("x")], "name,price\nm,0.1234567\n")
    assert cluster.price.tolist() == [123_456]
    assert any("rounded down, by at most 0.7 micro-dollars an hour" in note for note in cluster.notes)


def test_what_is_left_out(read, one, k8s):
    gone = one("gone", "a", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    gated = one("gated", schedulingGates=[{"name": "g"}])
    cluster = read(
        [k8s.node("a", "m", "4", "16Gi", "9"), one("x", "a"), one("huge", cpu="99"), gone, gated], k8s.offered
    )
    assert cluster.class_names == ("x",)
    left = [note for note in cluster.notes if note.startswith("Left out")]
    assert left == [
        "Left out: fit no machine that can be had: 1 pod: shop/huge.",
        "Left out: terminating: 1 pod: shop/gone.",
        "Left out: with scheduling gates: 1 pod: shop/gated.",
    ]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], "no node is there"),
        (["node"], "of 0 pods none is to be packed"),
        (["node", "elsewhere"], "of 1 pods none is to be packed; give"),
        (["node", "typeless", "pod"], "no label node.kubernetes.io/instance-type on node t, .* --set node_type=NAME"),
        (
            ["node", "bad"],
            r"none is to be packed \(1 objects are malformed: cluster.json item 1, Pod shop/x: '1x' is no quantity;",
        ),
        (["node", "kindless"], "cluster.json item 1: it has no kind; correct the object or take it out"),
        (["node", "sign"], "Pod shop/x: a selector of pods has an operator that is for nodes"),
        (["node", "wrong"], r"item 1, Pod \('x'\): Expected `array`, got `int` - at `\$.spec.containers`"),
        (["wrong"], r"no node is there \(1 objects are malformed"),
        (["node", "pod", "pool"], r"item 2, NodePool \('p'\): .* correct the object or take it out"),
    ],
)
def test_states_that_do_not_do(read, one, k8s, objects, message):
    sign = {"key": "a", "operator": "Gt", "values": ["1"]}
    known = {
        "node": k8s.node("a", "m", "4", "16Gi", "9"),
        "typeless": k8s.node("t", "m", "4", "16Gi", "9", {TYPE: ""}),
        "pod": one("x", "a"),
        "elsewhere": one("x", "b"),
        "bad": one("x", cpu="1x"),
        "kindless": {"metadata": {"name": "x"}},
        "sign": one("x", affinity=k8s.apart({}, labelSelector={"matchExpressions": [sign]})),
        "wrong": one("x"),
        "pool": k8s.pool("p", ("a", "Likes", [])),
    }
    known["wrong"]["spec"]["containers"] = 1
    with pytest.raises(InstanceError, match=message):
        read([known[name] for name in objects], k8s.offered)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON of kubectl"),
        ('{"kind": "List", "items": []}'.encode("utf-16"), "in UTF-8"),
        (
            b'{"kind": "Deployment", "metadata": {"name": "x"}}',
            "its kind is 'Deployment', neither a List nor one of Pod",
        ),
        (b"[" * 5000 + b"]" * 5000, "not JSON of kubectl"),
    ],
)
def test_files_that_are_none(tmp_path, read, sample, content, message):
    read(sample)
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InstanceError, match=message):
        kubernetes(tmp_path / "bad.json", catalogue=str(tmp_path / "prices.csv"))
    with pytest.raises(InstanceError, match="cannot be read"):
        kubernetes(tmp_path / "none.json", catalogue=str(tmp_path / "prices.csv"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(InstanceError, match=r"no \*\.json in this folder"):
        kubernetes(tmp_path / "folder", catalogue=str(tmp_path / "prices.csv"))
