"""What is not known of machines never raises a floor: stocks, unstated resources, labels of some nodes, taints of today."""

import pytest


def test_machines_of_which_there_are_so_many_all_count(allowed, one, k8s):
    """Of types of one size the cheapest is not enough where there are only two of it."""
    prices = "name,cpu,memory_gib,price,count\na,4,8,0.2,2\nb,4,8,0.3,2\nc,4,8,0.4,\nd,4,8,0.5,\n"
    _, cluster = allowed([k8s.node("n", "d", "4", "8Gi", "110"), one("x")], prices)
    kinds = {name: int(number) for name, number in zip(cluster.type_names, cluster.stock, strict=True)}
    assert kinds == {"a": 2, "b": 2, "c": -1, "d": -1}


@pytest.mark.parametrize(
    ("resource", "column", "amounts", "may", "relaxed"),
    [
        ("ephemeral-storage", "", ("", ""), ["s", "l"], True),
        ("ephemeral-storage", "ephemeral_gib", ("", "5"), ["l"], False),
        ("ephemeral-storage", "ephemeral_gib", ("1", "0"), ["s"], False),
        ("x.org/fpga", "", ("", ""), ["s", "l"], True),
        ("nvidia.com/gpu", "", ("", ""), ["s", "l"], True),
        ("nvidia.com/gpu", "gpu", ("", "1"), ["l"], False),
        ("nvidia.com/gpu", "nvidia.com/gpu", ("", "1"), ["l"], False),
        ("amd.com/gpu", "gpu", ("1", ""), ["s"], True),
        ("amd.com/mig-gpu-1g", "gpu", ("1", ""), ["s"], True),
    ],
)
def test_what_the_price_list_does_not_state_a_new_machine_may_have(read, k8s, resource, column, amounts, may, relaxed):
    """Two types that no node is of; what a column states of one of them, the other does not have."""
    stated = [f",{text}" if column else "" for text in (column, "", *amounts)]
    rows = ("name,price,cpu,memory_gib", "old,9,4,8", "s,1,4,8", "l,2,8,8")
    prices = "".join(f"{row}{more}\n" for row, more in zip(rows, stated, strict=True))
    pods = [
        k8s.pod(name, None, ("StatefulSet", name), (k8s.requests("1", "1Gi", **more),))
        for name, more in (("x", {resource: "1"}), ("y", {}))
    ]
    cluster = read([k8s.node("a", "old", "4", "8Gi", "9"), *pods], prices)
    x = next(c for c in range(cluster.num_classes) if cluster.class_name(c) == "x")
    fits = [(cluster.capacity[k] >= cluster.demand[f, x]).all() for k, f in enumerate(cluster.type2family)]
    assert [name for name, it in zip(cluster.type_names, fits, strict=True) if it] == may
    said = f"Relaxed: the price list says nothing of {resource.replace('-storage', '_gib')}; types that no node is of"
    assert any(note.startswith(said) for note in cluster.notes) == relaxed


def test_a_label_that_some_nodes_of_a_pool_lack_a_new_machine_may_lack(allowed, one, k8s):
    in_pool = {"karpenter.sh/nodepool": "p"}
    nodes = [
        k8s.node(name, "l", "8", "32Gi", "20", in_pool | more) for name, more in (("a", {"foo": "bar"}), ("b", {}))
    ]
    pods = [
        one("without", affinity=k8s.near(("foo", "DoesNotExist", []))),
        one("other", cpu="2", affinity=k8s.near(("foo", "NotIn", ["bar"]))),
        one("with", cpu="3", nodeSelector={"foo": "bar"}),
        one("number", cpu="3500m", affinity=k8s.near(("foo", "Gt", ["3"]))),
        one("any", cpu="100m", affinity=k8s.near(("foo", "Exists", []))),
    ]
    types, _ = allowed([*nodes, k8s.pool("p"), *pods])
    assert all({"l", "r"} <= set(types[name]) for name in ("without", "other", "with", "any"))
    assert "number" not in types


def test_a_pod_may_stay_where_it_could_not_go_today(allowed, one, k8s):
    """A taint that forbids evicts nobody; another pod of the same owner may not come there."""
    taint = {"key": "maint", "effect": "NoSchedule"}
    in_pool = {"karpenter.sh/nodepool": "p"}
    nodes = [k8s.node("a", "m", "4", "16Gi", "9", in_pool, [taint]), k8s.node("b", "l", "8", "32Gi", "9", in_pool)]
    pods = [k8s.pod(f"x-{node}", node, ("StatefulSet", "x"), (k8s.requests("1", "1Gi"),)) for node in ("a", "b", None)]
    types, cluster = allowed([*nodes, *pods, k8s.pool("p", ("node.kubernetes.io/instance-type", "In", ["l"]))])
    assert types == {"x": ["l", "m (a)"], "x-2": ["l"]}
    assert cluster.running.count.tolist() == [1, 1]
    assert cluster.counts.tolist() == [1, 2]
    note = "For information: run where their constraints would not let them go today, and may stay: 1 pod: shop/x."
    assert note in cluster.notes


