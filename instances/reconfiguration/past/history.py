"""What a cluster's past is known to have been: pods and nodes with their times.

All times are unix seconds at which the pod or node is known to have been there: never more than was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import Node, Pod

if TYPE_CHECKING:
    from msgspec import Struct


@dataclass(slots=True)
class PodLife:
    """A pod while it is known to have been on a node.

    name : its namespace and name, `ns/name`. pod : as it was last seen on the node, before it ended. node : in `History.nodes`
    by the name of that life (`NodeLife.name`).
    """

    name: str
    pod: Pod
    node: str
    first_s: int
    last_s: int


@dataclass(slots=True)
class NodeLife:
    """A node while it is known to have been there. name : unique; a node whose name came before is `name@2`, then `name@3`.

    ready_s : when it was ready for pods, where that is known.
    """

    name: str
    node: Node
    first_s: int
    last_s: int
    ready_s: int | None = None


@dataclass(slots=True)
class History:
    """A cluster's past.

    looks : the moments at which the whole cluster was seen, in order; empty where only births and ends are known.
    others : NodePools, PVCs, PVs, PodDisruptionBudgets, and what is malformed, as `read_objects` yields them.
    start_s, end_s : the window: nothing counts before or after it. sentences : what could not be seen.
    """

    pods: list[PodLife]
    nodes: list[NodeLife]
    start_s: int
    end_s: int
    looks: tuple[int, ...] = ()
    others: list[tuple[str, str, Struct | InstanceError]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


def numbered(names: Iterable[str]) -> list[str]:
    """Return the names, those that came before as `name@2`, then `name@3`."""
    times: Counter[str] = Counter()
    made = []
    for name in names:
        times[name] += 1
        made.append(name if times[name] == 1 else f"{name}@{times[name]}")
    return made
