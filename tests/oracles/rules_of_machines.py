"""Clusters that exercise one rule of what machines there are, and who may be on them, each with the least price by hand."""

from __future__ import annotations

from cases import PLAIN, SPOT, THREE, TWO, UNSIZED, ZONES, Case, machines
from clusters import (
    ARCH,
    CAPACITY_TYPE,
    CONTROL,
    EC2,
    GROUP,
    POOL,
    SYSTEM,
    TYPE,
    ZONE,
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

EVERY = {"operator": "Exists"}


def cheap_or_dear(name, fits, taints=(), labels=None, requirements=(), relaxed=False, **spec):
    """Return a case in which a pod costs 1 if it may be on the machines of one NodePool, else 3."""
    cheap = pool("cheap", (TYPE, "In", ["c"]), *requirements, taints=taints, labels=labels)
    dear = pool("dear", (TYPE, "In", ["d"]), labels={"tier": "dear", "disk": "hdd", "team": "c"})
    there = node("n0", "d", labels={POOL: "dear", "tier": "dear", "disk": "hdd", "team": "c"})
    return Case(name, [cheap, dear, there, pod("x-1", **spec)], TWO, 1 if fits else 3, relaxed)


def tolerations():
    k, bare, other = taint(), {"key": "k", "effect": "NoSchedule"}, taint("l", "w")
    execute, prefer = taint(effect="NoExecute"), taint(effect="PreferNoSchedule")
    for number, (taints, tolerated, fits) in enumerate(
        (
            ([k], [], False),
            ([k], [{"key": "k", "operator": "Equal", "value": "v"}], True),
            ([k], [{"key": "k", "operator": "Equal", "value": "w"}], False),
            ([k], [{"key": "k", "value": "v"}], True),
            ([k], [{"key": "k", "operator": "Equal"}], False),
            ([k], [{"key": "k", "operator": "Exists"}], True),
            ([k], [EVERY], True),
            ([k], [{"key": "j", "operator": "Exists"}], False),
            ([k], [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], True),
            ([k], [{"key": "k", "operator": "Exists", "effect": "NoExecute"}], False),
            ([k], [{"key": "k", "value": "v", "effect": ""}], True),
            ([k], [{"operator": "Exists", "effect": "NoExecute"}], False),
            ([k], [{"key": "j", "value": "v"}, {"key": "k", "value": "v"}], True),
            ([bare], [{"key": "k", "operator": "Equal"}], True),
            ([bare], [{"key": "k", "operator": "Equal", "value": "v"}], False),
            ([bare], [{"key": "k", "operator": "Exists"}], True),
            ([execute], [], False),
            ([execute], [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}], False),
            ([execute], [{"key": "k", "operator": "Exists", "effect": "NoExecute"}], True),
            ([execute], [{"key": "k", "operator": "Exists", "tolerationSeconds": 60}], True),
            ([prefer], [], True),
            ([prefer, k], [], False),
            ([k, other], [{"key": "k", "operator": "Exists"}], False),
            ([k, other], [{"key": "k", "operator": "Exists"}, {"key": "l", "value": "w"}], True),
            ([k, other], [EVERY], True),
            ([], [{"key": "k", "operator": "Exists"}], True),
        )
    ):
        yield cheap_or_dear(f"toleration {number}", fits, taints, tolerations=tolerated)
    # A node that runs, cheaper than what its NodePool rents: a taint of its start or end forbids nothing, one by hand does.
    for key, fits in (
        *(
            ("node.kubernetes.io/not-ready", True),
            ("node.kubernetes.io/unschedulable", True),
            ("karpenter.sh/disrupted", True),
        ),
        *(
            ("ToBeDeletedByClusterAutoscaler", True),
            ("node.cloudprovider.kubernetes.io/uninitialized", True),
            ("maintenance", False),
        ),
    ):
        there = node("n0", "c", labels={POOL: "p"}, taints=[taint(key, "")])
        yield Case(f"a node with {key}", [there, pool("p", (TYPE, "In", ["d"])), pod("x-1")], TWO, 1 if fits else 3)
    there = node("n0", "c", labels={POOL: "p"}, taints=[taint()])
    yield Case("nobody is evicted", [there, pool("p", (TYPE, "In", ["d"])), pod("x-1", "n0")], TWO, 1)


