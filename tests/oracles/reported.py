"""Small clusters in which something else than the least price was once called proven, or that were refused."""

from __future__ import annotations

from cases import SPOT, THREE, Case
from clusters import CAPACITY_TYPE, CONTROL, EC2, GROUP, POOL, SYSTEM, TYPE, ZONE, asks, node, pod, pods, pool, taint

GKE_SPOT = "cloud.google.com/gke-spot"


def reported():
    b, h = node("n2", "b", "4", "8Gi"), node("n3", "h", "8", "16Gi")
    lacking = node("n1", "s", "2", "4Gi")
    del lacking["status"]["allocatable"]
    yield Case("a node without allocatable", [lacking, b, pod("a-1", "n2", cpu="2")], THREE, 1)
    control = node("m1", "s", "2", "4Gi", labels={CONTROL: ""}, taints=[{"key": CONTROL, "effect": "NoSchedule"}])
    yield Case("without a control plane", [b, pod("q-1", "n2")], THREE, 1)
    yield Case("with a control plane", [control, b, pod("q-1", "n2")], THREE, 1)
    zones = "name,price,cpu,memory_gib,zone\ns,1,2,4,za\ns,2,2,4,zb\n"
    claim = {"metadata": {"labels": {"t": "x"}}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "sc"}}
    volumes = [{"name": "v", "ephemeral": {"volumeClaimTemplate": claim}}]
    nodes = [node(name, "s", "2", "4Gi", labels={ZONE: zone}) for name, zone in (("n1", "za"), ("n2", "zb"))]
    yield Case("a generic ephemeral volume", [*nodes, pod("a-1", "n2", volumes=volumes)], zones, 1)
    web = node("n2", "b", "4", "8Gi", labels={GROUP: "web"})
    other = pool("gpu", (f"{EC2}category", "In", ["p"]), taints=[{"key": "gpu", "effect": "NoSchedule"}])
    yield Case("a node group beside a NodePool", [other, web, pod("a-1", "n2")], THREE, 1)
    yield Case("a node group without a NodePool", [web, pod("a-1", "n2")], THREE, 1)
    held = [{"name": "c", "resources": asks("1"), "allocatedResources": {"cpu": "1"}}]
    status = {"resize": "Infeasible", "containerStatuses": held}
    running = [node("n1", "s", "2", "4Gi"), b, h, *pods(2, "a", node="n3", cpu="3", status=status)]
    yield Case("a resize that cannot be", running, THREE, 1)
    systems = "name,price,cpu,memory_gib,os\ns,1,2,4,linux\nwin,0.8,2,4,windows\n"
    linux = pod("a-1", "n1", nodeSelector={SYSTEM: "linux"})
    yield Case("a type of another system", [node("n1", "s", "2", "4Gi"), linux], systems, 1)
    spot = node("n1", "u", "8", "32Gi", labels={POOL: "spot", CAPACITY_TYPE: "spot"})
    only = pool("spot", (CAPACITY_TYPE, "In", ["spot"]), (TYPE, "NotIn", ["u"]))
    yield Case("a NodePool of spot alone", [only, spot, *pods(2, cpu="8", node="n1")], SPOT.replace("0.1,", "9,"), 9)
    yield Case("a smaller machine at its spot price", [only, spot, pod("x-1", "n1")], SPOT.replace("0.1,", "0.6,"), 0.3)
    ec2 = "name,price,cpu,memory_gib\nm5.large,0.096,2,8\nm5.xlarge,0.192,4,16\n"
    large = node("n1", "m5.xlarge", labels={POOL: "d", CAPACITY_TYPE: "on-demand", f"{EC2}cpu": "4"})
    more = pool("d", (f"{EC2}cpu", "Gt", ["3"]))
    yield Case("a NodePool that keeps off small machines", [more, large, pod("a-1", "n1")], ec2, 0.192)
    # Nodes of one type differ, and new ones may be as large as the largest.
    groups = [node("hand", "s", "2", "4Gi", taints=[taint("maintenance", "")]), node("n2", "s", "1800m", "4Gi")]
    yield Case("the largest node of a type", [*groups, pod("x-1", cpu="1500m"), pod("y-1", cpu="500m")], THREE, 1)
    # A line without a zone holds for all, those that only a pod names among them.
    empty = "name,price,cpu,memory_gib,zone\nt0,0.79,2,4,\nt1,0.64,2,4,\n"
    there = node("n0", "t0", "2", "4Gi", labels={ZONE: "zb"})
    for on in ("n0", None):
        elsewhere = pod("x-1", on, nodeSelector={ZONE: "za"})
        yield Case(f"a zone that only a pod names, {on}", [there, elsewhere], empty, 0.64)


def spare():
    """Types t of both prices, u of a spot price alone, and v of none: spot counts where nothing else is admitted, or said."""
    prices = "name,price,spot_price,cpu,memory_gib\nt,1,0.3,4,16\nu,,0.2,4,16\nv,0.9,,4,16\n"
    yield Case("a type with a spot price alone", [node("n0", "t"), pod("x-1")], prices, 0.2)
    firm = pod("x-1", nodeSelector={CAPACITY_TYPE: "on-demand"})
    yield Case("which is no machine on demand", [node("n0", "t"), firm], prices, 0.9)
    there = node("n0", "t", labels={POOL: "p"})
    for admitted, right, others in ((["on-demand"], 0.9, 0.9), (["spot"], 0.2, 0.3), (["spot", "on-demand"], 0.2, 0.9)):
        kind = (CAPACITY_TYPE, "In", admitted)
        yield Case(f"a NodePool of {admitted}", [there, pool("p", kind), pod("x-1")], prices, right)
        made = [there, pool("p", kind, (TYPE, "NotIn", ["u"])), pod("x-1")]
        yield Case(f"a NodePool of {admitted} without that type", made, prices, others)
    only = pool("p", (CAPACITY_TYPE, "In", ["spot"]), (TYPE, "In", ["v"]))
    both = pool("p", (CAPACITY_TYPE, "In", ["spot", "on-demand"]), (TYPE, "NotIn", ["u"]))
    for key, value in ((CAPACITY_TYPE, "spot"), ("eks.amazonaws.com/capacityType", "SPOT"), (GKE_SPOT, "true")):
        bound = {"nodeSelector": {key: value}, "cpu": "3"}
        yield Case(f"a pod of {key} alone", [node("n0", "t"), pod("x-1", **bound)], SPOT, 0.1)
        there = node("n0", "t", labels={key: value, GROUP: "g"})
        beside = [there, pod("x-1", "n0", **bound), pod("x-2", **bound), pod("y-1", cpu="4")]
        yield Case(f"pods of {key} alone, and room for another", beside, SPOT.replace("0.1,", "0.5,"), 0.8)
    there = node("n0", "t", labels={POOL: "p"})
    bound = pod("x-1", nodeSelector={CAPACITY_TYPE: "spot"})
    yield Case("a pod of spot alone in a NodePool of both", [there, both, bound], prices, 0.3)
    yield Case("no pod of spot alone in a NodePool of both", [there, both, pod("x-1")], prices, 0.9)
    # What it would cost as spot nobody says: at most what it costs on demand, at least as much as the floor has it.
    yield Case("spot alone, of a type without such a price", [there, only, pod("x-1")], prices, 1, relaxed=True)


FAMILIES = (reported, spare)
