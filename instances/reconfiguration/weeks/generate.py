"""An invented past as an instance: what looks at it show, as the readers of snapshots and of Prometheus find it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from schedgap.instances.provisioning.readers.kubernetes.objects import Node, Pod, decode
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife
from schedgap.instances.reconfiguration.past.instance import instance_of
from schedgap.instances.reconfiguration.weeks.documents import (
    ENCODER,
    RUNNING,
    SUCCEEDED,
    node_document,
    pod_document,
    stamp,
    write_prices,
)
from schedgap.instances.reconfiguration.weeks.lives import Week
from schedgap.instances.reconfiguration.weeks.simulation import simulate


def cluster_week(
    kind: str = "daily", nodes: int = 30, pods: int = 300, days: float = 1.0, look_s: int = 300, *, seed: int = 0
) -> ReconfigurationInstance:
    """Invent the past of a cluster, and read it as a user's.

    kind : `steady` has services with rollouts; `daily` scales them in a wave, and nodes follow; `nightly` adds a batch of jobs.
    nodes, pods : about so many at the busiest time. days : of the past. look_s : between two looks at the cluster.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    week = simulate(kind, nodes, pods, days, look_s, seed)
    with TemporaryDirectory() as folder:
        return instance_of(seen(week), name=week.name, catalogue=str(write_prices(Path(folder))))


def seen(week: Week) -> History:
    """Return what looks at an invented past show."""
    looks = week.looks

    def last_before(second: int) -> int:
        """Return the last look before a second; one before the first look if there is none."""
        return looks[0] + (min(second, looks[-1] + 1) - 1 - looks[0]) // looks.step * looks.step

    history = History([], [], looks[0], looks[-1], tuple(looks))
    for node in week.nodes:
        if (last_s := last_before(node.gone_s)) >= max(node.created_s, looks[0]):
            ready = "True" if node.ready_s <= last_s else "False"
            shown = decode(ENCODER.encode(node_document(node, ready, stamp(last_s))), Node)
            ready_s = node.ready_s if node.ready_s <= last_s else None
            history.nodes.append(NodeLife(node.made.name, shown, node.created_s, last_s, ready_s))
    for life in week.lives():
        last_s, ran_s = last_before(life.gone_s), last_before(life.stops_s)
        ended = life.end_s <= last_s
        if life.node is not None and (ended or ran_s >= max(life.start_s, looks[0])):
            pod = decode(
                ENCODER.encode(pod_document(life, SUCCEEDED if ended and ran_s < life.start_s else RUNNING)), Pod
            )
            name = f"{life.template.namespace}/{life.name}"
            history.pods.append(PodLife(name, pod, life.node.made.name, life.start_s, life.end_s if ended else ran_s))
    return history
