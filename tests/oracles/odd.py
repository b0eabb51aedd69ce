"""Odd small clusters, each with the least price by hand: what a hostile engineer would try."""

from __future__ import annotations

from cases import PLAIN, SPOT, THREE, TWO, UNSIZED, ZONES, Case
from clusters import (
    ARCH,
    CAPACITY_TYPE,
    HOSTNAME,
    POOL,
    REQUIRED,
    TYPE,
    ZONE,
    container,
    daemon,
    near,
    node,
    pod,
    pods,
    pool,
    taint,
    uses,
    volume,
)

T0 = node("n0", "t")
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "1"}}


def requests():
    """What pods ask for, on machines of 4 CPU for 1."""
    big = [container("3", "1Gi", name="i"), container("1", "1Gi", name="s", policy="Always")]
    small = [container("500m", "1Gi")]
    yield Case("an initial container above the rest", [T0, *pods(2, containers=small, initContainers=big)], PLAIN, 2)
    for milli, right in (("100m", 1), ("101m", 2)):
        yield Case(f"overhead {milli}", [T0, *pods(4, cpu="900m", overhead={"cpu": milli})], PLAIN, right)
    less = pods(2, containers=[container("3")], resources={"requests": {"cpu": "2"}})
    yield Case("a pod that asks for less than its containers", [T0, *less], PLAIN, 1)
    limits = [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]
    yield Case("limits alone", [T0, *pods(4, containers=limits)], PLAIN, 1)
    tiny = [container("0.9999"), container("0.0001")]
    yield Case("a ten-thousandth of a CPU", [T0, *pods(4, containers=tiny)], PLAIN, 1)
    yield Case("three slots", [node("n0", "t", slots="3"), *pods(7, containers=[{"name": "c"}])], UNSIZED, 3)
    disk = node("n0", "t", extended={"ephemeral-storage": "10Gi"})
    empty = [{"name": "e", "emptyDir": {"sizeLimit": "9Gi"}}]
    yield Case("a limit of an empty directory", [disk, *pods(2, volumes=empty)], PLAIN, 1)
    more = PLAIN + "v,1.5,4,16\n"
    yield Case("disks of a type without a node", [disk, *pods(3, extended={"ephemeral-storage": "6Gi"})], more, 1.5)
    pages = {"extended": {"hugepages-2Mi": "1Gi"}}
    yield Case("huge pages of a type without a node", [T0, pod("x-1", **pages)], PLAIN + "v,0.5,4,16\n", 0.5)
    large = node("n1", "d", extended={"hugepages-1Gi": "4Gi"})
    three = pods(3, extended={"hugepages-1Gi": "2Gi"})
    yield Case("huge pages of one type", [node("n0", "c"), large, *three], TWO, 6)
    dongles = [node("n0", "t", extended={"x.org/dongle": "3"}), node("n1", "t")]
    four = pods(4, cpu="100m", extended={"x.org/dongle": "1"})
    yield Case("a device that one node has by hand", [*dongles, *four], PLAIN, 2)
    for protocol, right in (("TCP", 2), ("UDP", 1)):
        ports = [{"containerPort": 80, "hostPort": 80, "protocol": protocol}]
        first = pod("y-1", containers=[container("1", ports=[{"containerPort": 80, "hostPort": 80}])])
        both = [first, pod("x-1", containers=[container("1", ports=ports)])]
        yield Case(f"port 80 twice, {protocol}", [T0, *both], PLAIN, right)


def ends():
    """Pods that ended, go, wait at a gate, or come with their node."""
    two = [T0, node("n1", "t")]
    ended = [pod("x-1", "n0", phase="Succeeded", cpu="4"), pod("y-1", "n1", phase="Failed", cpu="4"), pod("z-1", "n0")]
    yield Case("pods that ended", [*two, *ended], PLAIN, 1)
    yield Case("a pod that goes", [T0, pod("x-1", "n0", cpu="4", meta=GONE), pod("y-1", "n0", cpu="4")], PLAIN, 1)
    gated = pod("x-1", cpu="4", schedulingGates=[{"name": "g"}])
    yield Case("a pod at a gate", [T0, gated, pod("y-1", cpu="4")], PLAIN, 1)
    named = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": named}}}
    waits = pod("a-n1", owner="DaemonSet", namespace="kube-system", affinity=affinity)
    yield Case("a DaemonSet's pod that waits", [*two, daemon("a", "n0"), waits, *pods(4)], PLAIN, 1)
    yield Case("a DaemonSet's pod that ended", [T0, daemon("a", "n0", phase="Succeeded"), *pods(4)], PLAIN, 1)
    static = pod("proxy-n0", "n0", owner="Node", meta=MIRROR, cpu="2")
    yield Case("a static pod of one node of two", [*two, static, *pods(4)], PLAIN, 1)
    yield Case("a node that is there twice", [T0, T0, pod("x-1", "n0")], PLAIN, 1)


