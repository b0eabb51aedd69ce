"""The state of a Kubernetes cluster as a placement instance: what `kubectl get pods,nodes -A -o json` prints, and KAI's snapshot.

Nodes are as they are, less what comes with each; pods that run keep their node and their GPUs. What is not known makes room
larger or admission wider, and is named in the notes: what is proven of the instance holds for the cluster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.placement.model import NO_GANG, UNITS, PlacementInstance
from schedgap.instances.placement.readers.assembly import Assembly, Rooms, Seen, alone_as_resources
from schedgap.instances.placement.readers.gpus import KAI_GROUP
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import exclusions
from schedgap.instances.provisioning.readers.kubernetes.cluster import constraint_of, tell_shared_volumes
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    GROUPED,
    Pod,
    PodGroup,
    decode,
    decoded,
    read_objects,
)
from schedgap.instances.provisioning.readers.kubernetes.state import FRACTIONS, gathered, leave_out
from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup as Group
from schedgap.instances.provisioning.readers.kubernetes.upkeep import Guards, tell_blocked
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.unpacked import member_bytes

SNAPSHOT = "snapshot.json"
# Keys of KAI's snapshot that are read, and their kinds.
SNAPSHOT_KINDS = {
    "pods": "Pod",
    "nodes": "Node",
    "podGroups": "PodGroup",
    "persistentVolumeClaims": "PersistentVolumeClaim",
}
GROUP_LABELS = (
    *("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "kueue.x-k8s.io/pod-group-name"),
    "pod-group.scheduling.sigs.k8s.io/name",
)
BARE, LOCAL, MARKED, BUDGET = (
    "without an owner that would start them again",
    "with data on the node (emptyDir, hostPath)",
    "marked as not to be moved",
    "of which a PodDisruptionBudget admits no eviction now",
)


class _Raw(msgspec.Struct, rename="camel"):
    raw_objects: dict[str, msgspec.Raw] = {}


def kubernetes(*paths: Path | str, unit: str = "") -> PlacementInstance:
    """Read a cluster: JSON files of kubectl, or folders of them: pods, nodes, and PodGroups, budgets and volumes if there.

    unit : of values; by default GPUs where pods take some, else pods.

    Raises
    ------
    InstanceError
        for malformed files, and files without nodes or pods.
    """
    name = "kubernetes-" + "-".join(dict.fromkeys(Path(path).stem for path in paths))
    return Reading(read_objects(paths, GROUPED)).instance(name[:100], unit)


def kai_snapshot(path: Path | str, *, unit: str = "") -> PlacementInstance:
    """Read the snapshot that KAI-Scheduler serves at `/get-snapshot`: a ZIP with `snapshot.json`. unit : as for `kubernetes`.

    Raises
    ------
    InstanceError
        for a malformed archive, and one without nodes or pods.
    """
    path = Path(path)
    return Reading(_of_snapshot(path)).instance(f"kai-{path.stem}"[:100], unit)


def _of_snapshot(path: Path) -> Iterator[tuple[str, str, Struct | InstanceError]]:
    content = member_bytes(path, SNAPSHOT)
    try:
        raw: _Raw = decode(content, _Raw)
        lists = {key: decode(raw.raw_objects.get(key, b"null"), list[msgspec.Raw] | None) for key in SNAPSHOT_KINDS}
    except InstanceError as error:
        raise InstanceError(f"{path.name}: {SNAPSHOT} is no snapshot of KAI-Scheduler ({error}).") from None
    for key, kind in SNAPSHOT_KINDS.items():
        for number, item in enumerate(lists[key] or ()):
            place = f"{SNAPSHOT} {key} {number}"
            yield place, kind, decoded(f"{place}, {kind}", item, GROUPED[kind])


class Reading:
    """A cluster while it is read. needed : of each gang, how many pods are its least. reserved : KAI's GPUs by node and group."""

    def __init__(self, objects: Iterable[tuple[str, str, Struct | InstanceError]]) -> None:
        self.seen: list[Seen] = []
        self.needed: dict[str, int | None] = {}
        self.reserved: dict[tuple[str, str], int] = {}
        self.labels: dict[bytes, dict[str, str]] = {}
        self.state = gathered(self._without_groups(objects), self._watch)
        leave_out(self.state)
        self.report = self.state.report
        self.report.relaxed.pop(FRACTIONS, None)
        self.seen = [pod for pod in self.seen if not pod.node or pod.node in self.state.nodes]
        if not self.seen:
            raise InstanceError("no pod runs or is pending; give what `kubectl get pods,nodes -A -o json` prints.")

    def _without_groups(
        self, objects: Iterable[tuple[str, str, Struct | InstanceError]]
    ) -> Iterator[tuple[str, str, Struct | InstanceError]]:
        for place, kind, item in objects:
            if isinstance(item, PodGroup):
                self.needed[f"{item.metadata.namespace}/{item.metadata.name}"] = item.spec.min_member
            elif not (kind == PodGroup.__name__ and isinstance(item, InstanceError)):
                yield place, kind, item

    def _watch(self, pod: Pod, name: str, group: Group) -> None:
        notes, node = pod.metadata.annotations, pod.spec.node_name
        if notes is not None and notes.reserved_index is not None and pod.metadata.namespace.endswith("reservation"):
            # KAI holds a GPU by a pod of its own for the pods that share it.
            number = notes.reserved_index
            if number.isascii() and number.isdigit():
                self.reserved[node, self.labels_of(group).get(KAI_GROUP, "")] = int(number)
            return
        owned = any(owner.controller for owner in pod.metadata.owner_references)
        safe = notes is not None and notes.safe_to_evict == "true"
        local = any(
            v.host_path is not None or (v.empty_dir is not None and v.empty_dir.medium != "Memory")
            for v in pod.spec.volumes
        )
        marked = notes is not None and (notes.do_not_disrupt not in ("", "false") or notes.safe_to_evict == "false")
        stays = MARKED if marked else "" if safe else BARE if not owned else LOCAL if local else ""
        self.seen.append(
            Seen(name, group, node, notes, pod.spec.priority or 0, pod.metadata.creation_timestamp or "", stays)
        )

    def labels_of(self, group: Group) -> dict[str, str]:
        """Return the labels of a group's pods."""
        if group.key.labels not in self.labels:
            self.labels[group.key.labels] = decode(group.key.labels, dict[str, str] | None) or {}
        return self.labels[group.key.labels]

    def instance(self, name: str, unit: str) -> PlacementInstance:
        """Return what was read as an instance."""
        if unit:
            one_of("unit", unit, UNITS, InstanceError)
        state, groups = self.state, list(self.state.groups.values())
        constraints = [constraint_of(state, group) for group in groups]
        tell_shared_volumes(state, groups)
        excluding = exclusions(state, groups, constraints)
        alone_as_resources(excluding, groups, self.report)
        distinct = list(dict.fromkeys(constraints))
        number = {constraint: q for q, constraint in enumerate(distinct)}
        nodes = Rooms(state, excluding, distinct)
        asked = {
            id(group): (number[constraint], more)
            for group, constraint, more in zip(groups, constraints, excluding.demand, strict=True)
        }
        self._restrain()
        running = [pod for pod in self.seen if pod.node]
        arriving, gang = self._arriving()
        tell_blocked(state)
        shared = {id(group): self.labels_of(group) for group in groups}
        made = Assembly(nodes, asked, [*running, *arriving], shared, self.reserved)
        return made.instance(name, unit, np.concatenate((np.full(len(running), NO_GANG), gang)))

    def _restrain(self) -> None:
        """Tie pods of which a PodDisruptionBudget admits no eviction, and say which pods may not move."""
        guards, budgets = Guards(self.state), self.state.budgets
        full = {name for name, budget in budgets.items() if budget.status.disruptions_allowed == 0}
        if full:
            tied = {id(g) for g in self.state.groups.values() if not full.isdisjoint(guards.of(g))}
            self.seen = [p if p.stays or id(p.group) not in tied else p._replace(stays=BUDGET) for p in self.seen]
        for pod in self.seen:
            if pod.node and pod.stays:
                self.report.informed[f"may not move, {pod.stays}"][pod.group.name] += 1

    def _arriving(self) -> tuple[list[Seen], IntArray]:
        """Return the pending pods by priority and age, those of a gang together, and the gang of each."""
        running: Counter[str] = Counter()
        gangs: defaultdict[str, list[Seen]] = defaultdict(list)
        pending = sorted((pod for pod in self.seen if not pod.node), key=_turn)
        named = any(p.notes is not None or self.labels_of(p.group) for p in pending)
        for pod in self.seen if named else ():
            if (name := self._gang_of(pod)) and pod.node:
                running[name] += 1
            elif name:
                gangs[name].append(pod)
        together: dict[str, list[Seen]] = {}
        unknown = []
        for name, members in gangs.items():
            least = self.needed.get(name)
            if least is None and not running[name] and len(members) > 1:
                unknown.append(name)
            # A gang that runs has its least; of one that nothing is known of all pods are needed.
            needs = 0 if least is None and running[name] else (least or len(members)) - running[name]
            if needs > 1 and len(members) > 1:
                together[name] = sorted(members, key=_turn)[:needs]
        number = {id(pod): n for n, members in enumerate(together.values()) for pod in members}
        begun: set[str] = set()
        order: list[Seen] = []
        for pod in pending:
            name = self._gang_of(pod) if together else ""
            if name in together and name not in begun:
                begun.add(name)
                order += together[name]
            if id(pod) not in number:
                order.append(pod)
        gang = [number.get(id(pod), NO_GANG) for pod in order]
        if unknown:
            self.report.sentences.append(
                f"Assumed: all pending pods of a gang are needed together, as no PodGroup with a minMember is there, of "
                f"{len(unknown)}: {listed(unknown)}."
            )
        return order, np.array(gang, np.int64)

    def _gang_of(self, pod: Seen) -> str:
        """Return namespace and name of a pod's group; empty where it is in none."""
        notes = pod.notes
        name = None if notes is None else notes.group_name or notes.pod_group or notes.kai_group
        labels = self.labels_of(pod.group)
        name = name or next((labels[key] for key in GROUP_LABELS if labels.get(key)), "")
        return f"{pod.group.key.namespace}/{name}" if name else ""


def _turn(pod: Seen) -> tuple[int, str, str]:
    """Return what decides whose turn it is: priority, then age."""
    return -pod.priority, pod.created, pod.name
