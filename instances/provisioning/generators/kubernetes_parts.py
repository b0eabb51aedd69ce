"""What generated Kubernetes clusters are made of: machine types with their reservations, deployments with their requests.

Published and used: list prices of Amazon's c5, m5 and r5 in us-east-1 (0.0425, 0.048 and 0.063 $ a vCPU and hour, 2, 4 and
8 GiB a vCPU); what EKS reserves (the AMI's bootstrap: 6%, 1%, 0.5% and 0.25% of the first, second, next two and further
cores; 255 MiB and 11 MiB for each of the 110 pods; 100 MiB until eviction); numbers of instances near Zipf's law (Jiang et
al., Characterizing co-located workloads in Alibaba cloud datacenters, TCC 2020); a few workloads with most of the resources
(Tirmazi et al., Borg: the next generation, EuroSys 2020). Nobody publishes what pods request: medians and spreads of the
log-normal requests, discounts of spot and of other generations, and the DaemonSets are our own choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.draws import lognormal, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.units import GIB_MIB

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
