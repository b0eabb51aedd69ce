"""A cluster as it is: what runs today can run, what passes or was set by hand binds no new machine, what is open is told."""

import pytest

PRICES = "name,cpu,memory_gib,price\nt,4,16,1\nbig,16,64,9\n"
POOL, GROUP = "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup"
TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"


def node(k8s, name, kind="t", cpu="4", labels=(), taints=(), **more):
    return k8s.node(name, kind, cpu, "16Gi" if kind == "t" else "64Gi", "9", dict(labels), taints, **more)


def said(cluster, *words):
    return any(all(word in note for word in words) for note in cluster.notes)


def room(cluster, kind, resource="pods"):
    return cluster.capacity[cluster.type_names.index(kind), cluster.resources.index(resource)]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("group", [POOL, GROUP])
def test_the_order_of_nodes_says_nothing(read, one, k8s, order, group):
    """Two groups whose new machines would be alike, with disks of 18 and 180 GiB."""
    nodes = [
        node(k8s, n, labels={group: n}, **{"ephemeral-storage": f"{size}Gi"}) for n, size in (("a", 18), ("b", 180))
    ]
    asks = k8s.pod("x", None, ("StatefulSet", "x"), (k8s.requests("1", "1Gi", **{"ephemeral-storage": "100Gi"}),))
    cluster = read([*nodes[::order], asks, one("y")], PRICES)
    assert room(cluster, "t", "ephemeral_mib") >= 100 * 1024


def test_a_node_that_holds_more_than_it_has_keeps_it(read, one, k8s):
    """5 of 4 CPUs, as after a resize, and a GPU whose plugin is not there yet."""
    gpu = k8s.pod("g", "b", ("StatefulSet", "g"), (k8s.requests("1", "1Gi", **{"nvidia.com/gpu": "1"}),))
    pods = [one("x", "a", cpu="3"), one("y", "a", cpu="2"), gpu]
    cluster = read([node(k8s, "a"), node(k8s, "b", **{"nvidia.com/gpu": "0"}), *pods], PRICES)
    held = cluster.running.contents(cluster.num_classes) @ cluster.demand.max(axis=0)
    assert (held <= cluster.capacity[cluster.running.machine_type]).all()
    assert room(cluster, "t (a)", "cpu") == 5000
    assert said(cluster, "For information: on 2 nodes pods ask for more")


STARTING = {"key": "x.org/starting", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("key", "lasts"),
    [
        ("x.org/starting", False),
        ("startup-taint.cluster-autoscaler.kubernetes.io/gpu", False),
        ("node.cilium.io/agent-not-ready", False),
        ("cloud.google.com/impending-node-termination", False),
        ("x.org/other", True),
    ],
)
def test_taints_of_a_start_do_not_last(allowed, one, k8s, key, lasts):
    pool = k8s.pool("p", (TYPE, "In", ["big"]))
    pool["spec"]["template"]["spec"]["startupTaints"] = [STARTING]
    taint = {"key": key, "effect": "NoSchedule"}
    types, cluster = allowed([node(k8s, "a", labels={POOL: "p"}, taints=[taint]), pool, one("x")], PRICES)
    assert ("t (a)" in types["x"]) is not lasts
    assert said(cluster, "1 nodes are not ready or take no pods") is not lasts


