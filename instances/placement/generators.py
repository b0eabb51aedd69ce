"""Small random placement instances, for tests and exact methods: shares, gangs, node classes, pods that run and may move."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import drawn, generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.placement.model import ANY, FAMILY, NO_GANG, NOWHERE, ONE, PlacementInstance

MODELS = ("A", "B", "")
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
    unit: str = "GPUs",
) -> PlacementInstance:
    """Draw a small cluster that is short of CPU, of memory or of GPUs.

    running : share of the pods that run already, wherever they fit at first; one in five of these may not move. moves : how
    many may; -1 for any number. gangs : some pods arrive in gangs of two or three. unit : of values.
    """
    if nodes < 1 or pods < 1 or classes < 1 or not 0 <= running <= 1:
        raise InstanceError(
            f"{nodes} nodes, {pods} pods, {classes} classes, {running:g} running; give at least 1, and a share."
        )
    rng = generator(FAMILY, "random-pods", nodes, pods, classes, running, moves, gangs, unit, seed)

    def whole(low: int, high: int, *shape: int) -> np.ndarray:
        return low + (rng.random(shape) * (high - low + 1)).astype(np.int64)

    num_types = min(nodes, 3)
    capacity = whole(2, 8, num_types, 2) * [ONE, 1024]
    num_gpus = np.where(rng.random(num_types) < 0.2, 0, whole(1, 4, num_types))
    model = tuple(MODELS[int(rng.random() * 2)] if g else "" for g in num_gpus.tolist())
    node2type = np.sort(whole(0, num_types - 1, nodes))
    demand = whole(0, 6, classes, 2) * [ONE // 2, 512]
    gpu_milli = np.where(rng.random(classes) < 0.2, 0, np.asarray(drawn(rng, SHARES, np.ones(len(SHARES)), classes)))
    gpus = np.where(gpu_milli == ONE, whole(1, 2, classes), gpu_milli > 0)
    admits = (rng.random((classes, num_types)) < 0.85) | (rng.random(classes) < 0.5)[:, None]
    value = {"GPUs": gpus * gpu_milli, "pods": np.full(classes, ONE), "value": whole(0, 9, classes) * ONE}[unit]
    pod2class = whole(0, classes - 1, pods)
    member = np.repeat(np.arange(pods), whole(1, 3, pods) if gangs else 1)[:pods]
    instance = PlacementInstance(
        name=f"random-pods-{nodes}-{pods}-s{seed}",
        unit=unit,
        resources=("cpu", "memory_mib"),
        type_names=tuple(f"type-{t}" for t in range(num_types)),
        capacity=capacity,
        num_gpus=num_gpus,
        gpu_model=model,
        node2type=node2type,
        class_names=tuple(f"class-{c}" for c in range(classes)),
        demand=demand,
        gpus=gpus,
        gpu_milli=gpu_milli,
        value=value,
        admits=admits,
        expected=np.zeros(classes, np.int64),
        pod2class=pod2class,
        gang=np.where(np.bincount(member)[member] > 1, member, NO_GANG),
        running_node=np.full(pods, NOWHERE),
        running_gpus=np.zeros(pods, np.int64),
        movable=np.ones(pods, np.bool_),
    )
    return _started(instance, rng, int(running * pods), moves) if running else instance


def _started(instance: PlacementInstance, rng: np.random.Generator, number: int, moves: int) -> PlacementInstance:
    """Return the instance with its first pods running, each on a random node and GPUs that have room; others arrive."""
    free = instance.capacity[instance.node2type].copy()
    left = np.where(np.arange(max(instance.num_gpus.max(), 1)) < instance.num_gpus[instance.node2type, None], ONE, 0)
    node, gpus = np.full(instance.num_pods, NOWHERE), np.zeros(instance.num_pods, np.int64)
    for pod in range(number):
        c = instance.pod2class[pod]
        milli = max(int(instance.gpu_milli[c]), 1)
        fits = (free >= instance.demand[c]).all(axis=1) & ((left >= milli).sum(axis=1) >= instance.gpus[c])
        rooms = np.flatnonzero(fits & instance.admits[c, instance.node2type])
        if rooms.size and instance.gang[pod] == NO_GANG:
            n = int(rooms[int(rng.random() * rooms.size)])
            able = np.flatnonzero(left[n] >= milli)
            taken = able[np.argsort(rng.random(able.size))][: instance.gpus[c]]
            node[pod], gpus[pod] = n, sum(1 << g for g in taken.tolist())
            free[n] -= instance.demand[c]
            left[n, taken] -= instance.gpu_milli[c]
    movable = (node == NOWHERE) | (rng.random(instance.num_pods) < 0.8)
    return instance.replace(running_node=node, running_gpus=gpus, movable=movable, max_moves=moves)
