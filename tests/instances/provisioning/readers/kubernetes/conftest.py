"""A small cluster, written as kubectl prints it: three nodes, 17 pods of every kind that is treated in its own way."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from schedgap.instances.provisioning import kubernetes

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
PRICES = """name,cpu,memory_gib,gpu,price,spot_price,pods,arch
m9z.xlarge,4,16,0,0.2016,0.0806,58,amd64
m9z.2xlarge,8,32,0,0.4032,0.1613,58,amd64
c9z.2xlarge,8,16,0,0.357,0.1428,58,amd64
g9z.xlarge,4,16,1,1.006,0.4024,29,amd64
"""


OFFERED = "name,cpu,memory_gib,price,spot_price,pods,arch\nm,4,16,1,0.4,10,amd64\nl,8,32,1.9,0.9,20,amd64\nr,4,16,0.8,,10,arm64\n"


def requests(cpu=None, memory=None, **more):
    return {"requests": {k: v for k, v in {"cpu": cpu, "memory": memory, **more}.items() if v is not None}}


def pod(
    name,
    node=None,
    owner=None,
    containers=(),
    labels=None,
    phase="Running",
    namespace="shop",
    status=(),
    meta=(),
    **spec,
):
    """owner : (kind, name). containers : what `requests` makes, or whole containers."""
    whole = [each if "resources" in each else {"name": "main", "resources": each} for each in containers]
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}, "ownerReferences": owners, **dict(meta)}
    placed = {"nodeName": node} if node else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": whole, **placed, **spec},
        "status": {"phase": phase, **dict(status)},
    }


def node(name, kind, cpu, memory, pods, labels=None, taints=(), unschedulable=False, **more):
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **more}
    return {
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"node.kubernetes.io/instance-type": kind, HOSTNAME: name, **(labels or {})},
        },
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def apart(labels, key=HOSTNAME, **more):
    """Required anti-affinity to pods of these labels."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key, **more}
    return {"podAntiAffinity": {REQUIRED: [term]}}


def near(*expressions):
    """Required node affinity: one term of (key, operator, values)."""
    terms = [{"matchExpressions": [{"key": k, "operator": o, "values": v} for k, o, v in expressions]}]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def pool(name, *requirements, taints=(), labels=None, **spec):
    wanted = [{"key": k, "operator": o, "values": v} for k, o, v in requirements]
    template = {"metadata": {"labels": labels or {}}, "spec": {"requirements": wanted, "taints": list(taints)}}
    return {"kind": "NodePool", "metadata": {"name": name}, "spec": {"template": template, **spec}}


@pytest.fixture(scope="session")
def k8s():
    """The builders of objects."""
    return SimpleNamespace(
        requests=requests, pod=pod, node=node, apart=apart, near=near, pool=pool, prices=PRICES, offered=OFFERED
    )


@pytest.fixture
def read(tmp_path):
    """Read objects as a cluster: `read(objects, prices=..., **parameters)`."""

    def read(objects, prices=PRICES, **parameters):
        (tmp_path / "cluster.json").write_text(json.dumps({"kind": "List", "items": objects}))
        (tmp_path / "prices.csv").write_text(prices)
        return kubernetes(tmp_path / "cluster.json", catalogue=str(tmp_path / "prices.csv"), **parameters)

    return read


@pytest.fixture(scope="session")
def rentable():
    """Return the instance without what runs, and without the types of which there is a stock."""

    def rentable(cluster):
        kept = np.arange(cluster.num_types) if cluster.stock is None else np.flatnonzero(cluster.stock < 0)
        families = list(dict.fromkeys(cluster.type2family[kept].tolist()))
        return cluster.replace(
            type_names=tuple(cluster.type_names[k] for k in kept),
            type2family=np.array([families.index(f) for f in cluster.type2family[kept].tolist()]),
            families=tuple(cluster.families[f] for f in families),
            capacity=cluster.capacity[kept],
            price=cluster.price[kept],
            demand=cluster.demand[families],
            stock=None,
            running=None,
        )

    return rentable


