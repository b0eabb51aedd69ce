"""Nodes: their type and price, and what of them is left for the pods that are packed."""

from __future__ import annotations

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from schedgap.instances.csv_table import read_rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    ON_DEMAND,
    RESERVED,
    SPOT,
    Catalogue,
    MachineType,
)
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import Exclusions
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    CAPACITY_TYPE,
    FORBIDDING,
    TYPE,
    ZONE,
    lasting,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import Node, Quantities, Taint
from schedgap.instances.provisioning.readers.kubernetes.state import State, node_labels
from schedgap.instances.provisioning.readers.quantities import (
    CPU,
    PODS,
    RAM,
    STORAGE,
    UNLIMITED,
    fine_amounts,
    listed,
    resource_name,
)

POOL = "karpenter.sh/nodepool"
GPU, EPHEMERAL = "gpu", resource_name(STORAGE)
# Static pods of nodes that control a cluster, and labels of these.
CONTROLLING = frozenset(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"))
CONTROL_PLANES = frozenset(("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"))
# Taints of nodes that are being given back.
GOING = ("karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler")
# What says that a node is one of spare capacity, which may be taken away, and what is there on others, if anything.
SPOT_LABELS = {
    "eks.amazonaws.com/capacityType": (("SPOT",), ("ON_DEMAND",)),
    "cloud.google.com/gke-spot": (("true",), ()),
    "cloud.google.com/gke-preemptible": (("true",), ()),
    "cloud.google.com/gke-provisioning": (("spot", "preemptible"), ("standard",)),
    "kubernetes.azure.com/scalesetpriority": (("spot",), ("regular",)),
}


Held: TypeAlias = defaultdict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A node. labels : by old and new names. taints : those that last. allocatable, left, taken : fine units by resource.

    taken : by what comes with it. devices : what it has of devices when all of them are well and there.
    """

    name: str
    type_name: str
    capacity_type: str
    zone: str
    price: Fraction
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    allocatable: dict[str, int]
    left: dict[str, int]
    devices: dict[str, int]
    taken: dict[str, int]


def running_nodes(
    state: State, catalogue: Catalogue, excluding: Exclusions, type_of: Mapping[str, str], held: Held
) -> tuple[RunningNode, ...]:
    """Return the nodes, less what comes with each of them. held : what of each is taken by pods that are packed.

    Raises
    ------
    InstanceError
        naming nodes whose type has no price.
    """
    types = {kind.name: kind for kind in catalogue.types}
    made, unpriced, elsewhere = [], [], []
    taken, overfull, passing = taken_by_node(state, excluding), [], set()
    sizes = _sizes(state, types, type_of)
    alike, raised = alike_sizes(sizes, type_of), {}
    step = math.gcd(*(amount for group in state.groups.values() for name, amount in group.key.request if name == RAM))
    for name, node in state.nodes.items():
        labels, kind = node_labels(node), types.get(type_of[name])
        capacity_type, zone = _capacity_type(labels), labels.get(ZONE, "")
        asked, price = capacity_type, None if kind is None else kind.price(capacity_type, zone)
        if price is None and kind is not None and capacity_type == RESERVED:
            asked, price = ON_DEMAND, kind.price(ON_DEMAND, zone)
        if kind is None or price is None:
            unpriced.append(f"{name} ({type_of[name]:.60}, {capacity_type})")
            continue
        if not kind.offers(asked, zone):
            elsewhere.append(f"{name} ({zone:.60})")
        left = less(alike[name] | excluding.capacity, taken[name])
        if over := {key: amount for key, amount in held[name].items() if amount > left.get(key, 0)}:
            overfull.append(name)
            left |= over
        exact = less(sizes[name], taken[name]).get(RAM, 0)
        if step and left.get(RAM, 0) // step > max(exact, held[name][RAM]) // step:
            raised[name] = (alike[name][RAM] - sizes[name][RAM], sizes[name][RAM])
        taints = lasting_taints(state, node, labels.get(POOL, ""))
        if len(taints) < sum(taint.effect in FORBIDDING for taint in node.spec.taints):
            passing.add(name)
        parts = (alike[name], left, _devices(node, alike[name]), taken[name])
        made.append(RunningNode(name, kind.name, capacity_type, zone, price, labels, taints, *parts))
    if unpriced:
        raise InstanceError(f"the price list has no price of node {listed(unpriced)}; add their types to it.")
    _tell(state, elsewhere, overfull, raised)
    _inform(state, made, passing)
    return tuple(made)


def _tell(
    state: State, elsewhere: Sequence[str], overfull: Sequence[str], raised: Mapping[str, tuple[int, int]]
) -> None:
    """Say what nodes count with that they do not have. raised : bytes of memory more, and those that there are."""
    if elsewhere:
        state.report.sentences.append(
            f"Priced as in the cheapest other zone, since the price list has no price in theirs: {listed(elsewhere)}."
        )
    if overfull:
        state.report.sentences.append(
            f"For information: on {len(overfull)} nodes pods ask for more than is left there, or exclude each other; as nobody "
            f"is evicted, these nodes have room for what runs on them: {listed(overfull)}."
        )
    if raised:
        most = max(more for more, _ in raised.values())
        share = max(more / size for more, size in raised.values())
        state.report.sentences.append(
            f"Relaxed: {len(raised)} nodes count with the memory of the largest node of their type, at most "
            f"{most / 2**10:.4g} KiB ({share:.2g} of it) more than they have: {listed(list(raised))}."
        )


def _sizes(state: State, types: Mapping[str, MachineType], type_of: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return what is allocatable on each node; where that is not said, its capacity, or the size in the price list."""
    made, unsaid = {}, []
    for name, node in state.nodes.items():
        allocatable, capacity = amounts_of(node.status.allocatable), amounts_of(node.status.capacity)
        size = allocatable or capacity
        if CPU not in size or RAM not in size:
            unsaid.append(name)
            listed_size = with_gpus(types[type_of[name]]) if type_of[name] in types else {}
            size = listed_size | capacity | allocatable
        made[name] = {PODS: UNLIMITED} | {key: min(value, UNLIMITED) for key, value in size.items()}
    if unsaid:
        state.report.sentences.append(
            f"What {len(unsaid)} nodes have is not said, or not in Kubernetes' quantities; it is taken from their capacity, or "
            f"else from the price list: {listed(unsaid)}."
        )
    return made


def amounts_of(quantities: Quantities | None) -> dict[str, int]:
    """Return quantities in fine units, without those that are none."""
    made: dict[str, int] = {}
    for resource, quantity in (quantities or {}).items():
        with contextlib.suppress(InstanceError):
            made |= fine_amounts({resource: quantity})
    return made


def _devices(node: Node, allocatable: Mapping[str, int]) -> dict[str, int]:
    """Return what a node has of devices when all are well and there; their names have a domain."""
    most = largest([dict(allocatable), amounts_of(node.status.capacity)])
    return {key: min(amount, UNLIMITED) for key, amount in most.items() if "/" in key}


def alike_sizes(sizes: Mapping[str, dict[str, int]], type_of: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return sizes in which nodes of a type whose bytes differ by less than a thousandth have those of the largest.

    The system reserves some KiB more on one node than on the next: a pod that asks for 10^9 bytes could tell each apart.
    """
    made = {name: dict(size) for name, size in sizes.items()}
    columns: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for name, size in sizes.items():
        for resource in (RAM, EPHEMERAL):
            if resource in size:
                columns[type_of[name], resource].append((size[resource], name))
    for (_, resource), rows in columns.items():
        rows.sort(reverse=True)
        most = rows[0][0]
        for amount, name in rows:
            most = amount if amount * 1000 < most * 999 else most
            made[name][resource] = most
    return made


def with_gpus(kind: MachineType) -> dict[str, int]:
    """Return the size of a type, in which GPUs are called as Kubernetes calls those of their make."""
    size = kind.usable()
    return {kind.gpu_name: size.pop(GPU)} | size if GPU in size else size


def taken_by_node(state: State, excluding: Exclusions) -> defaultdict[str, Counter[str]]:
    """Return what DaemonSets and static pods take of each node: by node and resource. O(pods)."""
    taken: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for node, pods in state.mirrored.items():
        for request in pods.values():
            taken[node].update(request)
    for daemons in state.daemon_sets.values():
        apart = excluding.taken_by(daemons)
        for node, request in daemons.requests.items():
            taken[node].update(request)
            taken[node].update(apart)
    return taken


def held_by_node(state: State, excluding: Exclusions) -> Held:
    """Return what the pods that are packed take of each node: by node and resource."""
    held: Held = defaultdict(Counter)
    for group, more in zip(state.groups.values(), excluding.demand, strict=True):
        for node, number in group.on.items():
            for resource, amount in (*group.key.request, *more.items()):
                held[node][resource] += amount * number
    return held


def lasting_taints(state: State, node: Node, pool: str) -> tuple[Taint, ...]:
    """Return the taints that last: none of those that a node of its NodePool has only while it starts."""
    starting = state.pools[pool].spec.template.spec.startup_taints if pool in state.pools else ()
    passing = {(taint.key, taint.effect) for taint in starting}
    return lasting(taint for taint in node.spec.taints if (taint.key, taint.effect) not in passing)


def _capacity_type(labels: dict[str, str]) -> str:
    if labels.get(CAPACITY_TYPE) in (SPOT, RESERVED):
        return labels[CAPACITY_TYPE]
    return SPOT if any(labels.get(key) in values for key, (values, _) in SPOT_LABELS.items()) else ON_DEMAND


def is_ready(node: Node) -> bool:
    """Whether a node is not said to be unwell."""
    return all(c.type != "Ready" or c.status == "True" for c in node.status.conditions)


def is_leaving(node: Node) -> bool:
    """Whether a node is being given back."""
    return node.metadata.deletion_timestamp is not None or any(taint.key in GOING for taint in node.spec.taints)


def less(amounts: dict[str, int], *taken: dict[str, int]) -> dict[str, int]:
    """Return amounts less others, never below 0."""
    left = dict(amounts)
    for each in taken:
        for resource, value in each.items():
            if resource in left:
                left[resource] = max(0, left[resource] - value)
    return left


def smallest(amounts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the least of each resource of the first."""
    first, *others = amounts
    return {key: min((value, *(each.get(key, 0) for each in others))) for key, value in first.items()}


def largest(amounts: Sequence[dict[str, int]]) -> dict[str, int]:
    """Return the most of each resource that any has."""
    keys = dict.fromkeys(key for each in amounts for key in each)
    return {key: max(each.get(key, 0) for each in amounts) for key in keys}


def _inform(state: State, nodes: Iterable[RunningNode], passing: set[str]) -> None:
    """Say which nodes are taken as any other though they are not. passing : those with taints that do not last."""
    off, going, control = [], [], []
    for each in nodes:
        name, node = each.name, state.nodes[each.name]
        if is_leaving(node):
            going.append(name)
        elif name in passing or node.spec.unschedulable or not is_ready(node):
            off.append(name)
        static = {key.rpartition("/")[2] for key in state.mirrored.get(name, ())}
        if not static.isdisjoint(CONTROLLING) or not CONTROL_PLANES.isdisjoint(each.labels):
            control.append(name)
    for names, text in (
        (off, "are not ready or take no pods; they are paid, and taken as any other"),
        (going, "are about to go; they are paid, and a plan may keep them as any other"),
        (control, "control the cluster; a plan may give them back as any other"),
    ):
        if names:
            state.report.sentences.append(f"{len(names)} nodes {text}: {listed(names)}.")


WHAT = "list of nodes"


def types_of_nodes(state: State, node_type: str = "", node_types: str = "") -> dict[str, str]:
    """Return the type of each node.

    node_type : of nodes without the label. node_types : a CSV with `node,type`, which goes before the label.

    Raises
    ------
    InstanceError
        naming nodes of which nothing says what they are, and lines of the CSV with a node that is not there.
    """
    given = _read(Path(node_types), state) if node_types else {}
    made, unnamed = {}, []
    for name, node in state.nodes.items():
        labelled = given.get(name) or node_labels(node).get(TYPE, "")
        if not labelled:
            unnamed.append(name)
        made[name] = labelled or node_type
    if unnamed and not node_type:
        raise InstanceError(
            f"no label {TYPE} on node {listed(unnamed)}, which would say what they cost; say it with --set node_type=NAME, "
            "a type of the price list that all such nodes are, or with --set node_types=FILE.csv, a CSV with columns node,type."
        )
    if unnamed:
        state.report.sentences.append(
            f"{len(unnamed)} nodes without label {TYPE} count as {node_type:.60}, as node_type says: {listed(unnamed)}."
        )
    return made


def _read(path: Path, state: State) -> dict[str, str]:
    made: dict[str, str] = {}
    for line, row in read_rows(path, ("node", "type"), WHAT):
        name, kind = row["node"].strip(), row["type"].strip()
        if name not in state.nodes or name in made or not kind:
            problem = (
                "is there twice"
                if name in made
                else "has no type"
                if name in state.nodes
                else "is none of the cluster's"
            )
            raise InstanceError(f"{path.name} line {line}: node {name!r:.80} {problem}; mend or remove the line.")
        made[name] = kind
    return made
