"""Writes an invented GPU cluster into this directory: `gpu-cluster.json`, as kubectl prints it.

Six nodes of 8 GPUs and two without, full of odd mixes; five pods of 4 and 8 GPUs wait.
"""

import json
from pathlib import Path

# GPUs of the pods on each node, and the cores of each.
TRAINING = [
    [(4, 24), (1, 16), (1, 8)],
    [(4, 24), (1, 16), (1, 16)],
    [(2, 40), (2, 40), (1, 24)],
    [(2, 24), (1, 40), (1, 40)],
    [(1, 8)] * 7,
    [(8, 64)],
]
WAITING = [(8, 64), (4, 32), (4, 32), (4, 32), (2, 16)]
GPU = "nvidia.com/gpu"


def node(name: str, cores: int, gib: int, gpus: int) -> dict:
    """Return a node; those with GPUs are for pods that tolerate it."""
    allocatable = {"cpu": str(cores), "memory": f"{gib}Gi", "pods": "110", **({GPU: str(gpus)} if gpus else {})}
    labels = {"nvidia.com/gpu.product": "A100"} if gpus else {}
    taints = [{"key": GPU, "effect": "NoSchedule"}] if gpus else []
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": allocatable},
    }


def pod(name: str, on: str, cores: int, gib: int, gpus: int) -> dict:
    """Return a pod of a job, which runs on a node, or waits."""
    requests = {"cpu": str(cores), "memory": f"{gib}Gi", **({GPU: str(gpus)} if gpus else {})}
    spec = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    spec["tolerations"] = [{"key": GPU, "operator": "Exists"}] if gpus else []
    owner = {"kind": "Job", "name": name, "controller": True}
    return {
        "kind": "Pod",
        "metadata": {"namespace": "ml", "name": name, "ownerReferences": [owner]},
        "spec": spec | ({"nodeName": on} if on else {}),
        "status": {"phase": "Running" if on else "Pending"},
    }


items = []
for n, pods in enumerate(TRAINING):
    items.append(node(f"gpu-{n}", 126, 1000, 8))
    items += [pod(f"train-{n}-{k}", f"gpu-{n}", cores, 60 * gpus, gpus) for k, (gpus, cores) in enumerate(pods)]
for n in range(2):
    items.append(node(f"cpu-{n}", 62, 240, 0))
    items += [pod(f"web-{n}-{k}", f"cpu-{n}", 6, 24, 0) for k in range(4)]
items += [pod(f"big-{k}", "", cores, 60 * gpus, gpus) for k, (gpus, cores) in enumerate(WAITING)]
Path("gpu-cluster.json").write_text(json.dumps({"kind": "List", "items": items}, indent=1))
