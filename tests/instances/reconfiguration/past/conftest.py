"""Small pasts: objects as kubectl prints them, lives of theirs, and a price list of two types."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import msgspec
import pytest

from schedgap.instances.provisioning.readers.kubernetes.objects import Node, Pod
from schedgap.instances.reconfiguration.past import kubernetes
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, instance_of

# 2026-11-21, 10:00 UTC: a whole number of hours.
START = 1_795_255_200
PRICES = "name,cpu,memory_gib,price,pods\nm,4,16,3.6,20\nl,8,32,7.2,20\n"


def stamp(seconds):
    """Seconds since the start as Kubernetes writes them."""
    return datetime.fromtimestamp(START + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(name, node=None, cpu="1", *, start=None, phase="Running", uid="", owner=None, ended=None, meta=(), **spec):
    """A pod of namespace shop. start, ended : seconds since the start. owner : (kind, name)."""
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    status = {"phase": phase} | ({} if start is None else {"startTime": stamp(start)})
    if ended is not None:
        status["containerStatuses"] = [{"name": "main", "state": {"terminated": {"finishedAt": stamp(ended)}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": uid or f"uid-{name}",
            "ownerReferences": owners,
            **dict(meta),
        },
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}],
            **({"nodeName": node} if node else {}),
            **spec,
        },
        "status": status,
    }


def node(name, kind="m", *, born=-3600, ready=None, cpu=None, uid="", beat=0, labels=()):
    """A node. born, ready, beat : seconds since the start, the last of its heartbeat."""
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": stamp(beat)}
    condition |= {} if ready is None else {"lastTransitionTime": stamp(ready)}
    size = {"m": ("4", "16Gi"), "l": ("8", "32Gi")}[kind]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": uid or f"uid-{name}",
            "creationTimestamp": stamp(born),
            "resourceVersion": str(1000 + beat),
            "labels": {"node.kubernetes.io/instance-type": kind, "kubernetes.io/hostname": name, **dict(labels)},
        },
        "spec": {},
        "status": {
            "allocatable": {"cpu": cpu or size[0], "memory": size[1], "pods": "20"},
            "conditions": [condition],
        },
    }


class Tools:
    start, prices = START, PRICES
    stamp, pod, node = staticmethod(stamp), staticmethod(pod), staticmethod(node)

    def __init__(self, folder):
        self.folder = folder
        self.catalogue = folder / "prices.csv"
        self.catalogue.write_text(PRICES)

    @staticmethod
    def ran(document, first, last, on=None):
        """The life of a pod, seconds since the start."""
        made = msgspec.json.decode(json.dumps(document), type=Pod)
        return PodLife(f"shop/{made.metadata.name}", made, on or made.spec.node_name, START + first, START + last)

    @staticmethod
    def there(document, first, last, ready=None, name=None):
        """The life of a node, seconds since the start."""
        made = msgspec.json.decode(json.dumps(document), type=Node)
        ready_s = None if ready is None else START + ready
        return NodeLife(name or made.metadata.name, made, START + first, START + last, ready_s)

    def look(self, seconds, *objects, name=None, gz=False, indent=None, folder=None):
        """Write what kubectl prints at so many seconds since the start, and return the folder."""
        folder = folder or self.folder / "looks"
        folder.mkdir(exist_ok=True)
        document = {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {"resourceVersion": ""}}
        text = json.dumps(document, indent=indent, separators=None if indent else (",", ":")).encode()
        path = folder / (name or f"look-{stamp(seconds).replace(':', '-')}.json{'.gz' * gz}")
        path.write_bytes(gzip.compress(text) if gz else text)
        return folder

    def read(self, *paths, **parameters):
        return kubernetes(*paths or (self.folder / "looks",), catalogue=str(self.catalogue), **parameters)

    def history(self, pods, nodes, end=3600, looks=300, **more):
        times = tuple(range(START, START + end + 1, looks)) if looks else ()
        return History(pods, nodes, START, START + end, looks=times, **more)

    def instance(self, pods, nodes, end=3600, looks=300, more=(), **parameters):
        return instance_of(
            self.history(pods, nodes, end, looks, **dict(more)), catalogue=str(self.catalogue), **parameters
        )


@pytest.fixture
def past(tmp_path):
    return Tools(tmp_path)
