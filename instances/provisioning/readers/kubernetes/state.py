"""The objects of a cluster, read once: pods that are packed, in groups of alike ones, and what comes with the nodes.

What an import has to say: what was taken, left out and relaxed, with numbers and names.

What an instance has no place for: nodes that are no machines, and pods on nodes that are not there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes import objects
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    Node,
    NodeClaim,
    NodePool,
    NodeTerms,
    Owner,
    Pod,
    PodDisruptionBudget,
    decode,
    duration_s,
    read_objects,
    unix_s,
)
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import (
    ALWAYS,
    Parts,
    PartsCache,
    label_name,
    labelled_place,
    named_alike,
    pod_request,
)
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.provisioning.running import HELD, NO_SCALE_DOWN, ONE_TASK

if TYPE_CHECKING:
    from msgspec import Struct


MOST_NAMES = 5


@dataclass(slots=True)
class Report:
    """Pods by reason and name of their owner. sentences : what is no matter of pods."""

    left_out: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    relaxed: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    informed: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sentences: list[str] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return all as sentences: every kind with the number of pods, and some names."""
        return (
            *self.sentences,
            *_sentences("Left out", self.left_out),
            *_sentences("Relaxed", self.relaxed),
            *_sentences("For information", self.informed),
        )


def _sentences(what: str, kinds: Mapping[str, Counter[str]]) -> list[str]:
    made = []
    for kind, names in sorted(kinds.items()):
        total = names.total()
        shown = [name if count == 1 else f"{name} ({count})" for name, count in sorted(names.items())[:MOST_NAMES]]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        made.append(f"{what}: {kind}: {total} pod{'s' * (total != 1)}: {', '.join(shown)}{more}.")
    return made


# Labels and the taint of what stands for a service that takes single pods, such as EKS Fargate and AKS virtual nodes.
VIRTUAL = {"type": "virtual-kubelet", "eks.amazonaws.com/compute-type": "fargate"}
VIRTUAL_TAINT = "virtual-kubelet.io/provider"
ON_VIRTUAL = "on virtual nodes, which are no machines"
NOWHERE = "on a node that is not there, or could not be read"


def leave_out(state: State) -> None:
    """Take out virtual nodes, those whose labels cannot be read, and the pods on nodes that are not there, and say so. O(pods).

    Raises
    ------
    InstanceError
        if no node, or no pod that is to be packed, remains.
    """
    _without(state, _virtual(state))
    sentences = state.report.sentences
    if state.twice:
        sentences.append(
            f"Left out: {len(state.twice)} objects that are there twice; the first counts: {listed(state.twice)}."
        )
    if number := len(state.malformed):
        more = f" and {number - 3} more" if number > 3 else ""
        sentences.append(
            f"Left out, as Kubernetes has no such object: {number} objects: {'; '.join(state.malformed[:3])}{more}."
        )
    wrong = f" ({len(state.malformed)} objects are malformed: {state.malformed[0]:.300})" if state.malformed else ""
    if not state.nodes:
        raise InstanceError(f"no node is there{wrong}; give what `kubectl get pods,nodes -A -o json` prints.")
    if not state.groups:
        raise InstanceError(
            f"of {state.pods} pods none is to be packed{wrong}; give what `kubectl get pods,nodes -A -o json` prints."
        )


def _virtual(state: State) -> set[str]:
    """Take out the virtual nodes, and return their names."""
    virtual = set()
    for name, node in list(state.nodes.items()):
        try:
            labels = node_labels(node)
        except InstanceError as error:
            state.malformed.append(f"Node {name}: labels: {error}")
            del state.nodes[name]
            continue
        is_tainted = any(taint.key == VIRTUAL_TAINT for taint in node.spec.taints)
        if is_tainted or any(labels.get(key) == value for key, value in VIRTUAL.items()):
            virtual.add(name)
            del state.nodes[name]
    if virtual:
        state.report.sentences.append(
            f"Left out: {len(virtual)} virtual nodes, which are no machines, with their pods: {listed(sorted(virtual))}."
        )
    return virtual


def _without(state: State, virtual: set[str]) -> None:
    """Take out the pods on nodes that are not there."""
    for key, group in list(state.groups.items()):
        for node in [node for node in group.on if node not in state.nodes]:
            state.report.left_out[ON_VIRTUAL if node in virtual else NOWHERE][group.name] += group.on.pop(node)
        if not group.count:
            del state.groups[key]
    for name, daemons in list(state.daemon_sets.items()):
        daemons.requests = {node: asked for node, asked in daemons.requests.items() if node in state.nodes}
        if not daemons.requests:
            del state.daemon_sets[name]


