"""Machines of generated clusters: types, groups of nodes, what runs on each node, and who provides them all.

Kubernetes' objects as kubectl prints them: what the API server fills in stands there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = dict[str, Any]
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CREATED = "2026-03-02T07:14:09Z"
# When a cluster is looked at: nothing has come or gone for a while.
NOW = "2026-03-02T08:14:09Z"
# What the API server adds to every pod, and the controller to those of a DaemonSet.
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
STAYS = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in (NOT_READY, UNREACHABLE)
]
DAEMON_STAYS = [
    *({"key": key, "operator": "Exists", "effect": "NoExecute"} for key in (NOT_READY, UNREACHABLE)),
    *(
        {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": "NoSchedule"}
        for name in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
]
API_VERSIONS = {"Node": "v1", "Job": "batch/v1"}


def metadata(name: str, namespace: str, digits: str, labels: Mapping[str, str] | None = None) -> Json:
    """Return what every object has. digits : random ones of its own."""
    made: Json = {"creationTimestamp": CREATED, "name": name, "resourceVersion": str(int(digits, 16) % 10**9)}
    made["uid"] = f"{digits[:8]}-{digits[8:12]}-4{digits[1:4]}-9{digits[5:8]}-{digits:0>12.12}"
    made |= {"namespace": namespace} if namespace else {}
    return made | ({"labels": dict(labels)} if labels else {})


def owned(meta: Json, kind: str, name: str) -> Json:
    """Return metadata with the controller that an object belongs to."""
    version = API_VERSIONS.get(kind, "kubeflow.org/v1" if kind == "PyTorchJob" else "apps/v1")
    owner = {"apiVersion": version, "kind": kind, "name": name, "controller": True, "uid": f"{name}-uid"}
    return meta | {"ownerReferences": [owner | {"blockOwnerDeletion": kind != "Node"}]}


def container(name: str, requests: Mapping[str, str], **more: Any) -> Json:
    """Return a container; devices are limits, too, as the API server insists."""
    devices = {key: value for key, value in requests.items() if "/" in key}
    resources: Json = {"requests": dict(requests)} if requests else {}
    resources |= {"limits": devices} if devices else {}
    image = {"image": f"registry.example/{name}:1.7.2", "imagePullPolicy": "IfNotPresent"}
    return {"name": name, **image, "resources": resources, "terminationMessagePolicy": "File", **more}


def token_volume(end: str) -> Json:
    """Return the volume of a pod's token, which the API server adds to every pod."""
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    sources = [token, {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]
    return {"name": f"kube-api-access-{end}", "projected": {"defaultMode": 420, "sources": sources}}


def pod(meta: Json, spec: Json, node: str, phase: str, message: str = "") -> Json:
    """Return a pod on a node, or on none (`""`). message : of the scheduler, why it is on none."""
    defaults: Json = {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"}
    defaults |= {"serviceAccountName": "default", "terminationGracePeriodSeconds": 30, "enableServiceLinks": True}
    scheduled: Json = {"type": "PodScheduled", "status": "True" if node else "False"}
    if message:
        scheduled |= {"reason": "Unschedulable", "message": message}
    status: Json = {"phase": phase, "qosClass": "Burstable", "conditions": [scheduled]}
    if phase == "Running":
        status["containerStatuses"] = [
            {"name": each["name"], "ready": True, "restartCount": 0, "resources": each["resources"]}
            for each in spec["containers"]
        ]
        status |= {"startTime": CREATED}
    placed = {"nodeName": node} if node else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": defaults | spec | placed, "status": status}


def node(meta: Json, spec: Json, capacity: Mapping[str, str], allocatable: Mapping[str, str]) -> Json:
    """Return a node that is ready."""
    conditions = [{"type": name, "status": "False"} for name in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    info = {"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.33.4"}
    status: Json = {"capacity": capacity, "allocatable": allocatable, "nodeInfo": info}
    status["conditions"] = [*conditions, {"type": "Ready", "status": "True", "reason": "KubeletReady"}]
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def claim_and_volume(meta: Json, volume: Json, driver: str, reach: tuple[str, str]) -> list[Json]:
    """Return a PersistentVolumeClaim and its volume. reach : label and value of the nodes that reach it, '' for all."""
    common = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", "storageClassName": "fast"}
    claim = {"spec": common | {"volumeName": volume["name"], "resources": {"requests": {"storage": "50Gi"}}}}
    source: Json = (
        {"local": {"path": "/data/0"}} if driver == "local" else {"csi": {"driver": driver, "volumeHandle": "v"}}
    )
    claimed = {"kind": "PersistentVolumeClaim", "namespace": meta["namespace"], "name": meta["name"]}
    spec: Json = common | source | {"capacity": {"storage": "50Gi"}, "claimRef": claimed}
    if reach[0]:
        terms = [{"matchExpressions": [{"key": reach[0], "operator": "In", "values": [reach[1]]}]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    bound = {"apiVersion": "v1", "status": {"phase": "Bound"}}
    return [
        bound | {"kind": "PersistentVolumeClaim", "metadata": meta, **claim},
        bound | {"kind": "PersistentVolume", "metadata": volume, "spec": spec},
    ]


def budget(meta: Json, app: str) -> Json:
    """Return a PodDisruptionBudget: one pod of an application may be away at a time."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": app}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def nodepool(meta: Json, requirements: Mapping[str, tuple[str, ...]], spec: Json) -> Json:
    """Return Karpenter's NodePool. requirements : values of each label, the first the operator. spec : more of the template's."""
    asked = [{"key": key, "operator": first, "values": rest} for key, (first, *rest) in requirements.items()]
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    template = {"spec": {"requirements": asked, "nodeClassRef": reference, "expireAfter": "720h"} | spec}
    rules = {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m", "budgets": [{"nodes": "10%"}]}
    content = {"template": template, "disruption": rules, "limits": {"cpu": "2000"}, "weight": 10}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta, "spec": content}


def write_list(items: Iterable[Json], path: Path) -> None:
    """Write a List as kubectl prints it: keys in order, indented by four, an object at a time. O(size)."""
    encoder = msgspec.json.Encoder(order="sorted")
    with path.open("wb") as file:
        file.write(b'{\n    "apiVersion": "v1",\n    "items": [')
        for number, item in enumerate(items):
            text = msgspec.json.format(encoder.encode(item), indent=4).replace(b"\n", b"\n        ")
            file.write(b"," * (number > 0) + b"\n        " + text)
        file.write(b'\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


KIB_GIB = 2**20
# Name of a size, vCPU, most pods by EKS' network plug-in.
EC2_SIZES = (("large", 2, 29), ("xlarge", 4, 58), ("2xlarge", 8, 58), ("4xlarge", 16, 234), ("8xlarge", 32, 234))
SIZES = (2, 4, 8, 16, 32)
MOST_PODS = 110
SPOT_PERCENT = (31, 45)


@dataclass(frozen=True, slots=True)
class MachineType:
    """What can be rented. micro : micro-dollars an hour; spot : the same of spare capacity, 0 for none. most_pods : or 0."""

    name: str
    vcpu: int
    gib: int
    most_pods: int
    micro: int
    spot: int = 0
    gpus: int = 0
    product: str = ""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes of one kind. types : names of machine types, of which each node has one. share : of all nodes.

    audience : which workloads run there. labels : by people. taint : key, value, effect. load : share of what is allocatable
    that is asked for.
    """

    name: str
    types: tuple[str, ...]
    share: float
    audience: str = "general"
    spot: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    taint: tuple[str, str, str] | None = None
    load: float = 0.5


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet, or (`static`) static pods. selector : labels of the nodes that it runs on. port : of the host, or 0."""

    namespace: str
    name: str
    requests: Mapping[str, str]
    static: bool = False
    selector: Mapping[str, str] = field(default_factory=dict)
    port: int = 0


@dataclass(frozen=True, slots=True)
class Provider:
    """Who runs the nodes.

    labels : of a group's node of a type. node_name : of number, hash and group. reserved : milli-CPU and KiB that pods cannot
    have of a type. disk_zone : the label by which volumes name zones. provider_id : by zone and hash.
    """

    zones: tuple[str, ...]
    labels: Callable[[NodeGroup, MachineType], dict[str, str]]
    node_name: Callable[[int, str, str], str]
    reserved: Callable[[MachineType], tuple[int, int]]
    types: tuple[MachineType, ...]
    daemons: tuple[Daemon, ...]
    region: str = ""
    disk_zone: str = ""
    driver: str = ""
    provider_id: str = ""
    has_type_label: bool = True


def reserved_by_cores(vcpu: int) -> int:
    """Return milli-CPU: 6% of the first core, 1% of the second, 0.5% of the next two, 0.25% of others (EKS and GKE)."""
    return 70 + 5 * min(max(vcpu - 2, 0), 2) + 5 * max(vcpu - 4, 0) // 2


def reserved_by_memory(gib: int) -> int:
    """Return KiB: 25% of the first 4 GiB, 20% of the next 4, 10% of the next 8, 6% of the next 112, 2% of others (GKE)."""
    steps = ((4, 25), (4, 20), (8, 10), (112, 6), (10**6, 2))
    total, left = 0, gib
    for size, percent in steps:
        total += min(left, size) * KIB_GIB * percent // 100
        left -= min(left, size)
    return total


def series(form: str, gib: int, micro: int) -> tuple[MachineType, ...]:
    """Return the sizes of a series with so many GiB and micro-dollars for each vCPU. form : of the names."""
    if form.endswith("."):
        sizes = [(form + name, vcpu, pods) for name, vcpu, pods in EC2_SIZES]
    else:
        sizes = [(form.format(vcpu), vcpu, MOST_PODS) for vcpu in SIZES]
    span = SPOT_PERCENT[1] - SPOT_PERCENT[0]
    return tuple(
        MachineType(name, n, n * gib, pods, n * micro, n * micro * (SPOT_PERCENT[0] + (7 * n + gib) % span) // 100)
        for name, n, pods in sizes
    )


def node_taints(group: NodeGroup) -> list[Json]:
    """Return a group's taints, as a node has them."""
    if group.taint is None:
        return []
    key, value, effect = group.taint
    return [{"key": key, "effect": effect} | ({"value": value} if value else {})]
