"""A Kubernetes cluster after the rush hours: machines bought for many pods, of which a part is gone, the rest where it was."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import IntArray, ranges
from schedgap.instances.draws import generator, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.generators.kubernetes_parts import (
    CPUS,
    RESOURCES,
    SERIES,
    Shapes,
    check_share,
    check_size,
    deployments,
    machine_shapes,
)
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import Running
from schedgap.instances.units import DOLLAR

# The node groups from which machines were bought: the first generation's c, m and r of one size.
GROUPS = np.arange(len(SERIES))
UNLIMITED = -1


def consolidation(
    tasks: int = 1000,
    *,
    kinds: int = 40,
    types: int = 24,
    removed: float = 0.5,
    max_moves: int = UNLIMITED,
    seed: int = 0,
) -> ProvisioningInstance:
    """Place `tasks` pods of `kinds` deployments by first fit, then remove some of each deployment's, chosen at random.

    A pod with room nowhere has a machine bought, of the group on which it takes the least share of a price. Types are those
    of `kubernetes-like`, on demand in one zone. The notes say what the machines cost as they are.

    removed : the mean of the deployments' shares, each drawn as far to either side as 0 and 1 allow; at least one pod of
    each is left, so that some machines are nearly empty and others nearly full. max_moves : at most so many pods may
    leave their machine; -1 for any number.

    Raises
    ------
    InstanceError
        for parameters out of range.
    """
    check_size("consolidation", tasks, kinds, types, len(SERIES))
    check_share("consolidation", "removed", removed)
    if max_moves < UNLIMITED:
        raise InstanceError(f"generator consolidation: max_moves is {max_moves}; give -1 for any number, or 0 or more.")
    rng = generator("provisioning", "consolidation", tasks, kinds, types, seed)
    shapes = machine_shapes(types, rng)
    demand, counts = deployments(tasks, kinds, rng)
    arrived = shuffled(rng, np.repeat(np.arange(kinds), counts))
    machine, machine_type = _first_fit(shapes, demand, arrived)
    share = removed + min(removed, 1 - removed) * (2 * rng.random(kinds) - 1)
    left = np.maximum(1, counts - np.floor(share * counts + 0.5).astype(np.int64))
    kept = _remaining(arrived, left, rng)
    content = np.zeros((machine_type.shape[0], kinds), np.int64)
    np.add.at(content, (machine[kept], arrived[kept]), 1)
    empty = int((content.sum(axis=1) == 0).sum())
    limit = "" if max_moves == UNLIMITED else f"-m{max_moves}"
    return ProvisioningInstance(
        name=f"consolidation-{tasks}-{kinds}-{types}-r{removed:g}{limit}-s{seed}",
        resources=RESOURCES,
        families=("on-demand",),
        type_names=shapes.names,
        type2family=np.zeros(types, np.int64),
        capacity=shapes.capacity,
        price=shapes.price,
        demand=demand[None],
        counts=left,
        class_names=tuple(f"app-{c}" for c in range(kinds)),
        running=Running.from_contents([f"node-{e}" for e in range(machine_type.shape[0])], machine_type, content),
        max_moves=None if max_moves == UNLIMITED else max_moves,
        notes=(
            f"{machine_type.shape[0]} machines run, {empty} of them empty, for "
            f"{int(shapes.price[machine_type].sum()) / DOLLAR:.6f} $/h, with {left.sum()} of {tasks} pods left.",
        ),
    )


def _first_fit(shapes: Shapes, demand: IntArray, arrived: IntArray) -> tuple[IntArray, IntArray]:
    """(T,), (E,) int64: the machine of each pod, pods as they arrived, and each machine's type. O(T E)."""
    assert (shapes.cpus[GROUPS] == CPUS[0]).all()
    share = (demand[:, None] / shapes.capacity[GROUPS]).max(axis=2)
    group = np.argmin(share * shapes.price[GROUPS], axis=1)
    free = np.zeros((arrived.shape[0], demand.shape[1]), np.int64)
    machine = np.zeros(arrived.shape[0], np.int64)
    bought: list[int] = []
    for t, c in enumerate(arrived.tolist()):
        room = (free[: len(bought)] >= demand[c]).all(axis=1)
        e = int(room.argmax()) if room.size else 0
        if not room.size or not room[e]:
            e = len(bought)
            bought.append(int(GROUPS[group[c]]))
            free[e] = shapes.capacity[bought[-1]]
        free[e] -= demand[c]
        machine[t] = e
    return machine, np.array(bought, np.int64)


def _remaining(arrived: IntArray, left: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the pods that stay: of each deployment `left` (C,), in random order the first."""
    order = shuffled(rng, np.arange(arrived.shape[0]))
    order = order[np.argsort(arrived[order], kind="stable")]
    sizes = np.bincount(arrived, minlength=left.shape[0])
    rank = ranges(0, sizes)
    return order[rank < np.repeat(left, sizes)]