def node_labels(node: Node) -> dict[str, str]:
    """Return a node's labels by old and new names.

    Raises
    ------
    InstanceError
        for labels that are none.
    """
    given: dict[str, str] = decode(node.metadata.labels, dict[str, str] | None) or {}
    return {label_name(key, (value,)): value for key, value in given.items()} | given


ENDED = ("Succeeded", "Failed")
PINNED = "bound by name to the node that they run on, with which they come and go"
PER_NODE, MIRROR, TERMINATING, GATED = "of a DaemonSet", "static (mirror)", "terminating", "with scheduling gates"
FRACTIONS = "parts of a GPU asked for in annotations"
VOLUMES, CLAIMS = "limits on volumes attached to a node", "resource claims (dynamic resource allocation)"
STAYS = "marked as not to be moved"
DO_NOT_DISRUPT, SAFE_TO_EVICT = "do-not-disrupt", 'safe-to-evict: "false"'
ANY_ADDRESS = ("", "0.0.0.0", "::")


class HostPort(NamedTuple):
    """A port of the node that a pod takes. address : empty for all."""

    protocol: str
    number: int
    address: str


class GroupKey(NamedTuple):
    """What pods of a group have in common. labels : of the pod, as they stand."""

    namespace: str
    owner: str
    request: tuple[tuple[str, int], ...]
    parts: Parts
    labels: bytes
    ports: tuple[HostPort, ...]
    claims: tuple[str, ...]
    weight: int


@dataclass(slots=True)
class PodGroup:
    """Alike pods: how many run on each node, and how many are pending.

    held : of those on a node, how many have an annotation that says that they are not to be moved. first : the first of
    their names.
    """

    key: GroupKey
    on: dict[str, int] = field(default_factory=dict)
    pending: int = 0
    held: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: str = ""

    @property
    def count(self) -> int:
        """Number of pods."""
        return self.pending + sum(self.on.values())

    @property
    def name(self) -> str:
        """Name for people: namespace and owner."""
        return f"{self.key.namespace}/{self.key.owner}"


@dataclass(slots=True)
class DaemonSet:
    """Pods that come with a machine. requests : by node; ports : those of the host. pinned : to that node only, by its name."""

    parts: Parts
    ports: tuple[HostPort, ...]
    requests: dict[str, dict[str, int]] = field(default_factory=dict)
    pinned: bool = False


@dataclass(slots=True)
class State:
    """All that was read.

    mirrored : requests of static pods by node, and by namespace and name without the node's. on_one_node : claims that one node
    at a time can use. marks : what pods say of their nodes, as `Disruption.marks`. budgets : PodDisruptionBudgets.
    node_claims : conditions of Karpenter's claims, by node. Of nodes, in seconds since 1970: held_until : the last that a pod
    asks to be left alone; came : when the last pod is known to have come; changed : when one last came or went, as a claim
    says it, or when it was ready. newest_s, now_s : the newest of all times; the present, None where it is not known.
    twice, malformed : objects that are left out, the latter with what is wrong.
    """

    report: Report = field(default_factory=Report)
    groups: dict[GroupKey, PodGroup] = field(default_factory=dict)
    daemon_sets: dict[str, DaemonSet] = field(default_factory=dict)
    mirrored: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    pools: dict[str, NodePool] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, NodeTerms | None] = field(default_factory=dict)
    on_one_node: set[str] = field(default_factory=set)
    marks: dict[str, int] = field(default_factory=dict)
    budgets: dict[str, PodDisruptionBudget] = field(default_factory=dict)
    node_claims: dict[str, dict[str, str]] = field(default_factory=dict)
    held_until: dict[str, int] = field(default_factory=dict)
    came: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    newest_s: int | None = None
    now_s: int | None = None
    twice: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    jobs: int = 0
    pods: int = 0


def read_state(paths: Sequence[Path | str]) -> State:
    """Read the objects of a cluster from files; see `gathered`."""
    return gathered(read_objects(paths))


