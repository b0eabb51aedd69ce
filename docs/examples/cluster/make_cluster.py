"""Writes an invented cluster into this directory, and a price list, `prices.csv`.

The cluster is in three files as kubectl prints them: `cluster.json`, and `nodepools.json` and `volumes.json` without objects.
`make_cluster.py KIND FOLDER [NODES]` writes a larger one, of a kind such as `eks` or `gke`, into a folder.
"""

import json
import sys
from pathlib import Path

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import write_cluster

# EC2's sizes, and its on-demand prices of us-east-1.
TYPES = {
    "c6i.xlarge": (4, 8, "0.17"),
    "c6i.2xlarge": (8, 16, "0.34"),
    "m6i.xlarge": (4, 16, "0.192"),
    "m6i.2xlarge": (8, 32, "0.384"),
    "r6i.large": (2, 16, "0.126"),
    "r6i.xlarge": (4, 32, "0.252"),
}
RUNNING = ["m6i.2xlarge"] * 7 + ["c6i.2xlarge"] * 3 + ["r6i.xlarge"] * 2
# Of each owner: how many pods, milli-CPU, MiB, and which rule its pods have.
PODS = {
    "web": (12, 500, 1024, "spread"),
    "api": (8, 1000, 2048, ""),
    "search": (3, 2000, 12288, ""),
    "db": (3, 1500, 10240, "apart"),
    "batch": (5, 3000, 4096, ""),
}
HOST = "kubernetes.io/hostname"


def node(number: int, kind: str) -> dict:
    """Return a node of a type."""
    cpu, gib, _ = TYPES[kind]
    # What the kubelet and the system take is not allocatable.
    allocatable = {"cpu": f"{1000 * cpu - 100}m", "memory": f"{1024 * gib - 1024}Mi", "pods": "58"}
    labels = {"node.kubernetes.io/instance-type": kind, HOST: f"node-{number}"}
    return {
        "kind": "Node",
        "metadata": {"name": f"node-{number}", "labels": labels},
        "spec": {},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(owner: str, name: str, place: str | None, cpu: int, mib: int, rule: str = "", kind: str = "ReplicaSet") -> dict:
    """Return a pod on a node, or without one; its rule is one on the pods of its owner beside each other."""
    asked = {"requests": {"cpu": f"{cpu}m", "memory": f"{mib}Mi"}}
    spec: dict = {"containers": [{"name": "main", "resources": asked}]}
    spec |= {} if place is None else {"nodeName": place}
    own = {"labelSelector": {"matchLabels": {"app": owner}}}
    if rule == "apart":
        term = own | {"topologyKey": HOST}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if rule == "spread":
        spread = {"maxSkew": 3, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [spread | own]
    # A ReplicaSet has the name of its Deployment and a hash.
    owners = [{"kind": kind, "name": owner + "-59bdf8fd5" * (kind == "ReplicaSet"), "controller": True}]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": owner}, "ownerReferences": owners},
        "spec": spec,
        "status": {"phase": "Pending" if place is None else "Running"},
    }


def main() -> None:
    """Write all files."""
    nodes = [node(number, kind) for number, kind in enumerate(RUNNING, 1)]
    pods, turn = [], 0
    for owner, (number, cpu, mib, rule) in PODS.items():
        for i in range(number):
            # The last pod has found no node yet.
            place = None if (owner, i) == ("batch", number - 1) else f"node-{turn % len(nodes) + 1}"
            pods.append(pod(owner, f"{owner}-{i}", place, cpu, mib, rule))
            turn += 1
    for i in range(1, len(nodes) + 1):
        pods.append(pod("agent", f"agent-{i}", f"node-{i}", 100, 128, kind="DaemonSet"))
    for name, items in (("cluster", nodes + pods), ("nodepools", []), ("volumes", [])):
        Path(f"{name}.json").write_text(json.dumps({"kind": "List", "items": items}))
    rows = [f"{name},{price},{cpu},{gib},58" for name, (cpu, gib, price) in TYPES.items()]
    Path("prices.csv").write_text("\n".join(["name,price,cpu,memory_gib,pods", *rows]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        main()
    else:
        try:
            write_cluster(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
        except InstanceError as error:
            sys.exit(str(error))
