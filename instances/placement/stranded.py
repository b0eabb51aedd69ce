"""What a running cluster holds and what of it is idle, by cause; how many more pods of a class fit, without any search.

Letters as in `model`: T node types, N nodes, C pod classes, P pods, R resources, G GPUs of a node.

What pods that run leave of nodes: of their resources, of each GPU, and of the slices of GPUs that MIG divides.

Pods as people write them: `cpu=4,gpu=1,memory=16Gi`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.placement.model import (
    ANY,
    MAX_AMOUNT,
    MAX_GPUS,
    MAX_SLICES,
    NO_GANG,
    NOWHERE,
    ONE,
    Placement,
    PlacementInstance,
    devices_of,
    use,
)
from schedgap.instances.provisioning.readers.quantities import BILLION, THOUSAND, decimal, listed, nano


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What is free beside pods. left : (N, R) int64. milli : (N, G) int64, thousandths of each GPU, -1 where there is none.

    taken : (N, G) int64, bit s for each slice s of a GPU that MIG divides.
    """

    left: IntArray
    milli: IntArray
    taken: IntArray


def room_of(instance: PlacementInstance, pods: BoolArray, placement: Placement | None = None) -> Room:
    """Return what is free beside some pods of a placement, by default of those that run. pods : (P,) bool. O((P + N) (R + G))."""
    if placement is None:
        placement = Placement(instance.running_node, instance.running_gpus, instance.running_start)
    node, gpus, start = np.where(pods, placement.node, NOWHERE), placement.gpus, placement.start
    used, milli = use(instance, node, gpus)
    there = np.arange(milli.shape[1]) < instance.num_gpus[instance.node2type, None]
    taken = np.zeros_like(milli)
    if instance.slices is not None and start is not None:
        size = instance.slices[instance.pod2class]
        sliced = np.flatnonzero((node != NOWHERE) & (size > 0))
        gpu = devices_of(gpus[sliced], milli.shape[1]).argmax(axis=1)
        # No two pods hold the same slice.
        np.add.at(taken, (node[sliced], gpu), ((1 << size[sliced]) - 1) << start[sliced])
    return Room(instance.capacity[instance.node2type] - used, np.where(there, ONE - milli, -1), taken)


def open_start(instance: PlacementInstance, c: int, kind: IntArray, taken: IntArray) -> IntArray:
    """Return the last slice at which a pod of a class may start on GPUs, -1 where none is open: the first stay free longest.

    kind, taken : of the GPUs, broadcast: the type of their node, and int64 with a bit for each slice that is taken.
    """
    found = np.full(np.broadcast_shapes(np.shape(kind), np.shape(taken)), -1)
    assert instance.slices is not None
    assert instance.starts is not None
    assert instance.gpu_slices is not None
    size = int(instance.slices[c])
    for start in np.flatnonzero(devices_of(instance.starts[c : c + 1], MAX_SLICES)[0]).tolist():
        is_open = (taken & (((1 << size) - 1) << start) == 0) & (start + size <= instance.gpu_slices[kind])
        found[is_open] = start
    return found


def open_gpus(instance: PlacementInstance, c: int, kind: IntArray, milli: IntArray, taken: IntArray) -> BoolArray:
    """Return which GPUs have room for a pod of a class. kind : (n,), types of nodes. milli, taken : (n, G), as of a `Room`."""
    has_room: BoolArray = milli >= max(int(instance.gpu_milli[c]), 1)
    if instance.slices is not None and instance.slices[c]:
        has_room &= open_start(instance, c, kind[:, None], taken) >= 0
    return has_room


# More than any node holds, for pods that ask for nothing.
UNLIMITED = 2**40
GPUS = "GPUs"
# How the names of types begin whose nodes take no pods now.
CLOSED = "closed, "
ELSEWHERE, SHUT = "on nodes that do not admit it", "on closed nodes"
SCATTERED, REST = "too few GPUs on a node", "too little on a node"


