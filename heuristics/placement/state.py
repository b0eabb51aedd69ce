"""What compiled policies work on: nodes and pods, the expected mix, and scores that are kept. All int64 unless it says otherwise.

Letters: N nodes, T node types, G the most GPUs of a node, R resources, C pod classes, P pods, M classes of the expected mix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.placement.kernels_prices import hole_prices
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, Records, records
from schedgap.instances.placement.measures import watts_by_type
from schedgap.instances.placement.model import NOWHERE, ONE, PlacementInstance
from schedgap.instances.placement.stranded import room_of

# Scores of so many pairs of a class and a node are kept: half a GiB.
MOST_SCORES = 2**26
BLOCK = 64
PERCENT = 95
# What a pod that asks for no CPU, or no memory, counts as in kube-scheduler's scores: thousandths, MiB.
MISSING_CPU, MISSING_MEMORY = 100, 200


class Node:
    """of : its type. tags : a bit for each kind of pod with GPUs on it, 0 for shares and k for those of k GPUs.

    asked_cpu, asked_memory : what its pods count as in kube-scheduler's scores. fragment : what is no use to the mix, in
    thousandths of a GPU, as FGD has it. stamp : the last time that its score was computed.
    """

    of: int
    tags: int
    asked_cpu: int
    asked_memory: int
    fragment: float
    stamp: int


class Kind:
    """A node type. cpu, memory : of a node, 0 for no such resource. idle_w, full_w : watts of a GPU. slices : of a GPU.

    processor_idle_w, processor_full_w, cores : of a processor. sought : the share of its GPUs' model that is expected to be
    taken by pods which not every model will do for.
    """

    num_gpus: int
    cpu: int
    memory: int
    idle_w: int
    full_w: int
    processor_idle_w: int
    processor_full_w: int
    cores: int
    sought: float
    slices: int


class Asked:
    """A pod class, or one of the expected mix, with `pods` of them. counts_cpu, counts_memory : in kube-scheduler's scores.

    slices : of a GPU that MIG divides, which it takes. starts : bit s where slice s may be the first.
    """

    gpus: int
    milli: int
    cpu: int
    memory: int
    counts_cpu: int
    counts_memory: int
    pods: int
    slices: int
    starts: int


class Pod:
    """of : its class. node, held, start : where it is placed, on which GPUs, from which slice on. tags_before : of its node."""

    of: int
    gang: int
    node: int
    held: int
    start: int
    tags_before: int


class Slot:
    """Scores of one class that are kept: of which class, and how many changes of nodes they know, -1 for nothing."""

    owner: int
    seen: int


class Clock:
    """changes : of nodes so far. stamp : the last that was given."""

    changes: int
    stamp: int


class State(NamedTuple):
    """The cluster, the pods, and the scores.

    demand : (C, R). admits : (C, T) bool. mix_admits : (M, T) bool. free : (N, R). milli : (N, G), thousandths left of each GPU.
    taken : (N, G), bit s where slice s of a GPU that MIG divides is taken.
    score : (S, N) float64, -inf where the pod does not fit. best : (S, B), the highest of each block of nodes. changed : nodes
    in the order in which they changed. random : (1,) uint64.
    worth : (1001,) float64, of what is left of a GPU, as a share of a whole one. per_gpu : (R,) float64, what the mix asks for
    of each resource with a GPU. cpu, memory : the index of each; of the CPU the first where no resource is called so, and of
    memory -1.
    """

    nodes: Records[Node]
    kinds: Records[Kind]
    classes: Records[Asked]
    pods: Records[Pod]
    mix: Records[Asked]
    slots: Records[Slot]
    clock: Records[Clock]
    demand: IntArray
    admits: BoolArray
    mix_admits: BoolArray
    free: IntArray
    milli: IntArray
    taken: IntArray
    score: FloatArray
    best: FloatArray
    changed: IntArray
    random: Any
    worth: FloatArray
    per_gpu: FloatArray
    cpu: int
    memory: int


def state_of(instance: PlacementInstance, *, mix: bool = False, prices: bool = False, seed: int = 0) -> State:
    """Return the cluster with the pods that run on it. mix, prices : whether the rule looks at them. seed : of what is drawn."""
    room = room_of(instance, instance.is_running)
    names = list(instance.resources)
    cpu = names.index("cpu") if "cpu" in names else 0
    memory = next((r for r, name in enumerate(names) if name.startswith(("memory", "ram"))), -1)
    num_nodes, nodes = instance.num_nodes, records(Node, instance.num_nodes, of=instance.node2type)
    classes = _asked(instance, instance.demand[:, cpu], instance.demand[:, memory] if memory >= 0 else 0)
    runs = np.flatnonzero(instance.is_running)
    where, which = instance.running_node[runs], instance.pod2class[runs]
    tag = np.where(instance.gpus > 0, np.int64(1) << np.where(instance.gpu_milli < ONE, 0, instance.gpus), 0)
    np.bitwise_or.at(nodes.tags, where, tag[which])
    np.add.at(nodes.asked_cpu, where, classes.counts_cpu[which])
    np.add.at(nodes.asked_memory, where, classes.counts_memory[which])
    idle_w, full_w, processor_idle_w, processor_full_w, cores = watts_by_type(instance).T
    kinds = records(
        Kind,
        instance.num_gpus.size,
        num_gpus=instance.num_gpus,
        cpu=instance.capacity[:, cpu],
        memory=instance.capacity[:, memory] if memory >= 0 else 0,
        idle_w=idle_w,
        full_w=full_w,
        processor_idle_w=processor_idle_w,
        processor_full_w=processor_full_w,
        cores=cores,
        sought=sought_of(instance) if prices else 0.0,
        slices=0 if instance.gpu_slices is None else instance.gpu_slices,
    )
    slots = max(1, min(len(instance.class_names), MOST_SCORES // num_nodes))
    pods: Records[Pod] = records(Pod, instance.num_pods, of=instance.pod2class, gang=instance.gang)
    pods.node[:], pods.held[:] = instance.running_node, instance.running_gpus
    pods.start[:] = 0 if instance.running_start is None else instance.running_start
    expected, mix_admits = expected_of(instance, classes, PERCENT if mix else 0)
    return State(
        nodes=nodes,
        kinds=kinds,
        classes=classes,
        pods=pods,
        mix=expected,
        slots=records(Slot, slots, owner=-1, seen=-1),
        clock=records(Clock, 1),
        demand=instance.demand,
        admits=instance.takes(),
        mix_admits=mix_admits,
        free=room.left,
        milli=np.maximum(room.milli, 0),
        taken=room.taken,
        score=np.empty((slots, num_nodes)),
        best=np.empty((slots, -(-num_nodes // BLOCK))),
        # A pod of a gang may be undone.
        changed=np.empty(2 * int((instance.running_node == NOWHERE).sum()), np.int64),
        random=np.array([seed], np.uint64),
        worth=worth_of(instance) if prices else np.zeros(1),
        per_gpu=per_gpu(instance),
        cpu=cpu,
        memory=memory,
    )


def _asked(instance: PlacementInstance, cpu: IntArray, memory: IntArray | int) -> Records[Asked]:
    found: Records[Asked] = records(
        Asked,
        len(instance.class_names),
        gpus=instance.gpus,
        milli=instance.gpu_milli,
        cpu=cpu,
        memory=memory,
        counts_cpu=np.where(cpu > 0, cpu, MISSING_CPU),
        counts_memory=np.where(np.asarray(memory) > 0, memory, MISSING_MEMORY),
        pods=instance.mix(),
        slices=0 if instance.slices is None else instance.slices,
        starts=0 if instance.starts is None else instance.starts,
    )
    return found


def expected_of(
    instance: PlacementInstance, classes: Records[Asked], percent: int = PERCENT
) -> tuple[Records[Asked], BoolArray]:
    """Return the most frequent classes of the expected mix, and which types admit them, (M, T) bool; memory is no part.

    percent : classes are taken from the most frequent on until they are so many per cent of its pods; none for 0.
    """
    counts: dict[tuple[int, int, int, str, bytes], int] = {}
    takes = instance.takes()
    for c in np.flatnonzero(classes.pods).tolist() if percent else ():
        admits = takes[c] | (instance.gpus[c] == 0)
        models = sorted({instance.gpu_model[t] for t in np.flatnonzero(admits).tolist()})
        spec = "" if admits.all() else "|".join(models)
        key = (int(classes.cpu[c]), int(classes.milli[c]), int(classes.gpus[c]), spec, admits.tobytes())
        counts[key] = counts.get(key, 0) + int(classes.pods[c])
    most = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    so_far = np.cumsum([0] + [count for _, count in most])
    kept = most[: int(np.searchsorted(100 * so_far, percent * so_far[-1]))]
    cpu, milli, gpus = (np.array([key[i] for key, _ in kept], np.int64) for i in range(3))
    pods = np.array([count for _, count in kept], np.int64)
    admits = [np.frombuffer(key[4], np.bool_) for key, _ in kept]
    return (
        records(Asked, len(kept), cpu=cpu, milli=milli, gpus=gpus, pods=pods),
        np.array(admits, np.bool_).reshape(len(kept), instance.num_gpus.size),
    )


def per_gpu(instance: PlacementInstance) -> FloatArray:
    """(R,) float64: what pods with GPUs of the expected mix ask for of each resource, for each thousandth of a GPU."""
    pods = np.where(instance.gpus > 0, instance.mix(), 0)
    milli = max(int(pods @ (instance.gpus * instance.gpu_milli)), 1)
    asked: FloatArray = pods @ instance.demand / milli
    return asked


def sought_of(instance: PlacementInstance) -> FloatArray:
    """(T,) float64: the share of each type's GPU model that is taken by pods which not every model will do for.

    When the expected mix asks for all GPUs, and these pods spread over the models that they admit.
    """
    model = np.array([instance.gpu_model.index(name) for name in instance.gpu_model])
    has = np.bincount(model, instance.type_counts() * instance.num_gpus, minlength=model.size)
    milli = instance.mix() * instance.gpus * instance.gpu_milli
    asked, takes = np.zeros(model.size), instance.takes()
    for c in np.flatnonzero(milli).tolist():
        room = np.where(np.bincount(model[takes[c]], minlength=model.size) > 0, has, 0)
        if 0 < room.sum() < has.sum():
            asked += milli[c] * room / room.sum()
    share: FloatArray = (asked * has.sum() / max(int(milli.sum()), 1) / np.maximum(has, 1))[model]
    return share


def worth_of(instance: PlacementInstance) -> FloatArray:
    """(1001,) float64: the worth of so many thousandths left of a GPU, by `hole_prices` of the expected shares."""
    is_share = (instance.gpu_milli > 0) & (instance.gpu_milli < ONE)
    pods = np.bincount(instance.gpu_milli[is_share], instance.mix()[is_share], minlength=1)
    sizes = np.flatnonzero(pods)
    unit = int(np.gcd.reduce([ONE, *sizes.tolist()]))
    worth = np.zeros(ONE // unit + 1)
    if sizes.size:
        hole_prices(sizes // unit, pods[sizes].astype(np.float64), worth)
    else:
        worth[-1] = 1.0
    by_milli: FloatArray = worth[np.arange(ONE + 1) // unit]
    return by_milli