def gathered(
    given: Iterable[tuple[str, str, Struct | InstanceError]],
    watch: Callable[[Pod, str, PodGroup], None] | None = None,
) -> State:
    """Take in the objects of a cluster; memory grows by what is distinct, not by what a pod's document holds.

    What is malformed, or there twice, is left out by name: without a pod or a volume no floor rises.

    given : place, kind and object, as `read_objects` yields them. watch : gets each pod that is in a group, its name, and it.

    Raises
    ------
    InstanceError
        naming a malformed NodePool, without which less could be rented.
    """
    state, cache = State(), PartsCache()
    seen: set[tuple[str, str]] = set()
    for place, kind, item in given:
        if isinstance(item, InstanceError):
            if kind == NodePool.__name__:
                raise InstanceError(f"{item}; correct the object or take it out.")
            state.malformed.append(str(item))
            continue
        meta: objects.Metadata = item.metadata  # type: ignore[attr-defined]
        name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        if (kind, name) in seen:
            state.twice.append(f"{kind} {name}")
            continue
        seen.add((kind, name))
        try:
            if isinstance(item, Pod):
                if (group := _add_pod(state, cache, item, name)) is not None and watch is not None:
                    watch(item, name, group)
            elif isinstance(item, Node):
                state.nodes[meta.name] = item
                _see(state, meta.creation_timestamp, *(c.last_heartbeat_time for c in item.status.conditions))
            elif isinstance(item, NodePool):
                state.pools[meta.name] = item
            elif isinstance(item, NodeClaim):
                _add_claim(state, item)
            elif isinstance(item, PodDisruptionBudget):
                state.budgets[name] = item
            elif isinstance(item, objects.PersistentVolumeClaim):
                state.claims[name] = item.spec.volume_name
                if item.spec.access_modes and item.spec.access_modes[0].startswith("ReadWriteOnce"):
                    state.on_one_node.add(name)
            elif isinstance(item, objects.PersistentVolume):
                reach = item.spec.node_affinity
                required = None if reach is None else reach.required
                state.volumes[name] = (
                    labelled_place(item.metadata.labels) if required is None else named_alike(required)
                )
        except InstanceError as error:
            state.malformed.append(f"{place}, {kind} {name}: {error}")
    _put_in_order(state)
    return state


def _see(state: State, *times: str | None) -> int | None:
    """Take note of times; return the newest, None where none is one."""
    found = max((known for time in times if (known := unix_s(time)) is not None), default=None)
    if found is not None:
        state.newest_s = max(state.newest_s or 0, found)
    return found


def _add_claim(state: State, claim: NodeClaim) -> None:
    node, conditions = claim.status.node_name, claim.status.conditions
    state.node_claims[node] = {each.type: each.status for each in conditions}
    ready = next((each.last_transition_time for each in conditions if each.type == "Initialized"), None)
    changed, initialized = _see(state, claim.status.last_pod_event_time), _see(state, ready)
    if (since := changed if changed is not None else initialized) is not None:
        state.changed[node] = since


def _put_in_order(state: State) -> None:
    """Order all by name, as kubectl prints it: the same objects are the same instance, whatever files they come in."""
    for each in fields(State):
        found = getattr(state, each.name)
        if isinstance(found, dict) and each.name != "groups":
            setattr(state, each.name, dict(sorted(found.items())))
    state.groups = dict(sorted(state.groups.items(), key=lambda entry: entry[1].first))
    for group in state.groups.values():
        group.on = dict(sorted(group.on.items()))


def _add_pod(state: State, cache: PartsCache, pod: Pod, name: str) -> PodGroup | None:
    """Take in a pod, and return the group that it is in; None of one that is not packed."""
    meta, spec, report = pod.metadata, pod.spec, state.report
    state.pods += 1
    if pod.status.phase in ENDED:
        report.left_out[f"ended ({pod.status.phase})"][name] += 1
        return None
    owner = next((owner for owner in meta.owner_references if owner.controller), None)
    request, ports, notes = pod_request(pod), _host_ports(pod), meta.annotations
    started = _see(state, pod.status.start_time)
    if spec.node_name and meta.deletion_timestamp is None:
        state.marks[spec.node_name] = state.marks.get(spec.node_name, 0) | marks_of(pod, owner)
        if started is not None:
            state.came[spec.node_name] = max(state.came.get(spec.node_name, 0), started)
            if held := held_s(pod):
                state.held_until[spec.node_name] = max(state.held_until.get(spec.node_name, 0), started + held)
    if (notes is not None and notes.mirror is not None) or (owner is not None and owner.kind == "Node"):
        report.left_out[MIRROR][name] += 1
        if spec.node_name:
            state.mirrored.setdefault(spec.node_name, {})[name.removesuffix(f"-{spec.node_name}")] = request
        return None
    parts = cache.parts(spec)
    if owner is not None and owner.kind == "DaemonSet":
        full = f"{meta.namespace}/{owner.name}"
        report.left_out[PER_NODE][full] += 1
        if spec.node_name:
            state.daemon_sets.setdefault(full, DaemonSet(parts, ports)).requests[spec.node_name] = request
        return None
    title = _title(pod, owner)
    full = f"{meta.namespace}/{title}"
    if meta.deletion_timestamp is not None:
        report.left_out[TERMINATING][full] += 1
        return None
    if spec.scheduling_gates and not spec.node_name:
        report.left_out[GATED][full] += 1
        return None
    if spec.node_name and parts.constraint.is_for_node(spec.node_name):
        report.left_out[PINNED][full] += 1
        state.daemon_sets[f"pod {name}"] = DaemonSet(parts, ports, {spec.node_name: request}, pinned=True)
        return None
    state.jobs += owner is not None and owner.kind == "Job"
    claims = _claims(pod)
    marks = []
    if notes is not None:
        marks += [DO_NOT_DISRUPT] if notes.do_not_disrupt not in ("", "false") else []
        marks += [SAFE_TO_EVICT] if notes.safe_to_evict == "false" else []
        if marks:
            report.informed[STAYS][full] += 1
        if (notes.gpu_fraction, notes.gpu_memory, notes.gpu_milli) != (None, None, None):
            report.relaxed[FRACTIONS][full] += 1
    for kind in (*parts.relaxed, *[VOLUMES] * bool(claims), *[CLAIMS] * bool(spec.resource_claims)):
        report.relaxed[kind][full] += 1
    vector = tuple(sorted(request.items()))
    key = GroupKey(meta.namespace, title, vector, parts, bytes(meta.labels), ports, claims, weight_of(pod))
    group = state.groups.get(key)
    if group is None:
        decode(meta.labels, dict[str, str] | None)
        group = state.groups[key] = PodGroup(key, first=name)
    group.first = min(group.first, name)
    if spec.node_name:
        group.on[spec.node_name] = group.on.get(spec.node_name, 0) + 1
        group.held.update((spec.node_name, mark) for mark in marks)
    else:
        group.pending += 1
    return group


