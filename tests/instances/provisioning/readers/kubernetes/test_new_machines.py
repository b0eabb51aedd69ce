"""What today's nodes have by accident, by hand or by their place, a new machine of their type or group need not have."""

import pytest

PRICES = "name,cpu,memory_gib,price\nt,4,16,1\nbig,16,64,9\n"
GPUS = "name,cpu,memory_gib,gpu,price\nt,4,16,1,1\nbig,16,64,4,9\n"
AZURE, ZONE = "topology.disk.csi.azure.com/zone", "topology.kubernetes.io/zone"


def asks(k8s, name, **more):
    return k8s.pod(name, None, ("StatefulSet", name), (k8s.requests("2", "1Gi", **more),))


def holding(cluster, name):
    """The types of which a machine holds a pod, and may."""
    c = next(c for c in range(cluster.num_classes) if cluster.class_name(c) == name)
    asked = [cluster.demand[f, c] for f in cluster.type2family]
    fits = [(need >= 0).all() and (has >= need).all() for has, need in zip(cluster.capacity, asked, strict=True)]
    return [kind for kind, it in zip(cluster.type_names, fits, strict=True) if it]


def of_pool(k8s, name, kind, pool, **labels):
    size = ("4", "16Gi") if kind == "t" else ("16", "64Gi")
    return k8s.node(name, kind, *size, "9", {"karpenter.sh/nodepool": pool, **labels})


@pytest.mark.parametrize("has", [{}, {"nvidia.com/gpu": "0"}])
def test_a_device_that_is_not_there_yet_is_on_a_new_machine(read, one, k8s, has):
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", **has)]
    assert "t" in holding(read([*nodes, one("x"), asks(k8s, "y", **{"nvidia.com/gpu": "1"})], GPUS), "y")


def test_a_broken_device_is_whole_on_a_new_machine(read, one, k8s):
    node = k8s.node("a", "t", "4", "16Gi", "9", **{"x.org/fpga": "7"})
    node["status"]["capacity"] = {"x.org/fpga": "8"}
    assert holding(read([node, one("x"), asks(k8s, "y", **{"x.org/fpga": "8"})], PRICES), "y") == ["t", "big"]


def test_a_type_with_gpus_of_another_make_gets_none_of_the_usual_one(read, one, k8s):
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", **{"amd.com/gpu": "1"})]
    assert holding(read([*nodes, one("x"), asks(k8s, "y", **{"nvidia.com/gpu": "1"})], GPUS), "y") == ["big"]


def test_a_type_runs_any_system(allowed, one, k8s):
    """A pool for another system rents a small machine though its only node is a large one, and so does a new pool."""
    linux, windows = {"kubernetes.io/os": "linux"}, {"kubernetes.io/os": "windows"}
    pods = [one("x", nodeSelector=linux), one("y", cpu="2", nodeSelector=windows)]
    pools = [k8s.pool("p"), k8s.pool("w", ("beta.kubernetes.io/os", "In", ["windows"]))]
    for node in ([of_pool(k8s, "b", "big", "w", **windows)], []):
        types, _ = allowed([of_pool(k8s, "a", "t", "p", **linux), *node, *pods, *pools], PRICES)
        assert any(name.startswith("t") for name in types["y"])
        assert not any("(w)" in name for name in types["x"])


def test_a_place_is_none_of_the_type(allowed, one, k8s):
    key = "topology.k8s.aws/zone-id"
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", {key: "az1"}), k8s.node("b", "big", "16", "64Gi", "9", {key: "az2"})]
    types, _ = allowed([*nodes, one("x"), one("y", cpu="2", nodeSelector={key: "az2"})], PRICES)
    assert "t" in types["y"]