def affinities():
    labels = {"disk": "ssd", "n": "5"}
    for number, (term, fits) in enumerate(
        (
            ([("disk", "In", ["ssd"])], True),
            ([("disk", "In", ["nvme"])], False),
            ([("disk", "In", ["nvme", "ssd"])], True),
            ([("disk", "NotIn", ["ssd"])], False),
            ([("disk", "NotIn", ["nvme"])], True),
            ([("disk", "Exists", [])], True),
            ([("disk", "DoesNotExist", [])], False),
            ([("n", "Gt", ["4"])], True),
            ([("n", "Gt", ["5"])], False),
            ([("n", "Lt", ["6"])], True),
            ([("n", "Lt", ["5"])], False),
            ([("n", "Gt", ["-1"])], True),
            ([("n", "In", ["5"])], True),
            ([("disk", "Gt", ["1"])], False),
            ([("none", "In", ["x"])], False),
            ([("none", "NotIn", ["x"])], True),
            ([("none", "Exists", [])], False),
            ([("none", "DoesNotExist", [])], True),
            ([("none", "Gt", ["0"])], False),
            ([("none", "Lt", ["9"])], False),
            ([("disk", "In", ["ssd"]), ("n", "Gt", ["4"])], True),
            ([("disk", "In", ["ssd"]), ("n", "Gt", ["5"])], False),
            ([], False),
        )
    ):
        spec = {"affinity": near(term, [("tier", "In", ["dear"])])}
        # A label that nothing has at all is not known of any machine.
        unknown = any(key == "none" for key, _, _ in term)
        yield cheap_or_dear(f"affinity {number} {term}", fits, labels=labels, relaxed=unknown, **spec)
    for selector, fits in (
        ({"disk": "ssd"}, True),
        ({"disk": "hdd"}, False),
        ({"n": "5"}, True),
        ({"disk": "ssd", "n": "5"}, True),
    ):
        yield cheap_or_dear(f"selector {selector}", fits, labels=labels, nodeSelector=selector)
    yield cheap_or_dear(
        "selector and affinity",
        False,
        labels=labels,
        nodeSelector={"disk": "hdd"},
        affinity=near([("tier", "Exists", [])]),
    )
    preferred = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 9,
                    "preference": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["dear"]}]},
                }
            ]
        }
    }
    yield cheap_or_dear("a preference", True, labels=labels, affinity=preferred)
    for requirement, team, fits in (
        (("team", "In", ["a", "b"]), "a", True),
        (("team", "In", ["a", "b"]), "c", False),
        (("team", "Exists", []), "c", True),
        (("team", "NotIn", ["c"]), "c", False),
        (("team", "NotIn", ["a"]), "c", True),
        (("team", "DoesNotExist", []), "c", False),
        (("other", "In", ["x"]), "c", False),
    ):
        # What NodePools leave open is not known.
        open_key = requirement[1] == "NotIn"
        spec = {"requirements": [requirement], "nodeSelector": {"team": team}}
        yield cheap_or_dear(f"pool {requirement} team {team}", fits, relaxed=open_key, **spec)


