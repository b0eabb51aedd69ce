"""A Kubernetes cluster of deployments, most of small pods, on types in three zones, spot and on demand.

What generated Kubernetes clusters are made of: machine types with their reservations, deployments with their requests.

Published and used: list prices of Amazon's c5, m5 and r5 in us-east-1 (0.0425, 0.048 and 0.063 $ a vCPU and hour, 2, 4 and
8 GiB a vCPU); what EKS reserves (the AMI's bootstrap: 6%, 1%, 0.5% and 0.25% of the first, second, next two and further
cores; 255 MiB and 11 MiB for each of the 110 pods; 100 MiB until eviction); numbers of instances near Zipf's law (Jiang et
al., Characterizing co-located workloads in Alibaba cloud datacenters, TCC 2020); a few workloads with most of the resources
(Tirmazi et al., Borg: the next generation, EuroSys 2020). Nobody publishes what pods request: medians and spreads of the
log-normal requests, discounts of spot and of other generations, and the DaemonSets are our own choice.

The basic performance workload of Karpenter's own test suite, on the machine types of its KWOK provider.

Source: kubernetes-sigs/karpenter at 2266468104f36373ed002241afaee2d3bbc26078: test/suites/performance/basic_test.go and
suite_test.go (deployments and node pool), kwok/tools/gen_instance_types.go (sizes and prices), kwok/cloudprovider/helpers.go
(overhead). Spot and zones of equal prices are no part of the node pool's choice, or make none, and neither is Windows in the
test itself.

A Kubernetes cluster after the rush hours: machines bought for many pods, of which a part is gone, the rest where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import IntArray, ranges
from schedgap.instances.draws import generator, lognormal, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.running import ONE_TASK, Running
from schedgap.instances.units import DOLLAR, GIB_MIB

RESOURCES = ("cpu", "ram_mib", "pods")
ZONES = ("a", "b", "c")
# GiB and micro-dollars an hour for each vCPU.
SERIES = (("c", 2, 42_500), ("m", 4, 48_000), ("r", 8, 63_000))
# The first is there however few types are asked for, and holds the largest pod.
CPUS = (16, 8, 32, 4, 64, 2, 48, 96)
MOST_PODS = 110
# A log collector, a monitor and the network's agent on every machine.
DAEMONS = np.array([(100, 128, 1000), (100, 200, 1000), (50, 64, 1000)])
MEDIAN_CPU, SPREAD_CPU, LEAST_CPU, MOST_CPU = 250, 1.2, 10, 12_000
MEDIAN_MIB_PER_CPU, SPREAD_MIB, LEAST_MIB, MOST_MIB = 2.0, 0.8, 32, 24 * GIB_MIB


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """S machine types before zone and purchase. capacity : (S, 3) int64, what pods can have. price : (S,) int64."""

    names: tuple[str, ...]
    cpus: IntArray
    capacity: IntArray
    price: IntArray


def machine_shapes(number: int, rng: np.random.Generator) -> Shapes:
    """Return so many types: c, m and r of eight sizes, then the same of further generations at 75 to 115% of the price."""
    per_generation = len(SERIES) * len(CPUS)
    generation, place = np.divmod(np.arange(number), per_generation)
    series, size = place % len(SERIES), place // len(SERIES)
    cpus = np.array(CPUS)[size]
    gib, vcpu_price = (np.array([row[column] for row in SERIES])[series] for column in (1, 2))
    percent = 75 + rng.integers(0, 41, (int(generation.max()) + 1, len(SERIES)))
    percent[0] = 100
    # 6% and 1% of the first two cores, of which every type has two.
    reserved_cpu = 70 + 5 * np.clip(cpus - 2, 0, 2) + 5 * np.maximum(cpus - 4, 0) // 2
    reserved_mib = 255 + 11 * MOST_PODS + 100
    capacity = np.column_stack(
        (cpus * 1000 - reserved_cpu, cpus * gib * GIB_MIB - reserved_mib, np.full(number, MOST_PODS * 1000))
    )
    return Shapes(
        tuple(f"{SERIES[s][0]}{g}.{n}" for s, g, n in zip(series, generation, cpus, strict=True)),
        cpus,
        capacity - DAEMONS.sum(axis=0),
        cpus * vcpu_price * percent[generation, series] // 100,
    )


def deployments(tasks: int, kinds: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return requests (C, 3) int64 and numbers of pods (C,) int64, at least one each.

    Requests are log-normal, memory in proportion to CPU with a spread of its own, both rounded up to what people write.
    """
    cpu = np.clip(MEDIAN_CPU * lognormal(rng, SPREAD_CPU, kinds), LEAST_CPU, MOST_CPU)
    mib = np.clip(MEDIAN_MIB_PER_CPU * cpu * lognormal(rng, SPREAD_MIB, kinds), LEAST_MIB, MOST_MIB)
    demand = np.column_stack((_written(cpu, 10, 50, 250), _written(mib, 32, 64, 256), np.full(kinds, 1000)))
    weight = shuffled(rng, np.arange(1, kinds + 1)) ** -1.0
    ends = np.floor(np.cumsum(weight) / weight.sum() * (tasks - kinds) + 0.5).astype(np.int64)
    counts: IntArray = 1 + np.diff(ends, prepend=0)
    return demand, counts


