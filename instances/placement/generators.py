"""Small random placement instances, for tests and exact methods: shares, gangs, node classes, pods that run and may move."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.draws import drawn, generator
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.placement.model import ANY, FAMILY, NO_GANG, NOWHERE, ONE, UNITS, PlacementInstance
from schedgap.instances.placement.stranded import open_gpus, open_start

MODELS = ("A", "B", "")
# Of NVIDIA's A100: slices, and a bit for each at which they may start: 1g, 1g with more memory, 2g, 3g, 4g, 7g.
MIG_SLICES = 8
PROFILES = ((1, 0b1111111), (2, 0b1010101), (2, 0b10101), (4, 0b10001), (4, 1), (8, 1))
SHARES = (200, 300, 350, 500, 600, 700, 1000)


def random_pods(
    *,
    seed: int = 0,
    nodes: int = 3,
    pods: int = 8,
    classes: int = 5,
    running: float = 0.0,
    moves: int = ANY,
    gangs: bool = False,
    divided: bool = False,
    accepts: bool = False,
    unit: str = "GPUs",
) -> PlacementInstance:
    """Draw a small cluster that is short of CPU, of memory or of GPUs.

    running : share of the pods that run already, wherever they fit at first; one in five of these may not move. moves : how
    many may; -1 for any number. gangs : some pods arrive in gangs of two or three. divided : some nodes' GPUs are
    divided by MIG, and some pods take slices. accepts : no pod is refused that finds room as it arrives. unit : of values.
    """
    if min(nodes, pods, classes) < 1 or not 0 <= running <= 1:
        raise InstanceError(
            f"{nodes} nodes, {pods} pods, {classes} classes, {running:g} running; give at least 1, and a share."
        )
    one_of("unit", unit, UNITS, InstanceError)
    parts = (nodes, pods, classes, running, moves, gangs, unit, seed, *["divided"] * divided)
    rng = generator(FAMILY, "random-pods", *parts)
    num_types = min(nodes, 3)
    num_gpus = np.where(rng.random(num_types) < 0.2, 0, _whole(rng, 1, 4, num_types))
    member = np.repeat(np.arange(pods), _whole(rng, 1, 3, pods) if gangs else 1)[:pods]
    instance = PlacementInstance(
        name=f"random-pods-{nodes}-{pods}-s{seed}",
        unit=unit,
        resources=("cpu", "memory_mib"),
        type_names=tuple(f"type-{t}" for t in range(num_types)),
        capacity=_whole(rng, 2, 8, num_types, 2) * np.array([ONE, 1024]),
        num_gpus=num_gpus,
        gpu_model=tuple(MODELS[int(rng.random() * 2)] if g else "" for g in num_gpus.tolist()),
        node2type=np.sort(_whole(rng, 0, num_types - 1, nodes)),
        class_names=tuple(f"class-{c}" for c in range(classes)),
        **_classes(rng, classes, num_types, unit),
        expected=np.zeros(classes, np.int64),
        pod2class=_whole(rng, 0, classes - 1, pods),
        gang=np.where(np.bincount(member)[member] > 1, member, NO_GANG),
        running_node=np.full(pods, NOWHERE),
        running_gpus=np.zeros(pods, np.int64),
        movable=np.ones(pods, np.bool_),
    )
    instance = _divided(instance, rng) if divided else instance
    instance = started(instance, rng, int(running * pods), moves) if running else instance
    return instance.replace(accepts=True) if accepts else instance


def _whole(rng: np.random.Generator, low: int, high: int, *shape: int) -> IntArray:
    numbers: IntArray = low + (rng.random(shape) * (high - low + 1)).astype(np.int64)
    return numbers


def _classes(rng: np.random.Generator, number: int, num_types: int, unit: str) -> dict[str, Any]:
    """Return what pods of each class take, what they are worth and where they may be."""
    gpu_milli = np.where(rng.random(number) < 0.2, 0, drawn(rng, SHARES, np.ones(len(SHARES)), number))
    gpus = np.where(gpu_milli == ONE, _whole(rng, 1, 2, number), gpu_milli > 0)
    worth = {"GPUs": gpus * gpu_milli, "pods": np.full(number, ONE), "value": _whole(rng, 0, 9, number) * ONE}
    return {
        "demand": _whole(rng, 0, 6, number, 2) * [ONE // 2, 512],
        "gpus": gpus,
        "gpu_milli": gpu_milli,
        "value": worth[unit],
        "admits": (rng.random((number, num_types)) < 0.85) | (rng.random(number) < 0.5)[:, None],
    }


def _divided(instance: PlacementInstance, rng: np.random.Generator) -> PlacementInstance:
    """Return the instance with MIG on some node types, where some classes that share a GPU take slices of it."""
    slices = np.where((rng.random(instance.num_gpus.size) < 0.6) & (instance.num_gpus > 0), MIG_SLICES, 0)
    takes = (instance.gpus == 1) & (rng.random(instance.gpus.size) < 0.7)
    profile = np.array(PROFILES)[(rng.random(instance.gpus.size) * len(PROFILES)).astype(np.int64)]
    milli = np.where(takes, ONE * profile[:, 0] // MIG_SLICES, instance.gpu_milli)
    return instance.replace(
        name=f"{instance.name}-divided",
        gpu_slices=slices,
        slices=np.where(takes, profile[:, 0], 0),
        starts=np.where(takes, profile[:, 1], 0),
        gpu_milli=milli,
        value=instance.gpus * milli if instance.unit == "GPUs" else instance.value,
    )


def started(instance: PlacementInstance, rng: np.random.Generator, number: int, moves: int) -> PlacementInstance:
    """Return the instance with its first pods running, each on a random node and GPUs that have room; others arrive.

    One in five of those that run may not move.
    """
    free = instance.capacity[instance.node2type].copy()
    left = np.where(np.arange(max(instance.num_gpus.max(), 1)) < instance.num_gpus[instance.node2type, None], ONE, 0)
    taken = np.zeros_like(left)
    node, gpus, start = np.full(instance.num_pods, NOWHERE), *np.zeros((2, instance.num_pods), np.int64)
    for pod in range(number):
        c = instance.pod2class[pod]
        size = 0 if instance.slices is None else int(instance.slices[c])
        has_room = open_gpus(instance, int(c), instance.node2type, left, taken)
        fits = (free >= instance.demand[c]).all(axis=1) & (has_room.sum(axis=1) >= instance.gpus[c])
        rooms = np.flatnonzero(fits & instance.fits()[c, instance.node2type])
        if rooms.size and instance.gang[pod] == NO_GANG:
            n = int(rooms[int(rng.random() * rooms.size)])
            able = np.flatnonzero(has_room[n])
            held = able[np.argsort(rng.random(able.size))][: instance.gpus[c]]
            node[pod], gpus[pod] = n, sum(1 << g for g in held.tolist())
            free[n] -= instance.demand[c]
            left[n, held] -= instance.gpu_milli[c]
            if size:
                start[pod] = open_start(instance, int(c), instance.node2type[n : n + 1], taken[n, held])[0]
                taken[n, held] |= ((1 << size) - 1) << start[pod]
    movable = (node == NOWHERE) | (rng.random(instance.num_pods) < 0.8)
    return instance.replace(running_node=node, running_gpus=gpus, running_start=start, movable=movable, max_moves=moves)