def test_nodes_of_another_pool_tell_no_limit_on_pods(read, one, k8s):
    pools = [k8s.pool("p", (TYPE, "In", ["t"])), k8s.pool("q", (TYPE, "In", ["t"]))]
    cluster = read([node(k8s, "a", cpu="3", labels={POOL: "p"}), *pools, one("x")], PRICES)
    assert (room(cluster, "t (p)") // 1000, room(cluster, "t (p)", "cpu")) == (9, 3000)
    assert (room(cluster, "t (q)") > 10**6, room(cluster, "t (q)", "cpu")) == (True, 3000)
    assert said(cluster, "Relaxed: what the system takes", "1 type: t.")


@pytest.mark.parametrize("pools", [True, False])
def test_a_role_set_by_hand_new_machines_may_lack(allowed, one, k8s, pools):
    role = "node-role.kubernetes.io/batch"
    objects = [node(k8s, "a", labels={POOL: "p", role: ""}), one("x", affinity=k8s.near((role, "DoesNotExist", [])))]
    objects.append(one("y", cpu="2", nodeSelector={role: ""}))
    types, _ = allowed(objects + [k8s.pool("p")] * pools, PRICES)
    assert types["x"][0] == ("t" if pools else "t (new group)")
    types, _ = allowed([*objects, k8s.pool("p", (role, "DoesNotExist", []))], PRICES)
    assert ("t" in types["x"], types["y"]) == (True, ["t (a)"])


def test_a_node_has_the_labels_that_it_has(allowed, one, k8s):
    key = "karpenter.sh/capacity-type"
    pods = [one("x", affinity=k8s.near((key, "DoesNotExist", []))), one("y", cpu="2", nodeSelector={key: "on-demand"})]
    types, _ = allowed([node(k8s, "a", cpu="3"), *pods], PRICES, capacity_types="admitted")
    assert ("t (a)" in types["x"], "t (a)" in types["y"]) == (True, False)


def test_a_pod_that_its_controller_bound_to_its_node_comes_with_it(read, one, k8s):
    pinned = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    near = k8s.near()
    near["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = [pinned]
    cluster = read([node(k8s, "a"), one("agent", "a", affinity=near), one("x", cpu="1m")], PRICES)
    assert (room(cluster, "t", "cpu"), room(cluster, "t (a)", "cpu")) == (4000, 3000)
    assert said(cluster, "Left out: bound by name to the node that they run on", "1 pod: shop/agent")
    going = one("agent", "a", affinity=near)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert "t (a)" not in read([node(k8s, "a"), going, one("x", cpu="1m")], PRICES).type_names


def test_gpus_that_pods_share_are_any_number_elsewhere(allowed, one, k8s):
    asks = [k8s.pod(n, "a", None, (k8s.requests(c, "1Gi", **{"nvidia.com/gpu": "1"}),)) for n, c in ("x1", "y2")]
    prices = "name,cpu,memory_gib,gpu,price\nt,4,16,1,1\nless,2,8,1,0.5\nnone,2,8,0,0.1\n"
    _, cluster = allowed([node(k8s, "a", **{"nvidia.com/gpu": "4"}), *asks], prices)
    assert [room(cluster, kind, "nvidia.com/gpu") > 4000 for kind in ("t", "less", "none")] == [False, True, False]
    assert said(cluster, "Relaxed: nodes have more devices", ": less.")


def test_a_taint_that_some_nodes_of_a_group_have_is_none_of_it(allowed, one, k8s):
    by_hand = [{"key": "maintenance", "effect": "NoSchedule"}]
    nodes = [node(k8s, "a", labels={GROUP: "g"}, taints=by_hand), node(k8s, "b", "big", "16", {GROUP: "g"})]
    types, _ = allowed([*nodes, one("x")], PRICES)
    assert types["x"] == ["t (new group)", "big"]


@pytest.mark.parametrize(("operator", "value"), [("In", "z2"), ("NotIn", "z1")])
def test_prices_are_those_of_a_pools_zones(read, one, k8s, operator, value):
    prices = "name,cpu,memory_gib,price,zone\nt,4,16,0.1,z1\nt,4,16,0.2,z2\n"
    cluster = read([node(k8s, "a", labels={POOL: "p"}), k8s.pool("p", (ZONE, operator, [value])), one("x")], prices)
    assert cluster.price[cluster.type_names.index("t")] == 200_000


def test_what_a_pool_leaves_open_is_told(allowed, one, k8s):
    pods = [one(team, nodeSelector={"team": team}) for team in "ab"]
    types, cluster = allowed([node(k8s, "n"), k8s.pool("p", ("team", "In", ["a", "b"])), *pods], PRICES)
    assert "t (p)" in types["a"]
    assert said(cluster, "Relaxed: bound to label team, which is not known of every machine: 2 pods")


def test_a_pod_that_may_only_stay_stays_on_its_very_node(allowed, one, k8s):
    taint = [{"key": "maintenance", "effect": "NoSchedule"}]
    nodes = [node(k8s, name, labels={POOL: "p"}, taints=taint) for name in "ab"]
    types, _ = allowed([*nodes, k8s.pool("p"), one("x", "a"), one("y", "b", cpu="2")], PRICES)
    assert [[kind for kind in types[name] if "(" in kind] for name in "xy"] == [["t (a)"], ["t (b)"]]


def test_nodes_that_go_or_control_and_daemons_that_are_not_everywhere_are_told(read, one, k8s):
    nodes = [node(k8s, name) for name in "abc"]
    nodes[0]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    nodes[1]["spec"]["taints"] = [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]
    nodes[2]["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
    daemon = k8s.pod("d-a", "a", ("DaemonSet", "d"), (k8s.requests("1", "1Gi"),))
    cluster = read([*nodes, daemon, one("x", "a")], PRICES)
    assert said(cluster, "2 nodes are about to go", ": a, b.")
    assert said(cluster, "1 nodes control the cluster", ": c.")
    assert said(cluster, "Relaxed: of DaemonSets that are not on every node", "shop/d")


def test_a_count_beside_unlike_nodes_and_another_architecture_are_told(read, one, k8s):
    prices = "name,cpu,memory_gib,price,count,arch\nt,4,16,1,3,amd64\nr,4,16,0.5,,arm64\nm7gd.large,2,8,0.5,,\n"
    cluster = read([node(k8s, "a", cpu="3", labels={"kubernetes.io/arch": "amd64"}), node(k8s, "b"), one("x")], prices)
    assert said(cluster, "Relaxed: the count of t")
    assert said(cluster, "another architecture", ": m7gd.large, r.")


def test_a_volume_whose_zone_its_label_tells(allowed, one, k8s):
    claim = {
        "metadata": {"name": "c", "namespace": "shop"},
        "spec": {"volumeName": "v", "accessModes": ["ReadWriteOnce"]},
    }
    volume = {"kind": "PersistentVolume", "metadata": {"name": "v", "labels": {ZONE: "z1"}}, "spec": {}}
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]
    nodes = [node(k8s, name, labels={ZONE: zone}) for name, zone in (("a", "z1"), ("b", "z2"))]
    pods = [one("x", "a", volumes=volumes), one("y", "a", cpu="2", volumes=volumes)]
    inner = {"kind": "List", "items": [{"kind": "PersistentVolumeClaim", **claim}, volume]}
    types, cluster = allowed([*nodes, *pods, one("z", nodeSelector={ZONE: "z2"}), inner], PRICES)
    assert all("z1" in kind for kind in types["x"])
    assert said(cluster, "Relaxed: volumes that one node at a time can use", "2 pods: shop/x, shop/y")