@dataclass(frozen=True, slots=True)
class Idle:
    """What of a resource, or of the GPUs, is idle for a class. usable : what more pods of it could take now.

    causes : what they cannot take, by why. In the units of the instance; thousandths of GPUs.
    """

    what: str
    idle: int
    usable: int
    causes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes alike but for small differences. used, total : by resource, and of `GPUs` where there are some."""

    name: str
    nodes: int
    used: dict[str, int]
    total: dict[str, int]


def fitting(instance: PlacementInstance, room: Room, c: int) -> IntArray:
    """(N,) int64: how many more pods of a class each node holds as it is, exactly. O(N (R + G))."""
    counts = _counts(instance, room, c)
    return np.minimum.reduce([*counts.values()]) if counts else np.full(instance.num_nodes, UNLIMITED)


def _counts(instance: PlacementInstance, room: Room, c: int) -> dict[str, IntArray]:
    """Return (N,) int64 for each resource that a class asks for, and GPUs: how many pods that alone would hold; GPUs first."""
    admitted = instance.takes(np.array([c]))[0, instance.node2type]
    counts: dict[str, IntArray] = {}
    if instance.slices is not None and instance.slices[c]:
        counts[GPUS] = _slots(instance, room, c)
    elif instance.gpus[c]:
        each = np.maximum(room.milli, 0) // instance.gpu_milli[c]
        counts[GPUS] = each.sum(axis=1) // instance.gpus[c]
    for r, name in enumerate(instance.resources):
        if instance.demand[c, r]:
            counts[name] = room.left[:, r] // instance.demand[c, r]
    return {name: np.where(admitted, count, 0) for name, count in counts.items()}


def _slots(instance: PlacementInstance, room: Room, c: int) -> IntArray:
    """(N,) int64: how many pods of a class find slices on the GPUs of each node: of equal length, the last ones go first."""
    kind, taken = instance.node2type[:, None], room.taken.copy()
    assert instance.slices is not None
    block, found = (1 << int(instance.slices[c])) - 1, np.zeros(instance.num_nodes, np.int64)
    while True:
        start = open_start(instance, c, kind, taken)
        is_open = (start >= 0) & (room.milli >= 0)
        if not is_open.any():
            return found
        taken = np.where(is_open, taken | block << np.maximum(start, 0), taken)
        found += is_open.sum(axis=1)


def at_most(instance: PlacementInstance, now: Room, tied: Room, c: int) -> int:
    """Return what no plan holds more of: pods of a class beside those that run, whichever of these move. O(N (R + G)).

    That is what each node could hold beside pods that may not move, and no more than what is free anywhere.
    now, tied : what is free beside all that runs, and beside what may not move.
    """
    free = dict(zip(instance.resources, now.left.sum(axis=0).tolist(), strict=True))
    limits = [int(fitting(instance, tied, c).sum())]
    limits += [free[name] // d for name, d in zip(instance.resources, instance.demand[c].tolist(), strict=True) if d]
    if instance.gpus[c]:
        limits.append(int(np.maximum(now.milli, 0).sum()) // int(instance.gpus[c] * instance.gpu_milli[c]))
    return min(limits)


def stranded(instance: PlacementInstance, room: Room, c: int) -> list[Idle]:
    """Return what is idle of all that a class asks for, and why its pods cannot take it: GPUs first. O(N (R + G)).

    On each node, what the scarcest other resource leaves is lacking that resource; what remains when no further pod could
    have its part is less than one asks for, of GPUs not whole.
    """
    counts = _counts(instance, room, c)
    if not counts:
        return []
    fits = np.minimum.reduce([*counts.values()])
    names = list(counts)
    scarce = np.argmin(np.stack([counts[name] for name in names]), axis=0)
    admitted = instance.takes(np.array([c]))[0, instance.node2type]
    closed = np.array([name.startswith(CLOSED) for name in instance.type_names])[instance.node2type]
    found = []
    for name in names:
        if name == GPUS:
            idle, takes = np.maximum(room.milli, 0).sum(axis=1), int(instance.gpus[c] * instance.gpu_milli[c])
        else:
            r = instance.resources.index(name)
            idle, takes = room.left[:, r], int(instance.demand[c, r])
        causes = {ELSEWHERE: int(idle[~admitted & ~closed].sum()), SHUT: int(idle[~admitted & closed].sum())}
        rest = SCATTERED if name == GPUS else REST
        causes[rest] = int((idle - counts[name] * takes)[admitted].sum())
        lost = (counts[name] - fits) * takes
        for other, key in enumerate(names):
            causes[f"lack of {key}"] = int(lost[admitted & (scarce == other)].sum())
        usable = int(fits.sum()) * takes
        found.append(Idle(name, int(idle.sum()), usable, {why: amount for why, amount in causes.items() if amount}))
    return found


def groups(instance: PlacementInstance, room: Room) -> list[Group]:
    """Return the nodes by GPUs and size, those with the most GPUs first. O(N (R + G) + T)."""
    cpu = instance.capacity[:, 0]
    keys: dict[tuple[object, ...], list[int]] = {}
    for t, name in enumerate(instance.type_names):
        # Within half of a power of two of CPU.
        size = round(2 * float(np.log2(max(1, int(cpu[t])))))
        closed = name.startswith(CLOSED)
        keys.setdefault((-int(instance.num_gpus[t]), instance.gpu_model[t], -size, closed), []).append(t)
    number, made = instance.type_counts(), []
    for key in sorted(keys, key=str):
        types = keys[key]
        nodes = np.isin(instance.node2type, types)
        held = instance.capacity[instance.node2type[nodes]]
        total = dict(zip(instance.resources, held.sum(axis=0).tolist(), strict=True))
        used = dict(zip(instance.resources, (held - room.left[nodes]).sum(axis=0).tolist(), strict=True))
        if key[0]:
            total[GPUS] = ONE * int(instance.num_gpus[instance.node2type[nodes]].sum())
            used[GPUS] = total[GPUS] - int(np.maximum(room.milli[nodes], 0).sum())
        name = re.sub(r"-[0-9]+$", "", instance.type_names[max(types, key=lambda t: int(number[t]))])
        made.append(Group(name, int(nodes.sum()), used, total))
    return sorted(made, key=lambda group: (-group.total.get(GPUS, 0), -group.nodes))


def asking(instance: PlacementInstance, c: int, number: int) -> PlacementInstance:
    """Return what runs, and so many pods of a class that arrive: how many of them fit is what is refused of them."""
    return _with_pods(instance, f"{instance.name}-class-{c}", np.full(number, c))


def arriving(instance: PlacementInstance, most: Mapping[int, int]) -> PlacementInstance | None:
    """Return the instance in which each pending pod counts one, without those beyond what ever fits of their class.

    most : for each class that waits, what no plan holds more of. Gangs stay whole. None where no pod remains.
    """
    alone = ~instance.is_running & (instance.gang == NO_GANG)
    kept = instance.is_running | (instance.gang != NO_GANG)
    for c, number in most.items():
        kept[np.flatnonzero(alone & (instance.pod2class == c))[:number]] = True
    if not (kept & ~instance.is_running).any():
        return None
    made = instance if kept.all() else instance.chosen(kept, f"{instance.name}-that-may-fit")
    return made.replace(unit="pods", value=np.full(made.value.size, ONE), accepts=False, notes=())


def clearing(instance: PlacementInstance) -> tuple[PlacementInstance, int] | None:
    """Return what runs, and pods of which each takes all GPUs of a node; how many of these, or None without nodes to clear.

    The nodes are those that take pods and have the most GPUs; without any GPU, a pod takes all that a node has.
    """
    is_open = _open_types(instance)
    most = int(instance.num_gpus[is_open].max(initial=0))
    types = np.flatnonzero(is_open & (instance.num_gpus == most))
    if not types.size:
        return None
    counts = instance.type_counts()[types]
    # All GPUs are one class; else one for each type.
    rows = types[:1] if most else types
    first = len(instance.class_names)
    admits = np.zeros((rows.size, len(instance.type_names)), np.bool_)
    for row, kind in enumerate(rows.tolist()):
        admits[row, types if most else kind] = True
    demand = np.zeros((rows.size, len(instance.resources)), np.int64) if most else instance.capacity[rows]
    pods = np.full(int(counts.sum()), first) if most else first + np.repeat(np.arange(rows.size), counts)
    made = _with_pods(
        instance,
        f"{instance.name}-cleared",
        pods,
        class_names=(*instance.class_names, *(f"all of a node {row}" for row in range(rows.size))),
        demand=np.concatenate((instance.demand, demand)),
        gpus=np.concatenate((instance.gpus, np.full(rows.size, most))),
        gpu_milli=np.concatenate((instance.gpu_milli, np.full(rows.size, ONE if most else 0))),
        value=np.full(first + rows.size, ONE),
        admits=np.concatenate((instance.admits, admits)),
        expected=np.zeros(first + rows.size, np.int64),
        slices=None if instance.slices is None else np.append(instance.slices, np.zeros(rows.size, np.int64)),
        starts=None if instance.starts is None else np.append(instance.starts, np.zeros(rows.size, np.int64)),
    )
    return made, most


def _open_types(instance: PlacementInstance) -> BoolArray:
    """(T,) bool: the types that take pods, and whose GPUs are not divided."""
    is_open: BoolArray = np.array([not name.startswith(CLOSED) for name in instance.type_names])
    return is_open if instance.gpu_slices is None else is_open & (instance.gpu_slices == 0)


def _with_pods(instance: PlacementInstance, name: str, classes: IntArray, **wider: Any) -> PlacementInstance:
    """Return what runs, and pods of these classes that arrive and count one each. wider : fields of further classes."""
    runs, nothing = instance.is_running, np.zeros(classes.size, np.int64)
    own = {"value": np.full(instance.value.size, ONE)} | wider
    names = None
    if instance.pod_names is not None:
        kept = tuple(instance.pod_names[pod] for pod in np.flatnonzero(runs).tolist())
        names = (*kept, *(f"new/{n}" for n in range(classes.size)))
    return instance.replace(
        name=name,
        unit="pods",
        pod2class=np.concatenate((instance.pod2class[runs], classes)),
        gang=np.full(int(runs.sum()) + classes.size, NO_GANG),
        running_node=np.concatenate((instance.running_node[runs], nothing + NOWHERE)),
        running_gpus=np.concatenate((instance.running_gpus[runs], nothing)),
        running_start=None if instance.running_start is None else np.append(instance.running_start[runs], nothing),
        movable=np.concatenate((instance.movable[runs], nothing == 0)),
        priority=None,
        accepts=False,
        pod_names=names,
        max_moves=ANY,
        notes=(),
        **own,
    )


def leaving(instance: PlacementInstance, most: int) -> list[int]:
    """Return how many pods have to leave each node for all its GPUs to be free, in rising order; `most` GPUs, 0 for whole nodes.

    Nodes with a pod on them that may not move are not among them. At most j nodes are cleared by fewer moves than the j
    smallest of these together. O(P + N).
    """
    wanted = _open_types(instance) & (instance.num_gpus == most)
    holds = instance.is_running & ((instance.gpus[instance.pod2class] > 0) | (most == 0))
    number = np.bincount(instance.running_node[holds], minlength=instance.num_nodes)
    tied = np.bincount(instance.running_node[holds & ~instance.movable], minlength=instance.num_nodes)
    return sorted(number[wanted[instance.node2type] & (tied == 0)].tolist())


MEMORY, RAM = "memory", ("ram", "memory", "mem")
# Bytes in one integer unit of a resource, by the ending of its name.
BYTES = {"gib": 2**20, "mib": 2**20, "kib": 2**10, "bytes": 1}
EXAMPLE = "write cpu=4,gpu=1,memory=16Gi"


def with_shape(instance: PlacementInstance, text: str) -> tuple[PlacementInstance, int]:
    """Return the instance with one more class, of no pods, and its number.

    text : amounts by resource, in Kubernetes' quantities; `gpu` (0.5 for half of one), `model` of these (A|B for either).
    Amounts are rounded up to units of the instance. The pod may run where some that takes GPUs, or none, as it does may run.

    Raises
    ------
    InstanceError
        for what no resource of the instance is called, and amounts that are none.
    """
    given: dict[str, str] = {}
    for part in text.split(","):
        key, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not key or not value or key in given:
            raise InstanceError(f"--pod has '{part:.60}', which is no amount, or is there twice; {EXAMPLE}.")
        given[key] = value
    gpus, milli = _gpus(given.pop("gpu", given.pop("gpus", "0")))
    models = [model for model in given.pop("model", "").split("|") if model]
    demand = np.zeros(len(instance.resources), np.int64)
    for key, value in given.items():
        r, unit = _resource(instance, key)
        try:
            amount = -(-nano(value) // (BILLION if unit else BILLION // THOUSAND))
        except InstanceError as error:
            raise InstanceError(f"--pod: {key} is {error}.") from None
        demand[r] = min(-(-amount // unit) if unit else amount, MAX_AMOUNT)
    if "pods" in instance.resources:
        demand[instance.resources.index("pods")] = ONE
    if not demand.any() and not gpus:
        raise InstanceError(f"--pod asks for nothing; {EXAMPLE}.")
    admits = _admitted(instance, gpus > 0, models)
    name = next(n for k in range(len(instance.class_names) + 1) if (n := f"pod-{k}") not in instance.class_names)
    made = instance.replace(
        class_names=(*instance.class_names, name),
        demand=np.concatenate((instance.demand, demand[None])),
        gpus=np.append(instance.gpus, gpus),
        gpu_milli=np.append(instance.gpu_milli, milli),
        value=np.append(instance.value, ONE),
        admits=np.concatenate((instance.admits, admits[None])),
        expected=np.append(instance.expected, 0),
        slices=None if instance.slices is None else np.append(instance.slices, 0),
        starts=None if instance.starts is None else np.append(instance.starts, 0),
    )
    return made, len(instance.class_names)


def _gpus(text: str) -> tuple[int, int]:
    number = decimal(text)
    milli = None if number is None else number * ONE
    if milli is None or milli.denominator > 1 or (milli > ONE and milli % ONE) or milli > MAX_GPUS * ONE:
        raise InstanceError(f"--pod: gpu is '{text:.60}'; give whole GPUs, or thousandths of one such as 0.5.")
    return -(-int(milli) // ONE), min(ONE, int(milli))


def _resource(instance: PlacementInstance, key: str) -> tuple[int, int]:
    """Return the number of a resource and the bytes of its unit, 0 where it counts in thousandths."""
    for r, name in enumerate(instance.resources):
        stem, _, ending = name.rpartition("_")
        size = BYTES.get(ending, 0) if stem else 0
        if key == name or (size and (key == stem or (key == MEMORY and stem in RAM))):
            return r, size
    raise InstanceError(f"--pod: there is no resource '{key:.60}'; there are gpu, {listed(instance.resources, 20)}.")


def _admitted(instance: PlacementInstance, takes_gpus: bool, models: list[str]) -> BoolArray:
    """(T,) bool: the types that admit some class that takes GPUs, or takes none, and all if there is no such class."""
    alike = (instance.gpus > 0) == takes_gpus
    admits = instance.admits[alike].any(axis=0) if alike.any() else np.ones(len(instance.type_names), np.bool_)
    admits &= np.array([not name.startswith(CLOSED) for name in instance.type_names])
    if takes_gpus and models:
        if unknown := sorted(set(models) - set(instance.gpu_model)):
            known = sorted({model for model in instance.gpu_model if model})
            raise InstanceError(f"--pod: no node has GPUs of model '{unknown[0]:.60}'; there are {listed(known, 20)}.")
        admits &= np.isin(instance.gpu_model, models)
    found: BoolArray = admits
    return found
