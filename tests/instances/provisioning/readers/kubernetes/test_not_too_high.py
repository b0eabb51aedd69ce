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