def types():
    prices = (
        "name,price,cpu,memory_gib,arch,os\na,1,4,16,amd64,linux\nr,0.8,4,16,arm64,linux\nw,0.5,4,16,amd64,windows\n"
    )
    linux = (SYSTEM, "In", ["linux"])
    for number, (term, right) in enumerate(
        (
            ([(ARCH, "In", ["amd64"]), linux], 1),
            ([(ARCH, "In", ["arm64"])], 0.8),
            ([linux], 0.8),
            ([(SYSTEM, "In", ["windows"])], 0.5),
            ([(SYSTEM, "NotIn", ["windows"])], 0.8),
            ([(TYPE, "In", ["a"])], 1),
            ([(TYPE, "In", ["r", "a"])], 0.8),
            ([("beta.kubernetes.io/instance-type", "In", ["r"])], 0.8),
            ([("beta.kubernetes.io/arch", "In", ["amd64"]), ("beta.kubernetes.io/os", "In", ["linux"])], 1),
            ([(ARCH, "NotIn", ["arm64"]), linux], 1),
            ([(ARCH, "Exists", []), linux], 0.8),
            ([(TYPE, "NotIn", ["w"])], 0.8),
            ([(TYPE, "NotIn", ["w", "r"])], 1),
            ([(TYPE, "Exists", []), linux], 0.8),
        )
    ):
        yield Case(f"type {number} {term}", [node("n0", "a"), pod("x-1", affinity=near(term))], prices, right)
    prices = "name,price,cpu,memory_gib,gpu\nm5.large,1,2,8,0\nc6g.xlarge,0.8,4,8,0\ng4dn.xlarge,2,4,16,1\n"
    for number, (expression, right) in enumerate(
        (
            ((f"{EC2}category", "In", ["m"]), 1),
            # Nodes that Karpenter does not start have no such label.
            ((f"{EC2}category", "NotIn", ["c"]), 0.8),
            ((f"{EC2}family", "In", ["c6g"]), 0.8),
            ((f"{EC2}family", "In", ["g4dn"]), 2),
            ((f"{EC2}generation", "Gt", ["5"]), 0.8),
            ((f"{EC2}generation", "Lt", ["5"]), 2),
            ((f"{EC2}size", "In", ["large"]), 1),
            ((f"{EC2}cpu", "Lt", ["3"]), 1),
            ((f"{EC2}cpu", "In", ["4"]), 0.8),
            ((f"{EC2}memory", "Gt", ["8192"]), 2),
            ((f"{EC2}gpu-count", "Gt", ["0"]), 2),
            ((ARCH, "In", ["arm64"]), 0.8),
        )
    ):
        made = [node("n0", "g4dn.xlarge"), pod("x-1", affinity=near([expression]))]
        yield Case(f"ec2 {number} {expression}", made, prices, right, _is_of_memory(expression))


def _is_of_memory(expression):
    """Return whether a label is of memory, which a list of one's own may state without what the system takes."""
    return expression[0] == f"{EC2}memory"


