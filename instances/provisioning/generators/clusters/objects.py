"""Kubernetes' objects as kubectl prints them: what the API server fills in stands there, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

Json: TypeAlias = dict[str, Any]
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CREATED = "2026-03-02T07:14:09Z"
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
