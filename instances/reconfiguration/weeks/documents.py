"""The objects of an invented past, as kubectl prints them, and its price list."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import msgspec

from schedgap.instances.provisioning.generators.clusters.build import price_list
from schedgap.instances.provisioning.generators.clusters.machines import Json, metadata, owned, pod
from schedgap.instances.reconfiguration.weeks.lives import Life, NodeLife
from schedgap.instances.reconfiguration.weeks.simulation import PROVIDER

PENDING, RUNNING, SUCCEEDED = "Pending", "Running", "Succeeded"
PRICES = "prices.csv"
ENCODER = msgspec.json.Encoder(order="sorted")


def write_prices(folder: Path) -> Path:
    """Write the price list of a week's provider, and return its path."""
    (folder / PRICES).write_text(price_list(PROVIDER), encoding="utf-8")
    return folder / PRICES


@lru_cache(2**12)
def stamp(second: int) -> str:
    """Return a time as Kubernetes writes it."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_document(life: Life, state: str) -> Json:
    """Return a pod's object: pending, running, or completed."""
    if life.document is None:
        template = life.template
        digits, kind = life.digits, template.owner[0]
        meta = owned(metadata(life.name, template.namespace, digits, template.labels), *template.owner)
        placed = "" if life.node is None or state == PENDING else life.node.made.name
        restarts = {"restartPolicy": "Never"} if kind == "Job" else {}
        document = pod(meta, template.spec | restarts, placed, state, "" if placed else "0 nodes are available.")
    else:
        given = life.document
        document = given | {"metadata": dict(given["metadata"]), "status": dict(given["status"])}
    document["metadata"]["creationTimestamp"] = stamp(life.created_s)
    del document["metadata"]["resourceVersion"]
    if state == PENDING:
        document["status"] = document["status"] | {"phase": PENDING}
        document["status"].pop("startTime", None)
        return document
    status = document["status"]
    status["startTime"] = stamp(life.start_s)
    since = {"startedAt": stamp(life.start_s + 1)}
    shown: Json = {"running": since}
    if state == SUCCEEDED:
        ended = {"exitCode": 0, "reason": "Completed", "finishedAt": stamp(life.end_s)}
        shown = {"terminated": ended | {"startedAt": stamp(min(life.start_s + 1, life.end_s))}}
    status["containerStatuses"] = [
        {
            "name": each["name"],
            "ready": state == RUNNING,
            "restartCount": 0,
            "state": shown,
        }
        for each in document["spec"]["containers"]
    ]
    return document


def node_document(node: NodeLife, ready: str, heartbeat: str) -> Json:
    """Return a node's object. heartbeat : of its first condition; others have that of when it was ready."""
    conditions = []
    for number, each in enumerate(node.made.document["status"]["conditions"]):
        more = {"lastHeartbeatTime": stamp(node.ready_s) if number else heartbeat}
        more |= {"lastTransitionTime": stamp(node.created_s)}
        if each["type"] == "Ready":
            more |= {"lastTransitionTime": stamp(node.ready_s), "status": ready}
        conditions.append(each | more)
    document = node.made.document
    meta = document["metadata"] | {"creationTimestamp": stamp(node.created_s)}
    return document | {"metadata": meta, "status": document["status"] | {"conditions": conditions}}
