"""Machines that can be rented: of any type as node groups could be, as NodePools admit, and no more than there are."""

import pytest

PRICES = "name,price,cpu,memory_gib\ns,1,2,4\nb,1.8,4,8\nh,3.5,8,16\n"
SIZES = {"s": ("2", "4Gi"), "b": ("4", "8Gi"), "h": ("8", "16Gi")}
GROUP, POOL, CAPACITY_TYPE = "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "karpenter.sh/capacity-type"
CONTROL = "node-role.kubernetes.io/control-plane"
AWS = "karpenter.k8s.aws/instance-"


def node(k8s, name, kind="b", labels=(), taints=(), **more):
    return k8s.node(
        name, kind, *SIZES[kind], "110", dict(labels), [{"key": t, "effect": "NoSchedule"} for t in taints], **more
    )


def said(cluster, *words):
    return any(all(word in note for word in words) for note in cluster.notes)


@pytest.mark.parametrize(
    "kind",
    [
        "alone",
        "control plane",
        "system",
        "taint by hand",
        "group",
        "group and NodePool",
        "cordon",
        "label by hand",
        "other group",
    ],
)
def test_a_small_machine_can_be_rented_whatever_stands_beside(read, one, k8s, optimum, kind):
    """The pod asks for 1 CPU and fits on s at 1.0; it runs on b at 1.8."""
    gpus = k8s.pool("gpus", (f"{AWS}category", "In", ["p"]), taints=[{"key": "gpu", "effect": "NoSchedule"}])
    beside = {
        "control plane": [node(k8s, "m", "s", {CONTROL: ""}, [CONTROL])],
        "system": [node(k8s, "m", "s", {GROUP: "system"}, ["CriticalAddonsOnly"])],
        "taint by hand": [node(k8s, "m", "s", taints=["maintenance"])],
        "group": [node(k8s, "m", "h", {GROUP: "web"})],
        "group and NodePool": [gpus],
        "cordon": [node(k8s, "m", "s", unschedulable=True)],
        "label by hand": [node(k8s, "m", "s", {"stay": "away"})],
        "other group": [node(k8s, "m", "s", {"cloud.google.com/gke-nodepool": "x", "stay": "away"}, ["x"])],
    }
    pod = one("q", "n", affinity=k8s.near(("stay", "NotIn", ["away"])))
    labels = {GROUP: "web"} if "group" in kind else {}
    assert optimum(read([node(k8s, "n", labels=labels), *beside.get(kind, ()), pod], PRICES)) == 1_000_000


@pytest.mark.parametrize("taints", [(), ("maintenance",)])
def test_a_label_of_one_group_a_machine_of_any_type_may_have(read, one, k8s, optimum, taints):
    nodes = [node(k8s, "n", "h", {"team": "memory"}, taints), node(k8s, "m", "b", {"team": "web"})]
    cluster = read([*nodes, one("q", "n", nodeSelector={"team": "memory"})], PRICES)
    assert optimum(cluster) == 1_000_000
    assert not said(cluster, "Relaxed", "team")


def test_labels_that_no_group_has_together_a_new_one_may_have(read, one, k8s, optimum):
    """The node's label was changed by hand below its pod, which could stay there only, at 1.8."""
    nodes = [node(k8s, "n", "b", {"team": "b", "disk": "ssd"}), node(k8s, "m", "h", {"team": "a"})]
    cluster = read([*nodes, one("q", "n", nodeSelector={"team": "a", "disk": "ssd"})], PRICES)
    assert optimum(cluster) == 1_000_000
    assert not said(cluster, "Relaxed", "team")


def test_a_group_with_a_taint_holds_more_where_a_daemon_set_does_not_come(read, one, k8s, optimum):
    """2 CPUs fit on s only where the taint keeps the agent off; without the tainted group the pod needs b."""
    agent = k8s.pod("agent-n", "n", ("DaemonSet", "agent"), (k8s.requests("100m"),))
    tolerant = {"tolerations": [{"key": "batch", "operator": "Exists"}]}
    objects = [node(k8s, "n"), agent, one("q", "n", cpu="2", **tolerant)]
    assert optimum(read(objects, PRICES)) == 1_800_000
    assert optimum(read([*objects, node(k8s, "m", "h", taints=["batch"])], PRICES)) == 1_000_000


def test_beside_node_pools_groups_may_be_kept_as_they_are(read, one, k8s, optimum):
    pool = k8s.pool("p", ("node.kubernetes.io/instance-type", "In", ["b"]))
    objects = [node(k8s, "n", "h", {GROUP: "web"}), node(k8s, "m", "b", {POOL: "p"}), pool, one("q", "n")]
    assert optimum(read(objects, PRICES)) == 1_000_000
    assert optimum(read(objects, PRICES, node_groups="kept")) == 1_800_000


def test_what_the_system_takes_of_a_type_holds_in_every_group(read, one, k8s, optimum):
    """s has 1.9 CPUs on the node of group a, where q of group b asks for 2; a node of which most is gone says nothing."""
    for cpu, floor in (("1900m", 1_800_000), ("900m", 1_000_000)):
        small = k8s.node("m", "s", cpu, "4Gi", "110", {GROUP: "a"})
        pod = one("q", "n", cpu="2", nodeSelector={GROUP: "b"})
        assert optimum(read([node(k8s, "n", labels={GROUP: "b"}), small, pod], PRICES)) == floor


SPOT = "name,price,spot_price,cpu,memory_gib\nbig,0.20,0.06,4,16\nsmall,0.10,0.03,2,8\n"