@pytest.mark.parametrize(
    ("key", "on_spot", "on_others", "asked", "tainted"),
    [
        ("eks.amazonaws.com/capacityType", "SPOT", "ON_DEMAND", ("In", ["ON_DEMAND"]), False),
        ("cloud.google.com/gke-spot", "true", None, ("DoesNotExist", []), False),
        ("cloud.google.com/gke-spot", "true", None, ("DoesNotExist", []), True),
        ("kubernetes.azure.com/scalesetpriority", "spot", None, ("NotIn", ["spot"]), False),
        ("kubernetes.azure.com/scalesetpriority", "spot", None, ("NotIn", ["spot"]), True),
        ("karpenter.sh/capacity-type", "spot", "on-demand", ("In", ["on-demand"]), False),
    ],
)
def test_new_machines_are_no_spot_because_nodes_of_their_type_are(
    allowed, one, k8s, key, on_spot, on_others, asked, tainted
):
    taints = [{"key": key, "value": on_spot, "effect": "NoSchedule"}] * tainted
    nodes = [
        k8s.node("a", "t", "4", "16Gi", "9", {key: on_spot}, taints),
        k8s.node("b", "big", "8", "32Gi", "9", {} if on_others is None else {key: on_others}),
    ]
    pods = [one("x"), one("y", "b", cpu="2", affinity=k8s.near((key, *asked)))]
    prices = "name,cpu,memory_gib,price,spot_price\nt,4,16,0.2,0.1\nbig,8,32,1.0,0.4\n"
    types, _ = allowed([*nodes, *pods], prices)
    assert {"t", "big"} <= {name.partition(" (")[0] for name in types["y"]}
    types, cluster = allowed([*nodes, *pods], prices, capacity_types="admitted")
    assert {"t", "big"} <= {name.partition(" (")[0] for name in types["y"]}
    price = dict(zip(cluster.type_names, cluster.price.tolist(), strict=True))
    assert {price[name] for name in types["y"]} == {200_000, 1_000_000}
    # AKS keeps pods off its spot machines by itself.
    assert any("t (spot" in name for name in types["x"]) is not (tainted and "azure" in key)


def test_what_a_pool_requires_without_naming_it_is_open_whatever_its_nodes_have(allowed, one, k8s):
    for requirement in (("team", "Exists", []), ("team", "NotIn", ["z"])):
        nodes = [k8s.node("a", "l", "8", "32Gi", "20", {"karpenter.sh/nodepool": "p", "team": "a"})]
        types, _ = allowed([*nodes, k8s.pool("p", requirement), one("x", nodeSelector={"team": "b"})])
        assert "l" in types["x"]


def zoned(allowed, k8s, prices, *pods, zone="z1", pool=()):
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", {"topology.kubernetes.io/zone": zone})]
    return allowed([*nodes, *pods, *pool], "name,cpu,memory_gib,price,zone,count\n" + prices)


def test_a_line_for_one_zone_takes_nothing_away_elsewhere(allowed, one, k8s):
    there = {"topology.kubernetes.io/zone": "z2"}
    pods = [one("x"), one("y", nodeSelector=there)]
    for more in ("", "other,4,16,0.5,z1,\n", "t,4,16,0.1,z1,\n"):
        types, cluster = zoned(allowed, k8s, "t,4,16,0.2,,\nu,4,16,0.2,z2,\n" + more, *pods)
        price = dict(zip(cluster.type_names, cluster.price.tolist(), strict=True))
        assert min(price[name] for name in types["y"]) == 200_000
    assert min(zoned(allowed, k8s, "t,4,16,0.2,,\nt,4,16,0.1,z1,\n", one("x"))[1].price) == 100_000


def test_zones_that_a_pool_admits_are_there_before_a_node_is(allowed, one, k8s):
    pool = k8s.pool("p", ("topology.kubernetes.io/zone", "In", ["z1", "z2"]))
    pods = [one("x"), one("y", nodeSelector={"topology.kubernetes.io/zone": "z2"})]
    types, _ = zoned(allowed, k8s, "t,4,16,0.2,,\n", *pods, pool=[pool])
    assert types["y"] == ["t (z2)"]


@pytest.mark.parametrize("bound", [{}, {"nodeSelector": {"topology.kubernetes.io/zone": "z1"}}])
def test_a_count_is_of_its_line(allowed, one, k8s, bound):
    prices = "t,4,16,9,,\nu,4,16,0.1,z1,2\nu,4,16,0.1,z2,3\n"
    _, cluster = zoned(allowed, k8s, prices, one("x", **bound), one("y"))
    assert sum(n for name, n in zip(cluster.type_names, cluster.stock.tolist(), strict=True) if name[0] == "u") == 5
    _, cluster = zoned(allowed, k8s, prices.replace("0.1,z2", "0.2,z2"), one("x", **bound), one("y"))
    price = zip(cluster.type_names, cluster.price.tolist(), cluster.stock.tolist(), strict=True)
    assert [each for each in price if each[0][0] == "u"] == [("u (z1)", 100_000, 2), ("u (z2)", 200_000, 3)]


def test_a_zone_without_a_price_is_told(one, k8s, read):
    nodes = [k8s.node("a", "t", "4", "16Gi", "9", {"topology.kubernetes.io/zone": "z3"})]
    cluster = read([*nodes, one("x")], "name,cpu,memory_gib,price,zone\nt,4,16,1,z1\nt,4,16,2,z2\n")
    note = "Priced as in the cheapest other zone, since the price list has no price in theirs: a (z3)."
    assert note in cluster.notes


@pytest.mark.parametrize(("on", "left"), [("a", 4000), ("ab", 3000)])
@pytest.mark.parametrize("name", ["proxy", "etcd"])
def test_static_pods_come_with_new_machines_that_have_them_everywhere(one, k8s, read, on, left, name):
    nodes = [k8s.node(node, "t", "4", "16Gi", "9") for node in "ab"]
    static = [k8s.pod(f"{name}-{node}", node, ("Node", node), (k8s.requests("1", "1Gi"),)) for node in on]
    cluster = read([*nodes, *static, one("x", cpu="1m")], "name,cpu,memory_gib,price\nt,4,16,1\n")
    new = max(cluster.capacity[:, 0]) // cluster.demand.max(axis=1)[0, 0]
    assert new == (left if name == "proxy" else 4000)
