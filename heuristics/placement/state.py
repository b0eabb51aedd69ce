"""What compiled policies work on: nodes and pods, the expected mix, and scores that are kept. All int64 unless it says otherwise.

Letters: N nodes, T node types, G the most GPUs of a node, R resources, C pod classes, P pods, M classes of the expected mix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.placement.player import free_at_start
from schedgap.instances.placement.model import NOWHERE

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.placement.model import PlacementInstance

# Scores of so many pairs of a class and a node are kept: half a GiB.
MOST_SCORES = 2**26
BLOCK = 64


class Fleet(NamedTuple):
    """The cluster and the pods.

    node2type : (N,). num_gpus : (T,). capacity : (T, R). demand : (C, R). gpus, gpu_milli : (C,). admits : (C, T) bool.
    pod2class, gang : (P,). What changes: free : (N, R). milli : (N, G), thousandths left of each GPU. tags : (N,), a bit for
    each kind of pod with GPUs on the node, 0 for shares and k for those of k GPUs. node, held : (P,), the placement.
    tags_before : (P,), of its node. cpu, memory : the index of each resource, -1 for no memory; cpu is the first where none
    is called so.
    """

    node2type: IntArray
    num_gpus: IntArray
    capacity: IntArray
    demand: IntArray
    gpus: IntArray
    gpu_milli: IntArray
    admits: BoolArray
    pod2class: IntArray
    gang: IntArray
    free: IntArray
    milli: IntArray
    tags: IntArray
    node: IntArray
    held: IntArray
    tags_before: IntArray
    cpu: int
    memory: int


class Target(NamedTuple):
    """The mix by which fragments are measured. cpu, gpus, milli, pods : (M,). admits : (M, T) bool. total : pods of all.

    fragment : (N,) float64, what is no use to the mix on each node, in thousandths of a GPU, as FGD has it.
    """

    cpu: IntArray
    gpus: IntArray
    milli: IntArray
    pods: IntArray
    admits: BoolArray
    total: int
    fragment: FloatArray


class Scores(NamedTuple):
    """Scores of nodes for classes of pods. Letters: S classes kept at a time, B blocks of `BLOCK` nodes, L places made so far.

    owner : (S,), the class whose scores they are. seen : (S,), how much of `changed` they know, -1 for nothing.
    score, second : (S, N) float64, -inf where the pod does not fit; `second` only for rules of two scores. best : (S, B), the
    highest of each block. changed : nodes in the order in which they changed. at : (2,), how many these are, and the last
    number of `stamp`, (N,), which tells nodes that were scored just now.
    """

    owner: IntArray
    seen: IntArray
    score: FloatArray
    second: FloatArray
    best: FloatArray
    changed: IntArray
    at: IntArray
    stamp: IntArray


def fleet_of(instance: PlacementInstance) -> Fleet:
    """Return the cluster with the pods that run on it."""
    free, milli = free_at_start(instance)
    runs = np.flatnonzero(instance.is_running)
    tags = np.zeros(instance.num_nodes, np.int64)
    np.bitwise_or.at(tags, instance.running_node[runs], tags_of(instance)[instance.pod2class[runs]])
    names = list(instance.resources)
    return Fleet(
        *(instance.node2type, instance.num_gpus, instance.capacity, instance.demand, instance.gpus, instance.gpu_milli),
        *(instance.admits, instance.pod2class, instance.gang, free, milli, tags),
        *(instance.running_node.copy(), instance.running_gpus.copy(), np.zeros(instance.num_pods, np.int64)),
        names.index("cpu") if "cpu" in names else 0,
        next((r for r, name in enumerate(names) if name.startswith(("memory", "ram"))), -1),
    )


def tags_of(instance: PlacementInstance) -> IntArray:
    """(C,) int64: the bit of each class's kind, 0 for pods without GPUs."""
    kind = np.where(instance.gpu_milli < 1000, 0, instance.gpus)
    tags: IntArray = np.where(instance.gpus > 0, np.int64(1) << kind, 0)
    return tags


def target_of(instance: PlacementInstance, percent: int = 95) -> Target:
    """Return the most frequent classes of the expected mix, until they are so many per cent of its pods; memory is no part."""
    cpu = list(instance.resources).index("cpu") if "cpu" in instance.resources else 0
    pods = instance.mix()
    counts: dict[tuple[int, int, int, str, bytes], int] = {}
    for c in np.flatnonzero(pods).tolist():
        admits = instance.admits[c] | (instance.gpus[c] == 0)
        models = sorted({instance.gpu_model[t] for t in np.flatnonzero(admits).tolist()})
        spec = "" if admits.all() else "|".join(models)
        numbers = (int(each[c]) for each in (instance.demand[:, cpu], instance.gpu_milli, instance.gpus))
        key = (*numbers, spec, admits.tobytes())
        counts[key] = counts.get(key, 0) + int(pods[c])
    most = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    so_far = np.cumsum([count for _, count in most])
    kept = most[: int(np.searchsorted(100 * so_far, percent * so_far[-1])) + 1]
    columns = [np.array([key[i] for key, _ in kept], np.int64) for i in range(3)]
    return Target(
        *(columns[0], columns[2], columns[1], np.array([count for _, count in kept], np.int64)),
        np.array([np.frombuffer(key[4], np.bool_) for key, _ in kept]),
        int(so_far[len(kept) - 1]),
        np.zeros(instance.num_nodes),
    )


def no_target(instance: PlacementInstance) -> Target:
    """Return what rules are given that do not look at the mix."""
    none = np.zeros(0, np.int64)
    return Target(none, none, none, none, np.zeros((0, instance.num_gpus.size), np.bool_), 1, np.zeros(1))


def scores_of(instance: PlacementInstance, two: bool = False) -> Scores:
    """Return room for scores. two : whether the rule has two of each."""
    nodes = instance.num_nodes
    slots = max(1, min(len(instance.class_names), MOST_SCORES // nodes))
    arrivals = int((instance.running_node == NOWHERE).sum())
    return Scores(
        np.full(slots, -1),
        np.full(slots, -1),
        np.empty((slots, nodes)),
        np.empty((slots, nodes) if two else (1, 1)),
        np.empty((slots, -(-nodes // BLOCK))),
        # A pod of a gang may be undone.
        np.empty(2 * arrivals, np.int64),
        np.zeros(2, np.int64),
        np.zeros(nodes, np.int64),
    )