def _title(pod: Pod, owner: objects.Owner | None) -> str:
    """Return what a pod belongs to: of a ReplicaSet the Deployment, whose name it has with a hash."""
    if owner is None:
        return pod.metadata.name
    name = owner.name.rpartition("-")[0] if owner.kind == "ReplicaSet" else owner.name
    return name if name and name.isprintable() else pod.metadata.name


def _claims(pod: Pod) -> tuple[str, ...]:
    meta = pod.metadata
    found = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            found.append(f"{meta.namespace}/{volume.persistent_volume_claim.claim_name}")
        elif volume.ephemeral is not None:
            found.append(f"{meta.namespace}/{meta.name}-{volume.name}")
    return tuple(sorted(found))


def _host_ports(pod: Pod) -> tuple[HostPort, ...]:
    return tuple(sorted(set(_ports(pod.spec))))


def _ports(spec: objects.PodSpec) -> Iterator[HostPort]:
    for container in (*spec.containers, *(c for c in spec.init_containers if c.restart_policy == ALWAYS)):
        for port in container.ports:
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                yield HostPort(port.protocol, number, "" if port.host_ip in ANY_ADDRESS else port.host_ip)


# More decides nothing: whoever sets it is heard up to ten pods.
MOST_WEIGHT = 10 * ONE_TASK


def weight_of(pod: Pod) -> int:
    """Return what Karpenter counts for a pod that leaves its node, in 1 / `ONE_TASK`: exact.

    1 + deletion cost / 2^27 + priority / 2^25, from 0 to 10 (kubernetes-sigs/karpenter, pkg/utils/disruption, commit 2266468). A
    deletion cost that is no whole number, which no API server admits, counts as none.
    """
    notes = pod.metadata.annotations
    said = notes.deletion_cost if notes is not None else ""
    cost = int(said) if WHOLE.fullmatch(said) else 0
    return min(max(0, ONE_TASK + cost + 4 * (pod.spec.priority or 0)), MOST_WEIGHT)


WHOLE = re.compile(r"-?[0-9]{1,10}")
TRUE = "true"


def held_s(pod: Pod) -> int | None:
    """Return how long after its start Karpenter leaves a pod alone: 0 for not at all, None for as long as it runs."""
    asked = pod.metadata.annotations.do_not_disrupt if pod.metadata.annotations is not None else ""
    return None if asked == TRUE else duration_s(asked) or 0


def is_kept(pod: Pod, owner: Owner | None) -> bool:
    """Whether cluster-autoscaler keeps the node of a pod: not for one that comes and goes with the node."""
    notes = pod.metadata.annotations
    if (notes is not None and notes.mirror is not None) or (owner is not None and owner.kind in ("DaemonSet", "Node")):
        return False
    safe = notes.safe_to_evict if notes is not None else ""
    return safe == "false" or (owner is None and safe != TRUE)


def marks_of(pod: Pod, owner: Owner | None) -> int:
    """Return what a pod that runs says of its node; one that is held for a time and has no start is held."""
    held = held_s(pod)
    is_held = held is None or (held > 0 and unix_s(pod.status.start_time) is None)
    return HELD * is_held | NO_SCALE_DOWN * is_kept(pod, owner)