def test_no_zone_of_a_driver_is_no_zone(allowed, one, k8s):
    """Nodes without zones on AKS: the disk's driver says so by an empty label, the cloud by a number."""
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", {AZURE: "", ZONE: "0"})]
    types, _ = allowed([*nodes, one("x"), one("y", "a", cpu="2", affinity=k8s.near((AZURE, "In", [""])))], PRICES)
    assert "t" in types["y"]
    zoned = [k8s.node("a", "t", "4", "16Gi", "9", {AZURE: "z1", ZONE: "z1"})]
    types, _ = allowed([*zoned, one("x"), one("y", cpu="2", affinity=k8s.near((AZURE, "In", ["z2"])))], PRICES)
    # The list has no zones, so its types are in that of the disk, too.
    assert types["y"] == ["t (z2)", "big (z2)"]


@pytest.mark.parametrize(("key", "may"), [("eks.amazonaws.com/compute-type", True), ("team", False)])
def test_a_pool_without_nodes_may_have_what_its_provider_adds(allowed, one, k8s, key, may):
    nodes = [of_pool(k8s, "a", "big", "p", **{key: "auto"})]
    pools = [k8s.pool("p", ("node.kubernetes.io/instance-type", "In", ["big"])), k8s.pool("empty")]
    types, _ = allowed([*nodes, *pools, one("x"), one("y", cpu="2", nodeSelector={key: "auto"})], PRICES)
    assert ("t" in types["y"]) is may


@pytest.mark.parametrize(("key", "may"), [("maintenance", True), ("eks.amazonaws.com/nodegroup", False)])
def test_what_was_put_on_a_node_by_hand_new_ones_of_its_pool_lack(allowed, one, k8s, key, may):
    nodes = [of_pool(k8s, "a", "t", "p", **{key: "true"})]
    types, _ = allowed(
        [*nodes, k8s.pool("p"), one("x"), one("y", cpu="2", affinity=k8s.near((key, "DoesNotExist", [])))], PRICES
    )
    assert ("y" in types) is may


def test_static_pods_of_control_planes_come_with_no_new_machine(one, k8s, read):
    role = {"node-role.kubernetes.io/control-plane": "true"}
    nodes = [k8s.node(node, "t", "4", "16Gi", "9", role) for node in "ab"]
    static = [k8s.pod(f"ccm-{node}", node, ("Node", node), (k8s.requests("1", "1Gi"),)) for node in "ab"]
    cluster = read([*nodes, *static, one("x", cpu="1m")], PRICES)
    t = cluster.type_names.index("t")
    assert cluster.capacity[t, 0] // cluster.demand.max(axis=1)[0, 0] == 4000


def test_a_taint_that_tells_the_system_lasts(allowed, one, k8s):
    taint = {"key": "node.kubernetes.io/os", "value": "windows", "effect": "NoSchedule"}
    nodes = [k8s.node("a", "big", "16", "64Gi", "9", taints=[taint]), k8s.node("b", "t", "4", "16Gi", "9")]
    passing = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    types, _ = allowed([*nodes, one("x")], PRICES)
    # On a new machine of any type, not on the node.
    assert types["x"] == ["t", "big (new group)"]
    nodes[0]["spec"]["taints"] = [passing]
    assert allowed([*nodes, one("x")], PRICES)[0]["x"] == ["t", "big"]


def test_blanks_beside_a_columns_name_are_none_of_it(allowed, one, k8s):
    nodes = [k8s.node("a", "t", "4", "16Gi", "9")]
    _, cluster = allowed([*nodes, one("x")], "name, cpu, memory_gib, price, count, fee\nt,4,16,1,2,0.5\n")
    assert "count" not in cluster.resources
    assert cluster.price.max() == 1_500_000


@pytest.mark.parametrize("groups", [1, 2])
def test_a_count_that_two_groups_may_use_up_is_told(allowed, one, k8s, groups):
    taints = [[], [{"key": "team", "effect": "NoSchedule"}]]
    nodes = [k8s.node(f"n{g}", "t", "4", "16Gi", "9", taints=taints[g]) for g in range(groups)]
    pods = [one("x"), one("y", cpu="2", tolerations=[{"operator": "Exists"}])]
    _, cluster = allowed([*nodes, *pods], "name,cpu,memory_gib,price,count\nt,4,16,1,5\n")
    assert any("the count of t, which holds by itself" in note for note in cluster.notes) == (groups > 1)