@pytest.mark.parametrize(
    ("requirement", "floor", "line"),
    [
        (("In", ["spot"]), 30_000, "New machines cost their spot price, as the NodePool admits no other: p."),
        (("NotIn", ["on-demand"]), 30_000, "New machines cost their spot price, as the NodePool admits no other: p."),
        (
            ("In", ["spot", "on-demand"]),
            60_000,
            "Spot was not looked at, which NodePools admit (capacity_types=admitted does): p.",
        ),
        (("In", ["on-demand"]), 60_000, None),
    ],
)
def test_a_node_pool_that_admits_spot_alone_is_priced_so(read, one, k8s, optimum, requirement, floor, line):
    """A pod on a spot node at 0.06; the small type costs 0.03 as spot, and 0.10 on demand."""
    pool = k8s.pool("p", (CAPACITY_TYPE, *requirement))
    big = k8s.node("n", "big", "4", "16Gi", "58", {POOL: "p", CAPACITY_TYPE: "spot"})
    cluster = read([pool, big, one("q", "n")], SPOT)
    assert optimum(cluster) == floor
    assert [note for note in cluster.notes if "spot" in note.lower()] == ([] if line is None else [line])
    assert optimum(read([pool, big, one("q", "n")], SPOT, capacity_types="admitted")) == (
        60_000 if line is None else 30_000
    )


def test_a_node_pool_of_spot_without_spot_prices_is_on_demand(read, one, k8s, optimum):
    pool = k8s.pool("p", (CAPACITY_TYPE, "In", ["spot"]))
    objects = [pool, node(k8s, "n", labels={POOL: "p"}), one("q", "n")]
    assert optimum(read(objects, PRICES)) == 1_000_000


@pytest.mark.parametrize(("told", "floor"), [(None, 1_000_000), ("2", 1_800_000)])
def test_what_a_node_pool_requires_and_nothing_tells_is_said(read, one, k8s, optimum, told, floor):
    """The pool admits machines with local disks of more than 2; a node of type s tells that it has 2."""
    key = f"{AWS}local-nvme"
    pool = k8s.pool("p", (key, "Gt", ["2"]))
    nodes = [
        node(k8s, "n", "b", {POOL: "p", key: "9"}),
        node(k8s, "m", "s", {POOL: "p"} | ({key: told} if told else {})),
    ]
    nodes[1]["spec"]["taints"] = [{"key": "gone", "effect": "NoSchedule"}]
    cluster = read([*nodes, pool, one("q", "n")], PRICES.replace("h,3.5,8,16\n", ""))
    assert optimum(cluster) == floor
    assert said(cluster, "Relaxed: NodePool p requires something of", key, "1 type, which count as admitted: s.") is (
        told is None
    )


def test_of_a_fixed_cluster_there_is_what_there_is(read, one, k8s):
    """Two of two boxes run: none is rented anew, and the pod that fits on neither is left out."""
    prices = "name,price,cpu,memory_gib,gpu,count\nbox,1,8,32,2,2\ncpu,0.1,4,16,0,\n"
    gpus = {"nvidia.com/gpu": "2"}
    nodes = [
        k8s.node(n, "box", "7500m", "32Gi", "110", taints=[{"key": "gpu", "effect": "NoSchedule"}], **gpus)
        for n in "ab"
    ]
    tolerant = {"tolerations": [{"operator": "Exists"}]}
    pods = [
        k8s.pod(
            n, "a" if n == "x" else None, None, (k8s.requests("1", "1Gi", **{"nvidia.com/gpu": number}),), **tolerant
        )
        for n, number in (("x", "1"), ("y", "2"), ("z", "4"))
    ]
    cluster = read([*nodes, *pods], prices)
    stock = dict(zip(cluster.type_names, cluster.stock.tolist(), strict=True))
    assert stock == {"cpu": -1, "box (a and 1 alike)": 2}
    assert "Left out: fit no machine that can be had: 1 pod: shop/z." in cluster.notes


def test_a_type_that_another_covers_is_left_out(read, one, k8s):
    prices = PRICES + "dear,1.9,4,8\nlarge,1.8,4,9\nodd,1.7,3,2\n"
    cluster = read([node(k8s, "n", "s"), one("q", "n")], prices)
    assert cluster.type_names == ("s", "h", "large", "odd")
    assert said(cluster, "2 of 6 machines that can be rented are no larger and no cheaper than another")


@pytest.mark.parametrize(("asked", "told"), [("1000000000", True), ("1Gi", False)])
def test_nodes_that_differ_by_some_bytes_are_one_type(read, k8s, asked, told):
    """Of 4 GiB two nodes have up to 200 KiB less, which a pod of 10^9 bytes could tell, and one a tenth less."""
    sizes = {"a": "4200000Ki", "b": "4199900Ki", "c": "4199800Ki", "d": "3800000Ki"}
    nodes = [k8s.node(name, "s", "2", size, "110") for name, size in sizes.items()]
    pods = [k8s.pod(f"p{n}", n, ("Job", "p"), (k8s.requests("1m", asked),)) for n in sizes]
    more = k8s.pod("q", "a", None, (k8s.requests("1m", "4096" if told else asked),))
    cluster = read([*nodes, *pods, more], PRICES)
    assert [cluster.type_names[k] for k in cluster.running.machine_type] == ["s", "s", "s", "s (d)"]
    assert said(cluster, "Relaxed: 2 nodes count with the memory of the largest", "at most 200 KiB") is told