def places():
    """Labels, taints, zones and volumes. Bound to a node by name is relaxed."""
    yield Case("a label that nothing has", [T0, pod("x-1", "n0"), pod("y-1", nodeSelector={"no": "one"})], PLAIN, 1)
    by_hand = [node(f"n{n}", "h", "8", "16Gi", taints=[taint("hand", "")]) for n in range(2)]
    yield Case("a taint by hand on every node", [*by_hand, pod("x-1", "n0"), pod("y-1")], THREE, 1)
    pin = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["n0"]}]}]
    claim, disk = volume("v")
    disk["spec"] = {"nodeAffinity": {"required": {"nodeSelectorTerms": pin}}}
    dear = [node("n0", "d"), node("n1", "c")]
    local = [*dear, pod("x-1", "n0", volumes=uses("v")), claim, disk]
    yield Case("a volume of a dear node", local, TWO, 1, relaxed=True)
    za, zones = node("n0", "t", labels={ZONE: "za"}), [pod("x-1", "n0", nodeSelector={ZONE: "za"})]
    yield Case("a zone without node and line", [za, *zones, pod("y-1", nodeSelector={ZONE: "zc"})], PLAIN, 2)
    terms = near([(ZONE, "In", ["zb"]), ("no", "In", ["one"])], [(ZONE, "In", ["za"])])
    yield Case("two terms, one dear", [za, pod("x-1", affinity=terms)], ZONES, 1)
    arms = "name,price,cpu,memory_gib,arch\nt,1,4,16,amd64\na,0.7,4,16,arm64\n"
    yield Case("arm alone", [T0, pod("x-1", nodeSelector={ARCH: "arm64"})], arms, 0.7)


def node_pools():
    """NodePools of one type each, with limits, taints, labels and capacity types."""
    there, cheap = node("n0", "d", labels={POOL: "q"}), (TYPE, "In", ["c"])
    none = [pool("p", (TYPE, "In", ["s"]), limits={"cpu": "0"}), pool("q", (TYPE, "In", ["h"]), taints=[taint()])]
    b = node("n0", "b", "4", "8Gi", labels={POOL: "p"})
    yield Case("a limit of nothing", [b, *none, pod("x-1", "n0"), pod("y-1")], THREE, 1)
    gone = [node("n0", "d", labels={POOL: "gone"}), pool("p", cheap, taints=[taint()]), pod("x-1", "n0")]
    yield Case("a NodePool that is gone", gone, TWO, 1)
    both = pool("p", cheap, taints=[taint("a", "", "NoExecute"), taint("b", "")])
    tolerant = pod("x-1", "n0", tolerations=[{"operator": "Exists"}])
    half = pod("y-1", "n0", tolerations=[{"key": "a", "operator": "Exists"}])
    yield Case("one of two taints", [there, both, pool("q", (TYPE, "In", ["d"])), tolerant, half], TWO, 3)
    newer = pool("q", cheap, ("gen", "Gt", ["5"]))
    yield Case("newer than newer", [there, newer, pod("x-1", affinity=near([("gen", "Gt", ["6"])]))], TWO, 1)
    dear = SPOT.replace("u,2,0.1", "u,2,0.7")
    t, one = node("n0", "t", labels={POOL: "p", CAPACITY_TYPE: "on-demand"}), pod("x-1", "n0", cpu="3")
    for number, (operator, values, right) in enumerate(
        (
            ("In", ["spot"], 0.3),
            ("In", ["reserved", "spot"], 0.3),
            ("NotIn", ["on-demand"], 0.3),
            ("NotIn", ["spot"], 1),
            ("Exists", [], 1),
        )
    ):
        yield Case(f"capacity type {number}", [t, pool("p", (CAPACITY_TYPE, operator, values)), one], dear, right)
    avoids = pod("x-1", affinity=near([(CAPACITY_TYPE, "NotIn", ["spot"])]))
    mixed = pool("p", (CAPACITY_TYPE, "In", ["spot", "on-demand"]))
    spot = node("n0", "t", labels={POOL: "p", CAPACITY_TYPE: "spot"})
    yield Case("a pod that avoids spot", [spot, mixed, avoids], dear, 1)


FAMILIES = (requests, ends, places, node_pools)
