"""Clusters that exercise one rule of what pods ask for, each with the least price worked out by hand."""

from __future__ import annotations

from cases import PLAIN, UNSIZED, Case, machines
from clusters import (
    HOSTNAME,
    apart,
    asks,
    container,
    daemon,
    node,
    pod,
    pods,
)


def each_alone(made):
    """Return pods that run on a node of type t each."""
    nodes = [node(f"n{n}", "t") for n in range(len(made))]
    for n, one in enumerate(made):
        one["spec"]["nodeName"], one["status"]["phase"] = f"n{n}", "Running"
    return [*nodes, *made]


def shares(number, size, asked):
    """How many machines of a size a number of equal pods fill."""
    return -(-number // (size // asked)) if asked else 1


def quantities():
    """5 pods on machines of 4 CPU and 16 GiB: the thousandths and bytes that each text means are written beside it."""
    for text, asked in (
        *(("1", 1000), ("1000m", 1000), ("0.5", 500), (".5", 500), ("500m", 500), ("1e0", 1000), ("1E0", 1000)),
        *(("15e-1", 1500), ("2", 2000), ("1.3334", 1334), ("1333.4m", 1334), ("1333m", 1333), ("1333300u", 1334)),
        *(("1333000u", 1333), ("1333000000n", 1333), ("1333000001n", 1334), ("0.002k", 2000), ("0", 0), ("0.1", 100)),
        *(("4", 4000), ("3.999", 3999), ("2001m", 2001), ("2.", 2000)),
    ):
        yield machines(f"cpu {text}", pods(5, cpu=text), shares(5, 4000, asked))
    for text, asked in (
        *(("8Gi", 2**33), ("8192Mi", 2**33), ("8388608Ki", 2**33), ("8589934592", 2**33), ("8589934593", 2**33 + 1)),
        *(
            ("8.5Gi", 17 * 2**29),
            ("8G", 8 * 10**9),
            ("8600M", 8_600_000_000),
            ("8589M", 8_589_000_000),
            ("8e9", 8 * 10**9),
        ),
        *(("8.59e9", 8_590_000_000), ("5Gi", 5 * 2**30), ("5.34Gi", 5_733_781_341), ("5.333Gi", 5_726_265_147)),
        # A fifth of 16 GiB is no whole number of bytes, and is rounded up: five of them are a byte too many.
        *(("4Gi", 2**32), ("3.2Gi", 3_435_973_837), ("3.2G", 3_200_000_000), ("0.008Ti", 8_796_093_023)),
        *(("8000000000000m", 8 * 10**9), ("100m", 1), ("16Gi", 2**34), ("17179869184", 2**34), ("0.5Gi", 2**29)),
    ):
        yield machines(f"memory {text}", pods(5, cpu=None, memory=text), shares(5, 2**34, asked))


def allocatable():
    """4 pods of 1 CPU or 4 GiB on machines as large as the node says, of which so many pods are on one."""
    for text, on_one in (
        ("4", 4),
        ("3920m", 3),
        ("3.92", 3),
        ("2", 2),
        ("1999m", 1),
        ("1", 1),
        ("4000m", 4),
        ("1930m", 1),
    ):
        yield machines(f"node of {text} cpu", pods(4), -(-4 // on_one), UNSIZED, [node("n0", "t", text)])
    for text, on_one in (
        ("16Gi", 4),
        ("15Gi", 3),
        ("16777215Ki", 3),
        ("17179869184", 4),
        ("8Gi", 2),
        ("7.9Gi", 1),
        ("16G", 3),
    ):
        nodes = [node("n0", "t", "9", text)]
        yield machines(f"node of {text}", pods(4, cpu="1m", memory="4Gi"), -(-4 // on_one), UNSIZED, nodes)
    for slots, on_one in ((1, 1), (2, 2), (3, 3), (4, 4), (8, 8), (110, 8)):
        yield machines(
            f"{slots} slots", pods(8, cpu=None), -(-8 // on_one), UNSIZED, [node("n0", "t", slots=str(slots))]
        )
    full = node("n0", "t", slots="3")
    yield machines("slot of a DaemonSet", [daemon("a", "n0", cpu=None), *pods(4, cpu=None)], 2, UNSIZED, [full])
    lacking = node("n0", "t", "2")
    del lacking["status"]["allocatable"]
    yield machines("capacity where allocatable is missing", pods(4), 2, UNSIZED, [lacking])


def parts_of_a_pod():
    """5 pods of 500m: i asks 1 CPU and I 2 CPU before, s 300m beside; what a pod asks for is written beside the order."""
    kinds = {"i": container("1"), "I": container("2"), "s": container("300m", policy="Always")}
    for order, asked in (
        *(("i", 1000), ("I", 2000), ("s", 800), ("ss", 1100), ("is", 1000), ("si", 1300), ("sI", 2300), ("Is", 2000)),
        *(
            ("sIs", 2300),
            ("ssi", 1600),
            ("iI", 2000),
            ("sis", 1300),
            ("ii", 1000),
            ("sss", 1400),
            ("sssi", 1900),
            ("isI", 2300),
        ),
    ):
        first = [{**kinds[kind], "name": f"{kind}{n}"} for n, kind in enumerate(order)]
        yield machines(f"initial {order}", pods(5, cpu="500m", initContainers=first), shares(5, 4000, asked))
    for name, spec, asked in (
        ("overhead 250m", {"overhead": {"cpu": "250m"}}, 1250),
        ("overhead 1", {"overhead": {"cpu": "1"}}, 2000),
        ("no overhead", {"overhead": {"cpu": "0"}}, 1000),
        ("overhead of memory, 2 a machine", {"overhead": {"memory": "8Gi"}}, 2000),
        ("the pod's own 2", {"resources": asks("2")}, 2000),
        ("the pod's own 500m", {"resources": asks("500m")}, 500),
        ("the pod's own memory, 2 a machine", {"resources": asks(None, "8Gi")}, 2000),
        ("the pod's own and overhead", {"resources": asks("2"), "overhead": {"cpu": "500m"}}, 2500),
        ("the pod's own over initial", {"resources": asks("100m"), "initContainers": [container("3", name="i")]}, 100),
        ("the pod's own of nothing", {"resources": {}}, 1000),
        ("two containers", {"containers": [container("1"), container("1", name="d")]}, 2000),
        (
            "a limit alone is a request by the API",
            {"containers": [{"name": "c", "resources": asks("1") | {"limits": {"cpu": "3"}}}]},
            1000,
        ),
        ("ephemeral containers ask nothing", {"ephemeralContainers": [container("3", name="e")]}, 1000),
    ):
        yield machines(name, pods(5, **spec), shares(5, 4000, asked))


def resizes():
    """5 pods on a node each, that ask for one amount and have another: the larger counts, or what they have if it cannot be."""
    pending = {"type": "PodResizePending", "status": "True"}
    old = [({"resize": word}, word == "Infeasible") for word in ("Infeasible", "InProgress", "Deferred", "Proposed")]
    new = [({"conditions": [{**pending, "reason": word}]}, word == "Infeasible") for word in ("Infeasible", "Deferred")]
    for status, infeasible in [*old, *new, ({}, False)]:
        for wanted, has in (("3", "1"), ("1", "2")):
            for key in ("resources", "allocatedResources", "both"):
                held = {"resources": asks(has), "allocatedResources": {"cpu": has}}
                one = {"name": "c", **(held if key == "both" else {key: held[key]})}
                made = pods(5, cpu=wanted, status={**status, "containerStatuses": [one]})
                asked = 1000 * (int(has) if infeasible else max(int(wanted), int(has)))
                yield Case(f"resize {status} {wanted} {has} {key}", each_alone(made), PLAIN, shares(5, 4000, asked))
    other = pods(5, status={"containerStatuses": [{"name": "other", "resources": asks("3")}]})
    yield Case("a status of no container", each_alone(other), PLAIN, 2)
    side = [container("300m", name="s", policy="Always")]
    status = {"initContainerStatuses": [{"name": "s", "resources": asks("1300m")}]}
    yield Case("a sidecar's resize", each_alone(pods(5, initContainers=side, status=status)), PLAIN, 5)


def exclusions():
    """Pods of 100m: a and b of their own labels, so that all of them fit one machine, but for what they exclude."""
    a, b, lab = {"labels": {"app": "a"}}, {"labels": {"app": "b"}}, {"labels": {"app": "a"}, "namespace": "lab"}

    def some(number, prefix, **more):
        return pods(number, prefix, cpu="100m", **more)

    own = {"affinity": apart({"app": "a"})}
    yield machines("no term", some(3, "a", **a), 1)
    for number in (1, 2, 3, 4, 5):
        yield machines(f"{number} that exclude each other", some(number, "a", **a, **own) + some(2, "b", **b), number)
    for name, term, right, relaxed in (
        ("in", apart(expressions=[("app", "In", ["a"])]), 3, False),
        ("not in", apart(expressions=[("app", "NotIn", ["a"])]), 2, True),
        ("exists", apart(expressions=[("app", "Exists", [])]), 4, False),
        ("does not exist", apart(expressions=[("app", "DoesNotExist", [])]), 1, False),
        ("all", apart(), 4, False),
        ("in both", apart(expressions=[("app", "In", ["a", "b"])]), 4, False),
        ("others", apart({"app": "b"}), 2, True),
        ("another label too", apart({"app": "a", "tier": "x"}), 1, False),
        ("nobody", apart({"app": "z"}), 1, False),
    ):
        yield machines(f"term {name}", some(3, "a", **a, affinity=term) + some(3, "b", **b), right, relaxed=relaxed)
    unset = apart({"app": "a"})
    del unset["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"]
    yield machines("no selector selects none", some(3, "a", **a, affinity=unset), 1)
    for name, more, right, relaxed in (
        ("own namespace", {}, 3, False),
        ("both namespaces", {"namespaces": ["shop", "lab"]}, 4, False),
        ("the other namespace", {"namespaces": ["lab"]}, 2, True),
        ("every namespace", {"namespaceSelector": {}}, 4, False),
    ):
        term = {"affinity": apart({"app": "a"}, **more)}
        yield machines(name, some(3, "a", **a, **term) + some(3, "l", **lab), right, relaxed=relaxed)
    mutual = some(2, "a", **a, affinity=apart({"app": "b"})) + some(2, "b", **b, affinity=apart({"app": "a"}))
    yield machines("two that exclude each other", mutual, 2, relaxed=True)
    both = {"affinity": apart(expressions=[("app", "In", ["a", "b"])])}
    yield machines("one term of two owners", some(2, "a", **a, **both) + some(2, "b", **b, **both), 4)
    hashed = [
        pod(f"a-{n}", cpu="100m", labels={"app": "a", "hash": h}, affinity=apart({"app": "a"}, matchLabelKeys=["hash"]))
        for n, h in enumerate("112")
    ]
    yield machines("of one hash", hashed, 2, relaxed=True)
    yield machines(
        "two terms, of two labels",
        [
            pod("x-1", cpu="100m", labels={"app": "x", "t": "1"}, affinity=apart({"t": "1"})),
            pod("y-1", cpu="100m", labels={"app": "y", "t": "1"}),
            pod("z-1", cpu="100m", labels={"app": "z", "t": "2"}, affinity=apart({"t": "2"})),
        ],
        2,
    )
    yield machines("who is there may stay", pods(2, "a", cpu="100m", node="n0", **a, **own), 1)
    soft = {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "podAffinityTerm": {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "a"}}},
                }
            ]
        }
    }
    yield machines("a preference to be apart", some(3, "a", **a, affinity=soft), 1)
    spread = [
        {
            "topologyKey": HOSTNAME,
            "maxSkew": 1,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
    ]
    yield machines("a spread that is no must", some(3, "a", **a, topologySpreadConstraints=spread), 1)


def ports():
    def with_ports(*each, **more):
        return [pod(f"p-{n}", containers=[container("100m", ports=list(one))], **more) for n, one in enumerate(each)]

    def port(number, **more):
        return {"containerPort": number, "hostPort": number, **more}

    first, second = {"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}
    for name, each, right, relaxed in (
        ("three of one port", [[port(80)]] * 3, 3, False),
        ("three ports", [[port(80)], [port(81)], [port(82)]], 1, False),
        ("two protocols", [[port(80)], [port(80, protocol="UDP")]], 1, False),
        ("one protocol said", [[port(80)], [port(80, protocol="TCP")]], 2, False),
        ("three protocols", [[port(80)], [port(80, protocol="UDP")], [port(80, protocol="SCTP")]], 1, False),
        ("none of the host", [[{"containerPort": 80}]] * 3, 1, False),
        ("two addresses", [[port(80, **first)], [port(80, **second)]], 1, False),
        ("one address", [[port(80, **first)]] * 2, 2, True),
        ("an address and all", [[port(80, **first)], [port(80)]], 2, True),
        ("every address", [[port(80, hostIP="0.0.0.0")], [port(80)]], 2, False),
        ("two ports each", [[port(80), port(81)]] * 3, 3, False),
        ("one alone, two together", [[port(80), port(81)], [port(80)], [port(81)]], 2, False),
        (
            "another number inside",
            [[{"containerPort": 1, "hostPort": 80}], [{"containerPort": 2, "hostPort": 80}]],
            2,
            False,
        ),
    ):
        yield machines(f"ports: {name}", with_ports(*each), right, relaxed=relaxed)
    yield machines("the host's network", with_ports(*[[{"containerPort": 80}]] * 3, hostNetwork=True), 3)
    sidecar = {"initContainers": [container(name="s", ports=[port(80)], policy="Always")]}
    yield machines("a sidecar's port", pods(3, cpu="100m", **sidecar), 3)
    before = {"initContainers": [container(name="s", ports=[port(80)])]}
    yield machines("a port of what ended", pods(3, cpu="100m", **before), 1)
    agent = daemon("a", "n0", containers=[container("100m", ports=[port(81)])])
    yield machines("a DaemonSet's other port", [agent, *with_ports([port(80)], [port(80)])], 2)


def left_out():
    """Two pods that fill a machine each, and a third."""
    for name, more, counts in (
        ("succeeded", {"node": "n0", "phase": "Succeeded"}, False),
        ("failed", {"node": "n0", "phase": "Failed"}, False),
        ("gated", {"schedulingGates": [{"name": "g"}]}, False),
        ("terminating", {"node": "n0", "meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
        ("gone while pending", {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
        ("pending", {}, True),
        ("bound", {"node": "n1", "phase": "Pending"}, True),
        ("unknown", {"node": "n1", "phase": "Unknown"}, True),
        ("of a Job", {"node": "n1", "owner": "Job"}, True),
        ("of a StatefulSet", {"node": "n1", "owner": "StatefulSet"}, True),
        ("of nobody", {"node": "n1", "owner": None}, True),
        ("gated once", {"node": "n1", "schedulingGates": []}, True),
        ("of the lowest priority", {"node": "n1", "priority": -10}, True),
    ):
        nodes = [node("n0", "t"), node("n1", "t"), node("n2", "t")]
        yield machines(
            f"a pod {name}", [*pods(2, cpu="4"), pod("y-1", cpu="4", **more)], 3 if counts else 2, nodes=nodes
        )


FAMILIES = (quantities, allocatable, parts_of_a_pod, resizes, exclusions, ports, left_out)