def daemon(name, on, *resources, **spec):
    """A pod of a DaemonSet, which its controller pins to a node by name."""
    pinned = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [pinned]}}}
    owner = ("DaemonSet", name)
    return pod(f"{name}-{on}", on, owner, resources, namespace="kube-system", affinity=affinity, **spec)


@pytest.fixture(scope="session")
def sample():
    """Nodes A (m9z.xlarge), B (c9z.2xlarge, spot), C (g9z.xlarge, tainted), and their pods, one of them pending."""
    any_taint, gpu_taint = (
        {"operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    )
    spread = [
        {"topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1},
        {"topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1},
    ]
    web = {"labels": {"app": "web", "pod-template-hash": "66f5"}, "affinity": apart({"app": "web"})}
    web_size = (requests("500m", "512Mi"),)
    dns = {"namespace": "kube-system", "topologySpreadConstraints": spread}
    sizes = (requests("750m", "700Mi"), requests("50m", "100M"))
    mesh = {"name": "mesh", "restartPolicy": "Always", "resources": requests("100m", "128Mi")}
    initial = [
        {"name": "migrate", "resources": requests("2", "256Mi")},
        mesh,
        {"name": "warm", "resources": requests("1500m", "1Gi")},
    ]
    port = {"name": "cache", "resources": requests("1", "1536Mi"), "ports": [{"containerPort": 6379, "hostPort": 6379}]}
    linux = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    general, gpu = linux | {"karpenter.sh/nodepool": "general"}, linux | {"karpenter.sh/nodepool": "gpu"}
    tainted = [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
    agent = requests("50m", "64Mi")
    return [
        *(daemon("node-agent", name, agent, tolerations=[any_taint]) for name in "abc"),
        daemon(
            "gpu-plugin",
            "c",
            requests("10m", "20Mi"),
            tolerations=[gpu_taint],
            nodeSelector={"nvidia.com/gpu.product": "NVIDIA-Z9"},
        ),
        pod(
            "kube-proxy-a",
            "a",
            ("Node", "a"),
            (requests("100m"),),
            meta={"annotations": {"kubernetes.io/config.mirror": "0"}},
        ),
        pod("coredns-7c9d-1", "a", ("ReplicaSet", "coredns-7c9d"), (requests("100m", "70Mi"),), **dns),
        pod("coredns-7c9d-2", "b", ("ReplicaSet", "coredns-7c9d"), (requests("100m", "70Mi"),), **dns),
        pod("web-66f5-1", "a", ("ReplicaSet", "web-66f5"), web_size, **web),
        pod("web-66f5-2", "b", ("ReplicaSet", "web-66f5"), web_size, **web),
        pod("web-66f5-3", None, ("ReplicaSet", "web-66f5"), web_size, phase="Pending", **web),
        pod("web-66f5-0", "a", ("ReplicaSet", "web-66f5"), web_size, phase="Failed", **web),
        pod("api-5b8b-1", "b", ("ReplicaSet", "api-5b8b"), sizes, initContainers=initial),
        pod(
            "cache-0",
            "a",
            ("StatefulSet", "cache"),
            (port,),
            overhead={"cpu": "250m", "memory": "160Mi"},
            affinity=near((ZONE, "In", ["zone-1"])),
            volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-cache-0"}}],
        ),
        pod("debug", "a", None, ({},), tolerations=[any_taint]),
        pod("report-x7", "b", ("Job", "report"), (requests("1", "1Gi"),), phase="Succeeded", namespace="batch"),
        pod(
            "sim-q9",
            "b",
            ("Job", "sim"),
            (requests("1.5", "2G"),),
            namespace="batch",
            nodeSelector={"kubernetes.io/arch": "amd64"},
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}],
        ),
        pod(
            "train-0",
            "c",
            ("Job", "train"),
            (requests("3", "10Gi", **{"nvidia.com/gpu": "1"}),),
            namespace="ml",
            tolerations=[gpu_taint],
            meta={"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        ),
        node("a", "m9z.xlarge", "3920m", "15225512Ki", "58", general | {ZONE: "zone-1"}),
        node(
            "b",
            "c9z.2xlarge",
            "7910m",
            "14986240Ki",
            "58",
            general | {ZONE: "zone-2", "karpenter.sh/capacity-type": "spot"},
        ),
        node(
            "c",
            "g9z.xlarge",
            "3920m",
            "15225000Ki",
            "29",
            gpu | {ZONE: "zone-1", "nvidia.com/gpu.product": "NVIDIA-Z9"},
            tainted,
            **{"nvidia.com/gpu": "1"},
        ),
        pool(
            "general",
            ("kubernetes.io/arch", "In", ["amd64"]),
            ("karpenter.sh/capacity-type", "In", ["on-demand", "spot"]),
            ("node.kubernetes.io/instance-type", "In", ["m9z.xlarge", "m9z.2xlarge", "c9z.2xlarge"]),
            limits={"cpu": "100"},
            weight=10,
        ),
        pool(
            "gpu",
            ("karpenter.sh/capacity-type", "In", ["on-demand"]),
            ("node.kubernetes.io/instance-type", "In", ["g9z.xlarge"]),
            taints=tainted,
        ),
    ]


@pytest.fixture
def one(k8s):
    """A pod `name` with constraints."""

    def one(name, node=None, cpu="1", **spec):
        return k8s.pod(name, node, ("StatefulSet", name), (k8s.requests(cpu, "1Gi"),), **spec)

    return one


@pytest.fixture
def allowed(read):
    """Types that each class may be on: {class: [types]}."""

    def allowed(objects, prices=OFFERED, **parameters):
        cluster = read(objects, prices, **parameters)
        may = cluster.demand[:, :, 0] >= 0
        kinds = enumerate(cluster.type_names)
        named = [(name, int(cluster.type2family[k])) for k, name in kinds]
        return {cluster.class_name(c): [n for n, f in named if may[f, c]] for c in range(cluster.num_classes)}, cluster

    return allowed


@pytest.fixture(scope="session")
def optimum():
    """Return the least price of machines that hold all tasks, in micro-dollars, by trying everything; None if there is none."""
    return _optimum


def _optimum(cluster):
    tasks = [c for c, number in enumerate(cluster.counts.tolist()) for _ in range(number)]
    stock = [-1] * cluster.num_types if cluster.stock is None else cluster.stock.tolist()
    places = {}

    def types(content):
        """The types that hold classes together: of which there are any number the cheapest, of others all that are cheaper."""
        if content not in places:
            asked = cluster.demand[cluster.type2family][:, content]
            fits = (asked >= 0).all(axis=(1, 2)) & (asked.sum(axis=1) <= cluster.capacity).all(axis=1)
            if cluster.per_machine is not None:
                most = cluster.per_machine.tolist()
                fits &= all(most[c] < 0 or content.count(c) <= most[c] for c in content)
            held = sorted((int(cluster.price[k]), k) for k in np.flatnonzero(fits).tolist())
            free = next((n for n, (_, k) in enumerate(held) if stock[k] < 0), len(held))
            places[content] = held[: free + 1]
        return places[content]

    def rent(contents, used):
        if not contents:
            return 0
        costs = []
        for price, k in types(contents[0]):
            if stock[k] < 0 or used.count(k) < stock[k]:
                rest = rent(contents[1:], (*used, k))
                costs += [] if rest is None else [price + rest]
        return min(costs, default=None)

    def split(left, contents):
        if not left:
            yield contents
            return
        for n, content in enumerate((*contents, ())):
            if types(more := (*content, left[0])):
                yield from split(left[1:], (*contents[:n], more, *contents[n + 1 :]))

    return min((cost for contents in split(tasks, ()) if (cost := rent(contents, ())) is not None), default=None)
