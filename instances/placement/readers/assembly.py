"""Nodes and pods of a Kubernetes cluster as the arrays of a placement instance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.placement.model import MAX_AMOUNT, NOWHERE, ONE, PlacementInstance
from schedgap.instances.placement.readers.gpus import (
    KAI_GROUP,
    SHARING,
    Ask,
    Held,
    asked_of,
    assigned,
    devices_of_node,
    kinds_of,
    numbers_of,
)
from schedgap.instances.placement.stranded import CLOSED
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import MOST, Exclusions
from schedgap.instances.provisioning.readers.kubernetes.constraints import TYPE, Constraint, Machine, may_run
from schedgap.instances.provisioning.readers.kubernetes.nodes import (
    alike_sizes,
    amounts_of,
    is_leaving,
    is_ready,
    lasting_taints,
    less,
    taken_by_node,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import Annotations
from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, Report, State, node_labels
from schedgap.instances.provisioning.readers.quantities import (
    BYTES,
    CPU,
    PODS,
    RAM,
    THOUSAND,
    UNLIMITED,
    in_units,
    listed,
    unique_names,
)

BESIDE = f"may not share a node with others, beyond the {MOST} rules of the most pods"
NO_LONGER = "run where they would not be let today, and may stay"
# So many nodes with pods that may only stay are told apart.
MOST_ALONE = 200
KIB = 2**10


class Seen(NamedTuple):
    """A pod. notes : its annotations. stays : why it may not move, empty where it may."""

    name: str
    group: PodGroup
    node: str
    notes: Annotations | None
    priority: int
    created: str
    stays: str


def alone_as_resources(excluding: Exclusions, groups: Sequence[PodGroup], report: Report) -> None:
    """State that at most one pod of some shares a node as a resource that each takes whole; of the most pods, `MOST` such."""
    pods: Counter[int] = Counter()
    for group, marks in zip(groups, excluding.alone, strict=True):
        pods.update(dict.fromkeys(marks, group.count))
    kept = {mark: f"alone-{n}" for n, (mark, _) in enumerate(pods.most_common(MOST))}
    excluding.capacity |= dict.fromkeys(kept.values(), THOUSAND)
    for group, marks, demand in zip(groups, excluding.alone, excluding.demand, strict=True):
        demand |= {kept[mark]: THOUSAND for mark in marks if mark in kept}
        if not kept.keys() >= set(marks):
            report.relaxed[BESIDE][group.name] += group.count
    if len(kept) == len(pods):
        report.sentences += [*excluding.kept, *excluding.kept_alone]


class Rooms:
    """What nodes have for pods. left, devices : of each. admits : (Q, N) bool, by constraint; closed nodes admit none."""

    def __init__(self, state: State, excluding: Exclusions, constraints: Sequence[Constraint]) -> None:
        self.state, self.names = state, list(state.nodes)
        labels = {name: node_labels(node) for name, node in state.nodes.items()}
        sizes, unsaid = {}, []
        for name, node in state.nodes.items():
            size = amounts_of(node.status.allocatable) or amounts_of(node.status.capacity)
            if CPU not in size or RAM not in size:
                unsaid.append(name)
            sizes[name] = {
                key: min(value, UNLIMITED)
                for key, value in ({CPU: UNLIMITED, RAM: UNLIMITED, PODS: UNLIMITED} | size).items()
            }
        alike = alike_sizes(sizes, {name: labels[name].get(TYPE, "") for name in self.names})
        taken = taken_by_node(state, excluding)
        self.kinds = kinds_of(sizes.values())
        self.left = {name: less(alike[name] | excluding.capacity, taken[name]) for name in self.names}
        self.devices = {
            name: devices_of_node(labels[name], node.metadata.annotations, self.left[name], self.kinds)
            for name, node in state.nodes.items()
        }
        self.closed = [
            name
            for name, node in state.nodes.items()
            if node.spec.unschedulable or not is_ready(node) or is_leaving(node)
        ]
        self.admits = self._admissions(constraints, labels)
        self._tell(unsaid, [name for name in self.names if alike[name] != sizes[name]])

    def _admissions(self, constraints: Sequence[Constraint], labels: Mapping[str, dict[str, str]]) -> BoolArray:
        """Ask of each constraint, and of nodes that are alike in what it looks at, once. O(Q N)."""
        closed = set(self.closed)
        taints = [lasting_taints(self.state, node, "") for node in self.state.nodes.values()]
        admits = np.zeros((len(constraints), len(self.names)), np.bool_)
        for q, constraint in enumerate(constraints):
            keys = sorted({each.key for each in constraint.expressions()})
            known: dict[object, bool] = {}
            for n, name in enumerate(self.names):
                has = labels[name]
                alike = (taints[n], tuple(has.get(key) for key in keys))
                if alike not in known:
                    machine = Machine({key: frozenset((has.get(key),)) for key in keys}, taints[n])
                    known[alike] = may_run(constraint, machine) is not False
                admits[q, n] = known[alike] and name not in closed
        return admits

    def _tell(self, unsaid: Sequence[str], raised: Sequence[str]) -> None:
        say = self.state.report.sentences
        if unsaid:
            say.append(
                f"Relaxed: of {len(unsaid)} nodes CPU or memory is not said, and counts as unlimited: {listed(unsaid)}."
            )
        if raised:
            say.append(
                f"Relaxed: {len(raised)} nodes count with the memory of the largest node of their type, by less than a "
                f"thousandth more than they have: {listed(raised)}."
            )
        if self.closed:
            say.append(
                f"{len(self.closed)} nodes are cordoned, not ready or about to go; they take no pods, and what runs there may "
                f"stay or leave: {listed(self.closed)}."
            )


class _Shape(NamedTuple):
    """What alike pods take: fine units by resource, GPUs, and the admission that they need, a row of `Assembly.rows`."""

    demand: tuple[tuple[str, int], ...]
    gpus: int
    milli: int
    row: int


class Assembly:
    """The arrays of an instance. asked : of each group, by its identity, its constraint and what keeps it apart."""

    def __init__(
        self,
        rooms: Rooms,
        asked: Mapping[int, tuple[int, dict[str, int]]],
        pods: Sequence[Seen],
        labels_of: Mapping[int, dict[str, str]],
        reserved: Mapping[tuple[str, str], int],
    ) -> None:
        self.rooms, self.asked, self.pods, self.reserved = rooms, asked, pods, reserved
        self.labels_of = labels_of
        self.report = rooms.state.report
        self.index = {name: n for n, name in enumerate(rooms.names)}
        self.node = np.array([self.index[pod.node] if pod.node else NOWHERE for pod in pods], np.int64)
        self.rows: list[BoolArray] = []
        self._shapes()
        self._hold()

    def _shapes(self) -> None:
        """Find what is distinct of pods: demand, GPUs, admission."""
        rooms = self.rooms
        most_mib: dict[str, int] = {}
        for each in rooms.devices.values():
            most_mib[each.kind] = max(most_mib.get(each.kind, 0), each.memory_mib)
        gone = {*rooms.kinds, *SHARING}
        row_of: dict[tuple[int, str, tuple[str, ...]], int] = {}
        shape_of: dict[object, tuple[_Shape, str | None]] = {}
        shapes: dict[_Shape, int] = {}
        self.shape: list[int] = []
        self.names: list[str] = []
        for pod in self.pods:
            notes = pod.notes
            said = notes and (
                *(notes.gpu_fraction, notes.gpu_memory, notes.gpu_milli),
                *(notes.gpu_count, notes.fraction_devices, notes.gpu_model),
            )
            key = (id(pod.group), said)
            if key not in shape_of:
                q, more = self.asked[id(pod.group)]
                request = dict(pod.group.key.request)
                ask, why = asked_of(request, notes, rooms.kinds, most_mib)
                kept = {name: amount for name, amount in request.items() if name not in gone}
                kind = (q, ask.kind if ask.gpus else "", ask.models if ask.gpus else ())
                if kind not in row_of:
                    row_of[kind] = len(self.rows)
                    self.rows.append(rooms.admits[q] & self._has(ask))
                shape = _Shape(tuple(sorted((kept | more).items())), ask.gpus, ask.milli, row_of[kind])
                shape_of[key] = shape, why
                if shape not in shapes:
                    shapes[shape] = len(shapes)
                    self.names.append(pod.group.key.owner)
            shape, why = shape_of[key]
            if why:
                self.report.relaxed[why][pod.group.name] += 1
            self.shape.append(shapes[shape])
        self.shapes = list(shapes)

    def _has(self, ask: Ask) -> BoolArray:
        """(N,) bool: which nodes have GPUs of the kind and the models that pods ask for."""
        devices = [self.rooms.devices[name] for name in self.rooms.names]
        if not ask.gpus:
            return np.ones(len(devices), np.bool_)
        kinds, models = {ask.kind or each.kind for each in devices}, ask.models or {each.model for each in devices}
        return np.array([each.number > 0 and each.kind in kinds and each.model in models for each in devices], np.bool_)

    def _hold(self) -> None:
        """Give GPUs to the pods that run, and to nodes what these need beyond what is there: nobody is evicted."""
        names, rooms = self.rooms.names, self.rooms
        members: defaultdict[int, list[int]] = defaultdict(list)
        held: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for p, n in enumerate(self.node.tolist()):
            if n == NOWHERE:
                continue
            shape = self.shapes[self.shape[p]]
            held[n].update(dict(shape.demand))
            if shape.gpus:
                members[n].append(p)
        self.bits = np.zeros(len(self.pods), np.int64)
        self.count = np.array([rooms.devices[name].number for name in names], np.int64)
        guessed, over = 0, set()
        for n, ps in members.items():
            bits, count, guesses = assigned([self._held(p, names[n]) for p in ps], int(self.count[n]))
            self.bits[ps] = bits
            guessed += guesses
            if count > self.count[n]:
                over.add(names[n])
                self.count[n] = count
        for n, amounts in held.items():
            left = rooms.left[names[n]]
            if more := {key: amount for key, amount in amounts.items() if amount > left.get(key, 0)}:
                over.add(names[n])
                rooms.left[names[n]] = left | more
        if guessed:
            self.report.sentences.append(
                f"Assumed: of {guessed} pods that share a GPU nothing says which; they are put where the least is left that is "
                "enough, the largest first."
            )
        if over:
            self.report.sentences.append(
                f"For information: on {len(over)} nodes pods ask for more than is left there, or exclude each other; these nodes "
                f"have room for what runs on them: {listed(sorted(over))}."
            )

    def _held(self, p: int, node: str) -> Held:
        shape, pod = self.shapes[self.shape[p]], self.pods[p]
        group = self.labels_of.get(id(pod.group), {}).get(KAI_GROUP, "") if shape.milli < ONE else ""
        numbers = numbers_of(pod.notes, self.rooms.devices[node].uuids)
        if not numbers and (node, group) in self.reserved:
            numbers = (self.reserved[node, group],)
        return Held(shape.gpus, shape.milli, numbers, group)

    def instance(self, name: str, unit: str, gang: IntArray) -> PlacementInstance:
        """Return the instance."""
        demands = [dict(shape.demand) for shape in self.shapes]
        used = {key for row in demands for key in row}
        first = (CPU, RAM, PODS)
        resources = [*first[:2], *sorted(used - set(first[:2]), key=lambda key: (key != PODS, key))]
        self._whole_kib(demands)
        names, demand, capacity = in_units(resources, demands, [self.rooms.left[node] for node in self.rooms.names])
        size = np.minimum(np.array(capacity), MAX_AMOUNT)
        rows = np.array(self.rows)
        astray = self._astray(rows)
        node2type, first_of = self._types(rows, size, astray)
        classes, pod2class = self._classes(astray, node2type)
        shape_of = np.array([shape for shape, _ in classes])
        shapes = [self.shapes[shape] for shape, _ in classes]
        admits = rows[[shape.row for shape in shapes]][:, first_of]
        for c, (_, kind) in enumerate(classes):
            if kind != NOWHERE:
                admits[c, kind] = True
        gpus = np.array([shape.gpus for shape in shapes])
        milli = np.array([shape.milli for shape in shapes])
        unit = unit or ("GPUs" if gpus.any() else "pods")
        value = {"GPUs": gpus * milli, "pods": np.full(gpus.size, ONE)}.get(unit, np.zeros(gpus.size, np.int64))
        devices = [self.rooms.devices[self.rooms.names[n]] for n in first_of]
        pods = self.pods
        used_nodes, pending = np.unique(self.node[self.node != NOWHERE]).size, int((self.node == NOWHERE).sum())
        taken = (
            f"Taken: {len(pods)} pods in {len(classes)} classes, {len(pods) - pending} of them on {used_nodes} nodes and "
            f"{pending} pending; {len(self.rooms.names)} nodes in {len(first_of)} types."
        )
        return PlacementInstance(
            name=name,
            unit=unit,
            resources=names,
            type_names=tuple(unique_names(self._type_name(n, size[n], names) for n in first_of)),
            capacity=size[first_of],
            num_gpus=self.count[first_of],
            gpu_model=tuple(each.model if self.count[n] else "" for n, each in zip(first_of, devices, strict=True)),
            node2type=node2type,
            class_names=tuple(unique_names(self.names[shape] for shape in shape_of.tolist())),
            demand=np.array(demand)[shape_of],
            gpus=gpus,
            gpu_milli=milli,
            value=value,
            admits=admits,
            expected=np.zeros(gpus.size, np.int64),
            pod2class=pod2class,
            gang=gang,
            running_node=self.node,
            running_gpus=self.bits,
            movable=np.array([not pod.stays for pod in pods], np.bool_),
            priority=np.array([pod.priority for pod in pods]),
            node_names=tuple(self.rooms.names),
            pod_names=tuple(pod.name for pod in pods),
            notes=(taken, *self.report.notes()),
        )

    def _whole_kib(self, demands: list[dict[str, int]]) -> None:
        """Round bytes down to KiB where not all are whole: an instance holds no such numbers of bytes."""
        for key in {key for row in demands for key in row if key.endswith(BYTES)}:
            odd = sum(row.get(key, 0) % KIB > 0 for row in demands)
            if odd:
                self.report.sentences.append(
                    f"Relaxed: {odd} of {len(demands)} requests for {key.removesuffix(BYTES)} are rounded down to KiB."
                )
                for row in demands:
                    row[key] = row.get(key, 0) // KIB * KIB

    def _astray(self, rows: BoolArray) -> IntArray:
        """(P,) int64: the node of pods that run where they are not admitted, else -1; they may stay."""
        row = np.array([shape.row for shape in self.shapes])[self.shape]
        astray = (self.node != NOWHERE) & ~rows[row, self.node]
        closed = {self.index[name] for name in self.rooms.closed}
        for p in np.flatnonzero(astray).tolist():
            if int(self.node[p]) not in closed:
                self.report.informed[NO_LONGER][self.pods[p].group.name] += 1
        return np.where(astray, self.node, NOWHERE)

    def _types(self, rows: BoolArray, size: IntArray, astray: IntArray) -> tuple[IntArray, list[int]]:
        """Return the type of each node, and the first node of each type."""
        alone = np.unique(astray[astray != NOWHERE])
        mark = np.zeros(len(self.rooms.names), np.int64)
        # Of very many, alike nodes are one type: their pods may then go from one to the next.
        mark[alone] = 1 + np.arange(alone.size) if alone.size <= MOST_ALONE else 1
        models = {model: m for m, model in enumerate({each.model: None for each in self.rooms.devices.values()})}
        model = np.array([models[self.rooms.devices[name].model] for name in self.rooms.names])
        bits = np.packbits(rows, axis=0).T.astype(np.int64)
        shut = np.isin(self.rooms.names, self.rooms.closed)
        table = np.column_stack((bits, size, self.count, np.where(self.count > 0, model, 0), mark, shut))
        _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return place[inverse.reshape(-1)], first[order].tolist()

    def _classes(self, astray: IntArray, node2type: IntArray) -> tuple[list[tuple[int, int]], IntArray]:
        """Return the shape of each class with the type that it may stay on, -1 for none, and the class of each pod."""
        kind = np.where(astray == NOWHERE, NOWHERE, node2type[astray])
        pairs = list(zip(self.shape, kind.tolist(), strict=True))
        index = {pair: c for c, pair in enumerate(dict.fromkeys(pairs))}
        return list(index), np.array([index[pair] for pair in pairs], np.int64)

    def _type_name(self, n: int, size: IntArray, resources: Sequence[str]) -> str:
        name, cpu = self.rooms.names[n], f"{size[resources.index(CPU)] / THOUSAND:g} cpu"
        shut = CLOSED if name in self.rooms.closed else ""
        return (
            f"{shut}{self.count[n]} x {self.rooms.devices[name].model or 'gpu'}, {cpu}" if self.count[n] else shut + cpu
        )
