"""Placement: which pods a cluster of given nodes holds, on which node and which GPUs (Weng et al., USENIX ATC 2023).

Letters used for shapes: T node types, N nodes, C pod classes, P pods, R resources.

A placement: the node and the GPUs of each pod, or that it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import BoolArray, Brief, IntArray, content_hash, first_true, lock, locked_bools, ranges
from schedgap.instances.errors import InstanceError, SolutionError, one_of
from schedgap.instances.model import InstanceModel, check_names, check_shapes
from schedgap.instances.units import shown_amount

FAMILY = "placement"
SCHEMA = "schedgap/placement/1"
# Thousandths of a GPU, and of a pod where pods are counted.
ONE = 1000
# GPUs of a node are the bits of a whole number.
MAX_GPUS = 62
MAX_SLICES = 16
MAX_AMOUNT = 2**40
MAX_TOTAL = 2**52
UNITS = ("GPUs", "pods", "value")
# A pod that is refused or runs nowhere yet, one in no gang, and any number of moves.
NOWHERE = NO_GANG = ANY = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlacementInstance(InstanceModel):
    """Nodes that are what they are, and pods in order of arrival. What is minimised is the value of the refused pods.

    Resources named `*_gib` or `*_mib` are in MiB. Every other is in thousandths, and so are GPUs and values.

    unit : what values are, `GPUs`, `pods` or `value`.
    capacity : (T, R) int64, of a node. num_gpus : (T,) int64, of a node. gpu_model : one a type, empty where it has no GPU.
    node2type : (N,) int64.
    demand : (C, R) int64. gpus : (C,) int64, how many GPUs of one node a pod takes. gpu_milli : (C,) int64, what it takes of
        each of them: 1000, or less of a single one; 0 for pods without a GPU.
    value : (C,) int64, lost with a refused pod. admits : (C, T) bool, the types that may take a pod.
    expected : (C,) int64, the mix of classes that policies expect: pods of each. All zero for that of the instance's own pods.
    pod2class : (P,) int64, in order of arrival. gang : (P,) int64, pods of one number are placed together or not at all; they
        arrive one after the other; -1 for none.
    running_node : (P,) int64, where a pod runs already, -1 for pods that arrive. running_gpus : (P,) int64, bit g for its GPU g.
    movable : (P,) bool, whether a pod that runs may be moved. max_moves : how many may be; -1 for any number.
    priority : (P,) int64, None where all are 0. What arrives stands in this order, a gang by its first pod, and of alike pods
        those of the highest are placed. Nobody is evicted for others.
    accepts : whether no pod is refused that finds room as it arrives; without gangs and moves.

    GPUs that MIG divides, None where there are none: gpu_slices : (T,) int64, the memory slices of each GPU of a node, 0 where
    it is not divided. slices : (C,) int64, how many of them a pod takes, one after the other, 0 for pods without.
    starts : (C,) int64, bit s where slice s may be the first. running_start : (P,) int64, the first slice of pods that run.

    Raises `InstanceError` on anything inconsistent, such as running pods that their node does not hold.
    """

    name: str
    unit: str
    resources: tuple[str, ...]
    type_names: tuple[str, ...]
    capacity: IntArray
    num_gpus: IntArray
    gpu_model: tuple[str, ...]
    node2type: IntArray
    class_names: tuple[str, ...]
    demand: IntArray
    gpus: IntArray
    gpu_milli: IntArray
    value: IntArray
    admits: BoolArray
    expected: IntArray
    pod2class: IntArray
    gang: IntArray
    running_node: IntArray
    running_gpus: IntArray
    movable: BoolArray
    max_moves: int = ANY
    priority: IntArray | None = None
    accepts: bool = False
    gpu_slices: IntArray | None = None
    slices: IntArray | None = None
    starts: IntArray | None = None
    running_start: IntArray | None = None
    node_names: tuple[str, ...] | None = None
    pod_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(_INT_FIELDS, ("max_moves",))
        self._lock_slices()
        if self.priority is not None:
            object.__setattr__(self, "priority", self.priority if np.any(self.priority) else None)
            self._lock(("priority",) if self.priority is not None else ())
        lock(self, ("admits", "movable"), locked_bools)
        self._check_shapes()
        self._check_values()
        self._check_pods()
        object.__setattr__(self, "digest", self._content_hash())
        self._check_running()

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.node2type.shape[0])

    @property
    def num_pods(self) -> int:
        """Number of pods."""
        return int(self.pod2class.shape[0])

    @property
    def is_running(self) -> BoolArray:
        """(P,) bool: which pods run already."""
        running: BoolArray = self.running_node != NOWHERE
        return running

    @property
    def total_value(self) -> int:
        """The value of all pods."""
        return int(self.value @ self.class_counts())

    @property
    def gpu_capacity(self) -> int:
        """Thousandths of a GPU on all nodes."""
        return ONE * int(self.num_gpus[self.node2type].sum())

    def class_counts(self) -> IntArray:
        """(C,) int64: how many pods of each class there are."""
        return np.bincount(self.pod2class, minlength=len(self.class_names))

    def mix(self) -> IntArray:
        """(C,) int64: how many pods of each class policies expect, in proportion."""
        return self.expected if self.expected.any() else self.class_counts()

    def type_counts(self) -> IntArray:
        """(T,) int64: how many nodes of each type there are."""
        return np.bincount(self.node2type, minlength=len(self.type_names))

    def fits(self) -> BoolArray:
        """(C, T) bool: where an empty node holds a pod of the class."""
        fits = self.takes() & (self.gpus[:, None] <= self.num_gpus)
        for r in range(len(self.resources)):
            fits &= self.demand[:, r : r + 1] <= self.capacity[:, r]
        return fits

    def takes(self, classes: IntArray | slice = slice(None)) -> BoolArray:
        """(C, T) bool, or rows of some classes: the types that admit a class, and divide their GPUs as it asks for, or not."""
        admits = self.admits[classes]
        if self.slices is None or self.gpu_slices is None or self.starts is None:
            return admits
        first = np.argmax((self.starts[classes, None] >> np.arange(MAX_SLICES)) & 1, axis=1)
        size = self.slices[classes]
        sliced = (size > 0)[:, None]
        room: BoolArray = (first + size)[:, None] <= self.gpu_slices
        takes: BoolArray = admits & (
            (self.gpus[classes, None] == 0) | (sliced & room) | (~sliced & (self.gpu_slices == 0))
        )
        return takes

    def node_name(self, node: int) -> str:
        """Return the name of a node."""
        return self.node_names[node] if self.node_names is not None else f"node-{node}"

    def pod_name(self, pod: int) -> str:
        """Return the name of a pod."""
        return self.pod_names[pod] if self.pod_names is not None else f"pod-{pod}"

    def chosen(self, pods: BoolArray, name: str) -> PlacementInstance:
        """Return an instance of some of the pods."""
        given = {key: getattr(self, key) for key in (*_POD_FIELDS, *_MORE_OF_PODS)}
        arrays = {key: values[pods] for key, values in given.items() if values is not None}
        names = None if self.pod_names is None else tuple(np.array(self.pod_names)[pods].tolist())
        return self.replace(name=name, pod_names=names, notes=(), **arrays)

    def _check_shapes(self) -> None:
        num_types, num_classes, num_resources = len(self.type_names), len(self.class_names), len(self.resources)
        for what, names in (
            ("resource", self.resources),
            ("node type", self.type_names),
            ("pod class", self.class_names),
        ):
            if not names or len(set(names)) != len(names):
                raise InstanceError(
                    f"{self.name}: {what} names are {', '.join(names)[:200] or 'none'}; give different ones."
                )
        wanted = {"capacity": (num_types, num_resources), "num_gpus": (num_types,), "node2type": (self.node2type.size,)}
        wanted |= {"demand": (num_classes, num_resources), "admits": (num_classes, num_types)}
        wanted |= {key: (num_classes,) for key in ("gpus", "gpu_milli", "value", "expected")}
        wanted |= {"gpu_slices": (num_types,), "slices": (num_classes,), "starts": (num_classes,)}
        check_shapes(self, wanted | {key: (self.pod2class.size,) for key in (*_POD_FIELDS, *_MORE_OF_PODS)})
        if len(self.gpu_model) != num_types:
            raise InstanceError(
                f"{self.name}: {len(self.gpu_model)} GPU models for {num_types} node types; give one each."
            )
        for what, given, count in (("node", self.node_names, self.num_nodes), ("pod", self.pod_names, self.num_pods)):
            if given is not None:
                check_names(self.name, what, given, count)

    def _check_values(self) -> None:
        one_of(f"{self.name}: unit", self.unit, UNITS, InstanceError)
        if not self.num_nodes or not self.num_pods:
            raise InstanceError(
                f"{self.name}: {self.num_nodes} nodes and {self.num_pods} pods; give at least one of each."
            )
        for what, names, keys in (
            ("node type", self.type_names, ("capacity",)),
            ("pod class", self.class_names, _AMOUNTS),
        ):
            for key in keys:
                values = getattr(self, key)
                if (bad := (values < 0) | (values > MAX_AMOUNT)).any():
                    where = tuple(np.argwhere(bad)[0])
                    raise InstanceError(
                        f"{self.name}: {key} of {what} {names[where[0]]} is {values[where]}; give 0 to {MAX_AMOUNT} (in "
                        "integer units)."
                    )
        if (kind := first_true((self.num_gpus < 0) | (self.num_gpus > MAX_GPUS))) is not None:
            raise InstanceError(
                f"{self.name}: node type {self.type_names[kind]} has {self.num_gpus[kind]} GPUs; give 0 to {MAX_GPUS}."
            )
        whole = (self.gpus >= 1) & (self.gpu_milli == ONE)
        share = (self.gpus == 1) & (self.gpu_milli >= 1) & (self.gpu_milli < ONE)
        if (c := first_true(~(whole | share | ((self.gpus == 0) & (self.gpu_milli == 0))))) is not None:
            raise InstanceError(
                f"{self.name}: pod class {self.class_names[c]} takes {self.gpu_milli[c]} thousandths of each of "
                f"{self.gpus[c]} GPUs; give whole GPUs, a share of one, or none."
            )
        self._check_slices()
        for key, count in (("node2type", len(self.type_names)), ("pod2class", len(self.class_names))):
            if (place := first_true((getattr(self, key) < 0) | (getattr(self, key) >= count))) is not None:
                raise InstanceError(
                    f"{self.name}: {key}.{place} is {getattr(self, key)[place]}; give 0 to {count - 1}."
                )
        counts = self.class_counts().astype(object)
        if max((counts @ self.value.astype(object), *(counts @ self.demand.astype(object)))) > MAX_TOTAL:
            raise InstanceError(f"{self.name}: demands or values add up to more than {MAX_TOTAL}; use larger units.")

    def _lock_slices(self) -> None:
        """Have all fields of divided GPUs, or none where nothing is divided."""
        given = {key: getattr(self, key) for key in _MIG_FIELDS}
        is_divided = any(values is not None and np.any(values) for values in given.values())
        for key, like in zip(_MIG_FIELDS, (self.num_gpus, self.gpus, self.gpus, self.pod2class), strict=True):
            values = np.zeros_like(like) if given[key] is None else given[key]
            object.__setattr__(self, key, values if is_divided else None)
        if is_divided:
            self._lock(_MIG_FIELDS)

    def _check_slices(self) -> None:
        if self.slices is None or self.gpu_slices is None or self.starts is None:
            return
        if (kind := first_true((self.gpu_slices < 0) | (self.gpu_slices > MAX_SLICES))) is not None:
            has = self.gpu_slices[kind]
            raise InstanceError(
                f"{self.name}: node type {self.type_names[kind]} has {has} slices a GPU; give 0 to {MAX_SLICES}."
            )
        share = (self.gpus == 1) & (self.starts >= 1) & (self.starts < 1 << MAX_SLICES) & (self.slices <= MAX_SLICES)
        if (c := first_true(~(((self.slices > 0) & share) | (self.slices == 0)))) is not None:
            raise InstanceError(
                f"{self.name}: pod class {self.class_names[c]} takes {self.slices[c]} slices of {self.gpus[c]} GPUs, starting at "
                f"{self.starts[c]:#b}; give up to {MAX_SLICES} slices of one GPU, and where they may start."
            )

    def _check_pods(self) -> None:
        if self.max_moves < ANY:
            raise InstanceError(f"{self.name}: max_moves is {self.max_moves}; give 0 or more, or -1 for any number.")
        together = self.gang != NO_GANG
        begins = together & np.concatenate(([True], self.gang[1:] != self.gang[:-1]))
        first = self.gang[begins]
        if (self.gang < NO_GANG).any() or np.unique(first).size != first.size:
            raise InstanceError(
                f"{self.name}: the pods of a gang do not stand together; give them one after the other, with numbers from 0."
            )
        if (pod := first_true(together & self.is_running)) is not None:
            raise InstanceError(
                f"{self.name}: pod {self.pod_name(pod)} runs and is in a gang; gangs are of pods that arrive."
            )
        if self.priority is not None:
            # Of a gang the first pod counts.
            turns = np.flatnonzero(~self.is_running & (begins | ~together))
            if (later := first_true(np.diff(self.priority[turns]) > 0)) is not None:
                raise InstanceError(
                    f"{self.name}: pod {self.pod_name(int(turns[later + 1]))} arrives after one of lower priority; give pods in "
                    "order of priority, the highest first."
                )
        if self.accepts and (together.any() or (self.max_moves != 0 and (self.is_running & self.movable).any())):
            raise InstanceError(
                f"{self.name}: accepts is for pods that arrive alone while nothing moves; leave out gangs, set max_moves to 0."
            )
        if (pod := first_true((self.running_node < NOWHERE) | (self.running_node >= self.num_nodes))) is not None:
            raise InstanceError(
                f"{self.name}: pod {self.pod_name(pod)} runs on node {self.running_node[pod]}; there are {self.num_nodes}."
            )
        if (pod := first_true(~self.is_running & (self.running_gpus != 0))) is not None:
            raise InstanceError(f"{self.name}: pod {self.pod_name(pod)} has GPUs and runs on no node; leave them out.")

    def _check_running(self) -> None:
        for message in overloads(self, Placement(self.running_node, self.running_gpus, self.running_start)):
            raise InstanceError(f"{self.name}: {message}")

    def _content_hash(self) -> str:
        names = (self.unit, self.resources, self.type_names, self.gpu_model, self.class_names, self.max_moves)
        arrays = (
            *(getattr(self, key) for key in _INT_FIELDS),
            self.admits.astype(np.int64),
            self.movable.astype(np.int64),
        )
        more = [getattr(self, key) for key in (*_MIG_FIELDS, "priority") if getattr(self, key) is not None]
        more += ["accepts"] * self.accepts
        return content_hash([SCHEMA, *names, self.node_names, self.pod_names, *arrays, *more])


_MIG_FIELDS = ("gpu_slices", "slices", "starts", "running_start")
_AMOUNTS = ("demand", "value", "expected")
_MORE_OF_PODS = ("running_start", "priority")
_POD_FIELDS = ("pod2class", "gang", "running_node", "running_gpus", "movable")
_INT_FIELDS = (
    *("capacity", "num_gpus", "node2type", "demand", "gpus", "gpu_milli", "value", "expected"),
    *("pod2class", "gang", "running_node", "running_gpus"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Placement(Brief):
    """node : (P,) int64, the node of each pod, -1 for refused ones. gpus : (P,) int64, bit g for GPU g of that node.

    start : (P,) int64, the first slice of pods that take slices of a GPU, 0 for all others; None for zeros.
    """

    node: IntArray
    gpus: IntArray
    start: IntArray | None = None

    def __post_init__(self) -> None:
        if self.start is None:
            object.__setattr__(self, "start", np.zeros(np.shape(self.node), np.int64))
        lock(self, ("node", "gpus", "start"), error=SolutionError)


def devices_of(gpus: IntArray, most: int) -> BoolArray:
    """(P, most) bool: which GPUs of its node each pod holds. gpus : (P,) int64, bit g for GPU g."""
    held: BoolArray = (gpus[:, None] >> np.arange(most)) & 1 == 1
    return held


def most_gpus(instance: PlacementInstance) -> int:
    """Return the most GPUs of a node, at least 1: the width of arrays that have a column for each GPU."""
    return max(1, int(instance.num_gpus.max()))


def use(instance: PlacementInstance, node: IntArray, gpus: IntArray) -> tuple[IntArray, IntArray]:
    """Return (N, R) and (N, G) int64: what pods take of each node's resources and of each of its GPUs, in thousandths.

    node, gpus : as of a `Placement`, of existing nodes. G is `most_gpus`. O(P (R + G)).
    """
    placed = node != NOWHERE
    classes, where = instance.pod2class[placed], node[placed]
    used = np.zeros((instance.num_nodes, len(instance.resources)), np.int64)
    np.add.at(used, where, instance.demand[classes])
    held = devices_of(gpus[placed], most_gpus(instance)) * instance.gpu_milli[classes, None]
    milli = np.zeros((instance.num_nodes, held.shape[1]), np.int64)
    np.add.at(milli, where, held)
    return used, milli


def overloads(instance: PlacementInstance, placement: Placement) -> list[str]:
    """Return what pods break where they are, at most one sentence of each kind: admission, GPUs, resources, slices.

    placement : on existing nodes.
    """
    found: list[str] = []
    node, gpus = placement.node, placement.gpus
    node_type = instance.node2type[node]
    placed, classes = node != NOWHERE, instance.pod2class

    def says(pod: int | None, what: Callable[[int, str], str]) -> bool:
        if pod is not None:
            found.append(f"pod {instance.pod_name(pod)} {what(pod, instance.node_name(int(node[pod])))}.")
        return pod is not None

    says(
        first_true(placed & ~instance.admits[classes, node_type]),
        lambda pod, name: f"is on node {name} of type {instance.type_names[node_type[pod]]}, which does not admit it",
    )
    devices = devices_of(gpus, MAX_GPUS)
    bad = placed & (
        (gpus < 0) | (devices.sum(axis=1) != instance.gpus[classes]) | (gpus >> instance.num_gpus[node_type] > 0)
    )
    if says(
        first_true(bad),
        lambda pod, name: (
            f"has GPUs {np.flatnonzero(devices[pod]).tolist()} of node {name}, which has "
            f"{instance.num_gpus[node_type[pod]]}; it takes {instance.gpus[classes[pod]]}"
        ),
    ):
        return found
    used, milli = use(instance, node, gpus)
    over = used > instance.capacity[instance.node2type]
    if over.any():
        where, r = np.argwhere(over)[0].tolist()
        has = int(instance.capacity[instance.node2type[where], r])
        found.append(
            f"node {instance.node_name(where)} is over its {instance.resources[r]}: "
            f"{shown_amount(int(used[where, r]), instance.resources[r])} used, it has {shown_amount(has, instance.resources[r])}."
        )
    if (milli > ONE).any():
        where, gpu = np.argwhere(milli > ONE)[0].tolist()
        found.append(
            f"GPU {gpu} of node {instance.node_name(where)} is over: {milli[where, gpu]} of {ONE} thousandths used."
        )
    return found + _overlaps(instance, placement)


def _overlaps(instance: PlacementInstance, placement: Placement) -> list[str]:
    """Return what pods break of the division of GPUs into slices, at most one sentence."""
    start, classes, node = placement.start, instance.pod2class, placement.node
    assert start is not None
    if instance.slices is None or instance.starts is None or instance.gpu_slices is None:
        pod = first_true(start != 0)
        return [] if pod is None else [f"pod {instance.pod_name(pod)} starts at slice {start[pod]}; no GPU has slices."]
    size, has = instance.slices[classes], instance.gpu_slices[instance.node2type[node]]
    placed = node != NOWHERE
    able = instance.takes()[classes, instance.node2type[node]]
    may = (instance.starts[classes] >> np.clip(start, 0, MAX_SLICES)) & 1 == 1
    fits = np.where(placed & (size > 0), (start >= 0) & (start + size <= has) & may, start == 0)
    if (pod := first_true((placed & ~able) | ~fits)) is not None:
        return [
            f"pod {instance.pod_name(pod)} takes {size[pod]} slices from slice {start[pod]} on of a GPU of "
            f"{has[pod]} slices, where they may not be."
        ]
    pods = np.flatnonzero(placed & (size > 0))
    gpu = np.log2(placement.gpus[pods]).astype(np.int64)
    first = (node[pods] * MAX_GPUS + gpu) * MAX_SLICES + start[pods]
    places, holders = np.unique(np.repeat(first, size[pods]) + ranges(0, size[pods]), return_counts=True)
    if (place := first_true(holders > 1)) is not None:
        there, number = divmod(int(places[place]), MAX_SLICES)
        where, of_gpu = divmod(there, MAX_GPUS)
        return [f"slice {number} of GPU {of_gpu} of node {instance.node_name(where)} is taken {holders[place]} times."]
    return []


def features(instance: PlacementInstance) -> frozenset[str]:
    """Return what of an instance a method must say that it handles: `running` pods, `gangs`, `slices` of GPUs, `accepts`."""
    found = {
        "running": instance.is_running.any(),
        "gangs": (instance.gang != NO_GANG).any(),
        "accepts": instance.accepts,
    }
    found["slices"] = instance.slices is not None and instance.slices.any()
    return frozenset(feature for feature, is_there in found.items() if is_there)


MAX_NODES, MAX_PODS = 6, 12


def shrink(instance: PlacementInstance) -> PlacementInstance:
    """Return an instance of the first pods, on their nodes and the first others: to warm up, not to measure."""
    small = instance.chosen(np.arange(instance.num_pods) < MAX_PODS, f"{instance.name}-shrunk")
    runs, node = small.is_running, small.running_node
    kept = np.union1d(node[runs], np.arange(min(MAX_NODES, instance.num_nodes)))
    names = None if instance.node_names is None else tuple(instance.node_names[n] for n in kept.tolist())
    placed = np.where(runs, np.searchsorted(kept, node), NOWHERE)
    return small.replace(node2type=instance.node2type[kept], running_node=placed, node_names=names)
