"""Machines of generated clusters: types, groups of nodes, what runs on each node, and who provides them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schedgap.instances.provisioning.generators.clusters.objects import Json

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