def places():
    """Machines in zone za cost 1, in zb 1.5."""
    there = node("n0", "t", labels={ZONE: "za"})

    def case(name, right, made=(), **spec):
        return Case(f"place: {name}", [there, pod("x-1", **spec), *made], ZONES, right)

    for zone, right in (("za", 1), ("zb", 1.5)):
        for by_label in (False, True):
            yield case(f"volume in {zone} {by_label}", right, volume("v", zone, by_label=by_label), volumes=uses("v"))
        yield case(
            f"volume by csi in {zone}", right, volume("v", zone, key="topology.ebs.csi.aws.com/zone"), volumes=uses("v")
        )
        yield case(f"selector {zone}", right, nodeSelector={ZONE: zone})
        yield case(f"old selector {zone}", right, nodeSelector={"failure-domain.beta.kubernetes.io/zone": zone})
        yield case(f"affinity not in {zone}", 2.5 - right, affinity=near([(ZONE, "NotIn", [zone])]))
        yield case(
            f"ephemeral volume in {zone}",
            right,
            volume("x-1-d", zone),
            volumes=[{"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}],
        )
    yield case("both zones", 1, affinity=near([(ZONE, "In", ["za", "zb"])]))
    yield case("a volume of two zones", 1, volume("v", "za__zb", by_label=True), volumes=uses("v"))
    yield case("a volume anywhere", 1, volume("v"), volumes=uses("v"))
    yield case(
        "a claim that is not bound",
        1,
        [{"kind": "PersistentVolumeClaim", "metadata": {"name": "v", "namespace": "shop"}, "spec": {}}],
        volumes=uses("v"),
    )
    yield case("of another namespace", 1, volume("v", "zb", namespace="lab"), volumes=uses("v"))
    yield case(
        "in two zones", 2.5, [*volume("v", "za"), *volume("w", "zb"), pod("y-1", volumes=uses("w"))], volumes=uses("v")
    )
    yield case("a volume that is not asked for", 1, volume("v", "zb"))


def devices():
    prices = "name,price,cpu,memory_gib,gpu\nt,1,4,16,0\ng,3,4,16,1\nh,5,4,16,2\n"
    gpu = {"extended": {"nvidia.com/gpu": "1"}}
    for number, right in ((1, 3), (2, 5), (3, 8), (4, 10)):
        yield Case(f"{number} gpus", [node("n0", "t"), *pods(number, **gpu)], prices, right)
    yield Case("two in one pod", [node("n0", "t"), pod("x-1", extended={"nvidia.com/gpu": "2"})], prices, 5)
    yield Case("none", [node("n0", "t"), pod("x-1")], prices, 1)
    yield Case("beside one without", [node("n0", "t"), pod("x-1", **gpu), pod("y-1")], prices, 3)
    own = "name,price,cpu,memory_gib,x.org/fpga\nt,1,4,16,0\nf,3,4,16,1\n"
    yield Case("another device", [node("n0", "t"), pod("x-1", extended={"x.org/fpga": "1"})], own, 3)
    four = node("n0", "t", extended={"nvidia.com/gpu": "4"})
    yield machines("as many as the node has", pods(4, **gpu), 1, UNSIZED, [four])
    yield machines("one more than the node has", pods(5, cpu="100m", **gpu), 2, UNSIZED, [four])
    broken = node("n0", "t", extended={"nvidia.com/gpu": "0"}, capacity={"nvidia.com/gpu": "1"})
    yield machines("one that is broken today", pods(1, **gpu), 1, UNSIZED, [broken])
    disk = "name,price,cpu,memory_gib,ephemeral_gib\nt,1,4,16,10\nu,3,4,16,100\n"
    there = node("n0", "t", extended={"ephemeral-storage": "10Gi"})
    for text, right in (("10Gi", 1), ("11Gi", 3), ("10737418241", 3)):
        yield Case(f"storage {text}", [there, pod("x-1", extended={"ephemeral-storage": text})], disk, right)
    pages = node("n0", "t", extended={"hugepages-2Mi": "1Gi"})
    yield machines("huge pages", pods(3, extended={"hugepages-2Mi": "512Mi"}), 2, UNSIZED, [pages])


def daemon_sets():
    """Four pods of 1 CPU on machines of 4: one, or two where 1 CPU of each is taken."""
    t, team = [node("n0", "t")], {"team": "a"}
    two = [node("n0", "t"), node("n1", "t", labels=team)]
    agents = [daemon("a", name, cpu="1") for name in ("n0", "n1")]
    yield machines("a DaemonSet everywhere", [daemon("a", "n0"), *pods(4)], 2, nodes=t)
    yield machines("on two nodes", [*agents, *pods(4)], 2, nodes=two)
    yield machines("on one of two nodes", [agents[0], *pods(4)], 1, nodes=two)
    yield machines(
        "the least of its pods", [daemon("a", "n0", cpu="3"), daemon("a", "n1", cpu="0"), *pods(4)], 1, nodes=two
    )
    yield machines(
        "of a label that a group need not have",
        [daemon("a", "n1", where=[("team", "In", ["a"])]), *pods(4)],
        1,
        nodes=two[1:],
    )
    yield machines("of a type", [daemon("a", "n0", where=[(TYPE, "In", ["t"])]), *pods(4)], 2, nodes=t)
    there = [node("n0", "t", labels={POOL: "p", **team})]
    for name, labels, taints, right in (
        ("that its NodePool gives", team, [], 2),
        ("that another NodePool gives", {"team": "b"}, [], 1),
        ("and is not kept off", team, [taint()], 2),
    ):
        agent = daemon("a", "n0", where=[("team", "In", ["a"])], tolerations=[EVERY])
        made = [agent, pool("p", taints=taints, labels=labels), *pods(4, tolerations=[EVERY])]
        nodes = [node("n0", "t", labels={POOL: "p", **team})]
        yield machines(f"of a label {name}", made, right, nodes=nodes)
    made = [daemon("a", "n0"), pool("p"), pool("q", taints=[taint()]), *pods(4, tolerations=[EVERY])]
    yield machines("kept off by a taint", made, 1, nodes=there)
    static = pod(
        "proxy-n0",
        "n0",
        owner="Node",
        namespace="kube-system",
        meta={"annotations": {"kubernetes.io/config.mirror": "1"}},
    )
    yield machines("a static pod on every node", [static, pool("p"), *pods(4)], 2, nodes=there)
    yield machines("an agent that ended", [daemon("a", "n0", phase="Failed"), *pods(4)], 1, nodes=t)


def running():
    for key, value in (
        (CAPACITY_TYPE, "spot"),
        ("eks.amazonaws.com/capacityType", "SPOT"),
        ("cloud.google.com/gke-spot", "true"),
        ("kubernetes.azure.com/scalesetpriority", "spot"),
    ):
        yield Case(f"a node of {key}", [node("n0", "t", labels={key: value}), pod("x-1", "n0")], SPOT, 0.3)
    yield Case("a node on demand", [node("n0", "t", labels={CAPACITY_TYPE: "on-demand"}), pod("x-1", "n0")], SPOT, 1)
    yield Case(
        "a node kept that its pool no longer rents",
        [node("n0", "c", labels={POOL: "p"}), pool("p", (TYPE, "In", ["d"])), pod("x-1", "n0"), pod("y-1")],
        TWO,
        1,
    )
    yield Case(
        "and one more",
        [node("n0", "c", labels={POOL: "p"}), pool("p", (TYPE, "In", ["d"])), pod("x-1", "n0", cpu="4"), pod("y-1")],
        TWO,
        4,
    )
    yield machines("more than it has, and nobody is evicted", pods(2, cpu="3", node="n0"), 1)
    yield machines("more than it has, and no place for others", [*pods(2, cpu="3", node="n0"), *pods(1, "y")], 2)
    yield machines(
        "two nodes half full", [pod("x-1", "n0"), pod("y-1", "n1")], 1, nodes=[node("n0", "t"), node("n1", "t")]
    )
    there = node("n0", "c", labels={POOL: "p", "disk": "hdd"})
    yield Case(
        "a label that changed",
        [there, pool("p", (TYPE, "In", ["d"]), labels={"disk": "ssd"}), pod("x-1", "n0", nodeSelector={"disk": "ssd"})],
        TWO,
        1,
    )
    yield Case(
        "a label that changed, for another pod",
        [there, pool("p", (TYPE, "In", ["d"]), labels={"disk": "ssd"}), pod("x-1", nodeSelector={"disk": "ssd"})],
        TWO,
        3,
    )
    yield Case(
        "cordoned",
        [node("n0", "c", labels={POOL: "p"}, unschedulable=True), pool("p", (TYPE, "In", ["d"])), pod("x-1")],
        TWO,
        1,
    )
    yield Case(
        "a dear zone", [node("n0", "t", labels={ZONE: "zb"}), pod("x-1", "n0", nodeSelector={ZONE: "zb"})], ZONES, 1.5
    )
    yield Case("an empty node is given back", [node("n0", "t"), node("n1", "t"), pod("x-1", "n0")], PLAIN, 1)


def rented():
    """The cheapest type that holds a pod, whatever objects are beside it that the pod does not depend on."""
    beside = {
        "nothing": [],
        "a control plane": [node("m", "s", "2", "4Gi", labels={CONTROL: ""}, taints=[taint(CONTROL, "")])],
        "kubectl taint": [node("m", "s", "2", "4Gi", taints=[taint("by-hand", "")])],
        "a system group": [
            node("m", "b", "4", "8Gi", labels={GROUP: "system"}, taints=[taint("CriticalAddonsOnly", "true")])
        ],
        "a labelled group": [node("m", "s", "2", "4Gi", labels={GROUP: "g", "team": "x"})],
        "a NodePool of others": [pool("gpu", (f"{EC2}category", "In", ["p"]), taints=[taint("gpu")])],
        "a NodePool and a control plane": [
            pool("gpu", (TYPE, "In", ["h"]), taints=[taint("gpu")]),
            node("m", "b", "4", "8Gi", labels={CONTROL: ""}, taints=[taint(CONTROL, "")]),
        ],
        "a spot group": [
            node(
                "m",
                "s",
                "2",
                "4Gi",
                labels={"eks.amazonaws.com/capacityType": "ON_DEMAND", GROUP: "spot"},
                taints=[taint("spot", "true")],
            )
        ],
    }
    for name, made in beside.items():
        for cpu, right in (("1", 1), ("2", 1), ("2001m", 1.8), ("4", 1.8), ("5", 3.5)):
            there = node("n0", "h", "8", "16Gi", labels={GROUP: "web"})
            yield Case(f"{name}, {cpu} cpu", [there, *made, pod("x-1", "n0", cpu=cpu)], THREE, right)
    only = node("n0", "h", "8", "16Gi", taints=[taint("by-hand", "")])
    yield Case("the only node has a taint", [only, pod("x-1", "n0")], THREE, 1)
    for operator, values in (("In", ["y"]), ("NotIn", ["x"]), ("Exists", []), ("DoesNotExist", [])):
        there = node("n0", "h", "8", "16Gi", labels={"team": "x"})
        yield Case(
            f"a label of a new group {operator}",
            [there, pod("x-1", affinity=near([("team", operator, values)]))],
            THREE,
            1,
        )
    there = node("n0", "h", "8", "16Gi")
    both = [pod("x-1", nodeSelector={"team": "x"}), pod("y-1", nodeSelector={"team": "y"})]
    yield Case("two labels are two machines", [there, *both], THREE, 2, relaxed=True)
    groups = [node(f"n{n}", "h", "8", "16Gi", labels=has) for n, has in enumerate(({"disk": "ssd"}, {"team": "x"}))]
    both = [pod("x-1", nodeSelector={"disk": "ssd"}), pod("y-1", nodeSelector={"team": "x"})]
    yield Case("labels of two groups on one machine", [*groups, *both], THREE, 1)
    both = [pod("x-1", nodeSelector={"disk": "ssd"}), pod("y-1", affinity=near([("disk", "NotIn", ["hdd"])]))]
    yield Case("a label of a group, and none of another's", [*groups, *both], THREE, 1)
    yield Case("two pods of one label", [there, *pods(2, nodeSelector={"team": "x"})], THREE, 1)


def node_pools():
    prices = (
        "name,price,spot_price,cpu,memory_gib,gpu,arch\nm5.large,1,0.3,2,8,0,amd64\nm5.xlarge,1.8,0.6,4,16,0,amd64\n"
    )
    prices += "g4dn.xlarge,4,,4,16,1,amd64\nr6g.large,1.2,0.2,2,16,0,arm64\n"
    for number, (requirements, right) in enumerate(
        (
            ([(CAPACITY_TYPE, "In", ["spot"])], 0.2),
            ([(CAPACITY_TYPE, "In", ["spot", "on-demand"])], 1),
            ([(CAPACITY_TYPE, "In", ["on-demand"])], 1),
            ([(CAPACITY_TYPE, "In", ["spot"]), (TYPE, "In", ["m5.large"])], 0.3),
            ([(CAPACITY_TYPE, "In", ["spot"]), (f"{EC2}cpu", "Gt", ["2"])], 0.6),
            ([(f"{EC2}cpu", "Gt", ["3"])], 1.8),
            ([(f"{EC2}cpu", "Lt", ["3"])], 1),
            ([(f"{EC2}cpu", "In", ["4", "8"])], 1.8),
            ([(f"{EC2}memory", "Gt", ["8192"])], 1.2),
            ([(f"{EC2}memory", "Lt", ["8193"])], 1),
            ([(f"{EC2}gpu-count", "Gt", ["0"])], 4),
            ([(f"{EC2}category", "In", ["g", "p"])], 4),
            ([(f"{EC2}category", "In", ["r"])], 1.2),
            ([(f"{EC2}family", "NotIn", ["m5"])], 1.2),
            ([(f"{EC2}generation", "Gt", ["5"])], 1.2),
            ([(f"{EC2}size", "NotIn", ["large"])], 1.8),
            ([(ARCH, "In", ["arm64"])], 1.2),
            ([(TYPE, "NotIn", ["m5.large"])], 1.2),
            ([(TYPE, "Exists", [])], 1),
            ([], 1),
        )
    ):
        there = node("n0", "g4dn.xlarge", labels={POOL: "p"})
        relaxed = any(map(_is_of_memory, requirements))
        made = [there, pool("p", *requirements), pod("x-1")]
        yield Case(f"NodePool {number} {requirements}", made, prices, right, relaxed)
    there = node("n0", "g4dn.xlarge", labels={POOL: "p"})
    for name, pools, right in (
        ("the cheaper of two", [pool("p", (TYPE, "In", ["m5.xlarge"])), pool("q", (TYPE, "In", ["r6g.large"]))], 1.2),
        (
            "whatever its weight",
            [pool("p", (TYPE, "In", ["m5.xlarge"]), weight=90), pool("q", (TYPE, "In", ["r6g.large"]), weight=1)],
            1.2,
        ),
        ("no limits", [pool("p", limits={"cpu": "0"})], 1),
        ("one with a taint", [pool("p", taints=[taint()]), pool("q", (TYPE, "In", ["m5.xlarge"]))], 1.8),
    ):
        yield Case(f"NodePools: {name}", [there, *pools, pod("x-1")], prices, right)
    zonal = pool("p", (ZONE, "In", ["zb"]))
    yield Case("a NodePool's zone", [node("n0", "t", labels={POOL: "p", ZONE: "zb"}), zonal, pod("x-1")], ZONES, 1.5)


def lists():
    four = pods(3, cpu="4")
    for name, prices, right in (
        ("finer than a micro-dollar", "name,price,cpu,memory_gib\nt,0.1234567,4,16\n", 0.370368),
        ("a count", "name,price,cpu,memory_gib,count\nt,3,4,16,\nu,1,4,16,2\n", 5),
        ("a count of enough", "name,price,cpu,memory_gib,count\nt,3,4,16,\nu,1,4,16,9\n", 3),
        ("a count of none", "name,price,cpu,memory_gib,count\nt,3,4,16,\nu,1,4,16,0\n", 9),
        ("a fee", "name,price,cpu,memory_gib,fee\nt,3,4,16,\nu,1,4,16,0.5\n", 4.5),
        ("the order of lines", "name,price,cpu,memory_gib\nu,1,4,16\nt,3,4,16\n", 3),
        ("the cheapest zone", "name,price,cpu,memory_gib,zone\nt,3,4,16,za\nt,2,4,16,zb\n", 6),
        ("a price elsewhere", "name,price,cpu,memory_gib,zone\nt,3,4,16,\nt,2,4,16,zb\n", 6),
        ("spot is not asked for", "name,price,spot_price,cpu,memory_gib\nt,3,1,4,16\n", 9),
        ("a larger machine", "name,price,cpu,memory_gib\nt,3,4,16\nu,5,12,48\n", 5),
        ("too little memory is enough for none", "name,price,cpu,memory_gib\nt,3,4,16\nu,1,3,16\n", 9),
        ("in MiB", "name,price,cpu,ram_mib\nt,3,4,16384\nu,1,4,16384\n", 3),
        ("a limit on pods", "name,price,cpu,memory_gib,pods\nt,9,4,16,\nu,1,99,999,2\n", 2),
    ):
        yield Case(f"list: {name}", [node("n0", "t"), *four], prices, right)


FAMILIES = (tolerations, affinities, types, places, devices, daemon_sets, running, rented, node_pools, lists)