def _written(values: Any, fine: int, middle: int, coarse: int) -> IntArray:
    """Round up to steps: fine below 100, middle below 1000, coarse above."""
    step = np.where(values < 100, fine, np.where(values < 1000, middle, coarse))
    rounded: IntArray = (np.ceil(values / step) * step).astype(np.int64)
    return rounded


def check_size(generator: str, tasks: int, kinds: int, types: int, least_types: int) -> None:
    """Refuse fewer pods than deployments, no deployment, or too few types.

    Raises
    ------
    InstanceError
        naming both.
    """
    if not 1 <= kinds <= tasks:
        raise InstanceError(
            f"generator {generator}: tasks is {tasks} and kinds is {kinds}; give at least one kind, and a task of each."
        )
    if types < least_types:
        raise InstanceError(f"generator {generator}: types is {types}; give at least {least_types}.")


def check_share(generator: str, name: str, share: float) -> None:
    """Refuse a share that is none.

    Raises
    ------
    InstanceError
        outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise InstanceError(f"generator {generator}: {name} is {share:g}; give a share from 0 to 1.")


# Each zone's machines on demand, then each zone's spot machines.
FAMILIES = tuple(f"{purchase}-{zone}" for purchase in ("on-demand", "spot") for zone in ZONES)
SPOT_PERCENT = (30, 60)


def kubernetes_like(
    tasks: int = 1000,
    *,
    kinds: int = 50,
    types: int = 144,
    zone_bound: float = 0.2,
    on_demand_only: float = 0.5,
    seed: int = 0,
) -> ProvisioningInstance:
    """Draw deployments (`kinds`) with many small and few large pods, `tasks` in all, and machines of so many types.

    zone_bound : share of the deployments bound to one zone, as volumes bind them. on_demand_only : share of those that
    must not run on spot machines, which cost 30 to 60% of the price on demand, different in each zone. Capacities are
    what is left for pods: less what the kubelet reserves and DaemonSets take.

    Raises
    ------
    InstanceError
        for parameters out of range.
    """
    check_size("kubernetes-like", tasks, kinds, types, len(FAMILIES))
    for name, share in (("zone_bound", zone_bound), ("on_demand_only", on_demand_only)):
        check_share("kubernetes-like", name, share)
    rng = generator("provisioning", "kubernetes-like", tasks, kinds, types, seed)
    # Where the number does not divide evenly, the last families have a type less.
    shape, family = np.divmod(np.arange(types), len(FAMILIES))
    shapes = machine_shapes(int(shape.max()) + 1, rng)
    percent = np.where(
        family < len(ZONES), 100, SPOT_PERCENT[0] + rng.integers(0, SPOT_PERCENT[1] - SPOT_PERCENT[0] + 1, types)
    )
    demand, counts = deployments(tasks, kinds, rng)
    zone = rng.integers(0, len(ZONES), kinds)
    bound, no_spot = rng.random(kinds) < zone_bound, rng.random(kinds) < on_demand_only
    purchase_of, zone_of = np.divmod(np.arange(len(FAMILIES)), len(ZONES))
    allowed = (~bound | (zone_of[:, None] == zone)) & (~no_spot | (purchase_of[:, None] == 0))
    return ProvisioningInstance(
        name=f"kubernetes-like-{tasks}-{kinds}-{types}-z{zone_bound:g}-d{on_demand_only:g}-s{seed}",
        resources=RESOURCES,
        families=FAMILIES,
        type_names=tuple(f"{shapes.names[s]}-{FAMILIES[f]}" for s, f in zip(shape, family, strict=True)),
        type2family=family,
        capacity=shapes.capacity[shape],
        price=shapes.price[shape] * percent // 100,
        demand=np.where(allowed[:, :, None], demand, NOT_ALLOWED),
        counts=counts,
        class_names=tuple(f"app-{c}" for c in range(kinds)),
    )


SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
GIB_PER_CPU = {"c": 2, "m": 8, "s": 4}
ARCHITECTURES = ("amd64", "arm64")
# Taken from every machine: thousandths of a CPU, MiB.
OVERHEAD = (100, 10)
# Thousandths of a CPU, MiB, and a thousand for one pod, of the two deployments.
SMALL, LARGE = (900, 3100, 1000), (3500, 28_672, 1000)


def karpenter_basic(
    tasks: int = 1000, *, sizes_below: int = 32, kinds: int = 0, windows: bool = False, seed: int = 0
) -> ProvisioningInstance:
    """Two deployments of equally many pods, one small, one large, on the types of fewer CPUs than `sizes_below`.

    kinds : 0 for these two; else so many are drawn by `seed`, as for `kubernetes-like`. windows : whether the catalogue's
    types for Windows, which hold and cost the same, are there too: all its 144 types then, at sizes below 257.

    With the defaults these are 30 types, and the optimum is 74.093344 $/h: prices are rounded down to micro-dollars, which
    is less than 0.001 $/h off for a thousand machines. Types that differ in their architecture alone are kept, as in the
    source.
    """
    if tasks < 2:
        raise InstanceError(f"generator karpenter-basic: tasks is {tasks}; there are two deployments, give at least 2.")
    if sizes_below < 5:
        raise InstanceError(
            f"generator karpenter-basic: sizes_below is {sizes_below}; a large pod takes four CPUs: give at least 5."
        )
    types = [
        (f"{series}-{cpus}x-{architecture}-{system}", cpus, cpus * gib)
        for system in (("linux", "windows") if windows else ("linux",))
        for architecture in ARCHITECTURES
        for series, gib in GIB_PER_CPU.items()
        for cpus in SIZES
        if cpus < sizes_below
    ]
    capacity = np.array(
        [
            (cpus * 1000 - OVERHEAD[0], gib * GIB_MIB - OVERHEAD[1], min(16 * cpus, 1024) * 1000)
            for _, cpus, gib in types
        ]
    )
    demand, counts = np.array([SMALL, LARGE]), np.array([tasks - tasks // 2, tasks // 2])
    names: tuple[str, ...] = ("small-resource-app", "large-resource-app")
    drawn = ""
    if kinds:
        check_size("karpenter-basic", tasks, kinds, len(types), 1)
        demand, counts = deployments(tasks, kinds, generator("provisioning", "karpenter-basic", tasks, kinds, seed))
        names, drawn = tuple(f"app-{c}" for c in range(kinds)), f"-{kinds}kinds-s{seed}"
    return ProvisioningInstance(
        name=f"karpenter-basic-{tasks}-below{sizes_below}{'-windows' if windows else ''}{drawn}",
        resources=("cpu", "ram_mib", "pods"),
        families=("kwok",),
        type_names=tuple(name for name, _, _ in types),
        type2family=np.zeros(len(types), np.int64),
        capacity=capacity,
        # 0.025 $ for a CPU and 0.001 $ for 10^9 bytes.
        price=np.array([25_000 * cpus + gib * 2**30 // 10**6 for _, cpus, gib in types]),
        demand=demand[None],
        counts=counts,
        class_names=names,
    )


# The node groups from which machines were bought: the first generation's c, m and r of one size.
GROUPS = np.arange(len(SERIES))
UNLIMITED = -1


def consolidation(
    tasks: int = 1000,
    *,
    kinds: int = 40,
    types: int = 24,
    removed: float = 0.5,
    max_disruption: int = UNLIMITED,
    seed: int = 0,
) -> ProvisioningInstance:
    """Place `tasks` pods of `kinds` deployments by first fit, then remove some of each deployment's, chosen at random.

    A pod with room nowhere has a machine bought, of the group on which it takes the least share of a price. Types are those
    of `kubernetes-like`, on demand in one zone. The notes say what the machines cost as they are.

    removed : the mean of the deployments' shares, each drawn as far to either side as 0 and 1 allow; at least one pod of
    each is left, so that some machines are nearly empty and others nearly full. max_disruption : at most so many pods may
    leave their machine; -1 for any number.

    Raises
    ------
    InstanceError
        for parameters out of range.
    """
    check_size("consolidation", tasks, kinds, types, len(SERIES))
    check_share("consolidation", "removed", removed)
    if max_disruption < UNLIMITED:
        raise InstanceError(
            f"generator consolidation: max_disruption is {max_disruption}; give -1 for any number, or 0 or more."
        )
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
    limit = "" if max_disruption == UNLIMITED else f"-m{max_disruption}"
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
        max_disruption=None if max_disruption == UNLIMITED else max_disruption * ONE_TASK,
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
