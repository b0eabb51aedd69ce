"""The instances of Eva's tables 3 and 7.

Tasks that are all different, where grouping equal tasks into classes gains nothing.

A synthetic snapshot after published statistics of Alibaba's GPU trace, for users who do not have the trace.

Shares of tasks by GPUs are Eva's Table 8. Durations follow its Table 9 (median 0.2 h, P80 1.0 h, P95 5.2 h, mean
9.1 h): log-linear between these quantiles, up to the longest duration that gives the mean. The tables say nothing of
CPU and RAM: cores and GiB per GPU are drawn from short lists of values, weighted by their share among the trace's
one-GPU and CPU-only pods (Weng et al., ATC 2023), rounded to whole percents.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import derived_seed
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_types, eva_interference, eva_workloads
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.readers.alibaba import snapshot


def distinct(tasks: int = 200, *, seed: int = 0, cpu: CpuCapacity = "physical") -> ProvisioningInstance:
    """Draw one demand vector a task, in milli-CPU and MiB, so that (almost) no two tasks are equal.

    Half of the tasks ask for GPUs (1, 2 or 4 with weights 6:3:1); CPU and RAM are uniform over what a p3 machine has
    for that many GPUs: 0.5 to 4 cores and 1 to 61 GiB each. CPU-only tasks ask for 0.5 to 16 cores and 1 to 64 GiB, and
    on c7i and r7i for half of the cores that they need on p3, as some of Table 7's do. With vCPU, cores double.
    """
    rng = generator("distinct", tasks, seed)
    scale = 2 if cpu == "vcpu" else 1
    gpus = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 4])[rng.integers(0, 20, tasks)]
    per_gpu = np.maximum(gpus, 1)
    with_gpu = gpus > 0
    cpu_gpu = rng.integers(500, 4001, tasks) * per_gpu * scale
    ram_gpu = rng.integers(1024, 61 * 1024 + 1, tasks) * per_gpu
    cpu_only = rng.integers(500, 16001, tasks) * scale
    ram_only = rng.integers(1024, 64 * 1024 + 1, tasks)
    ram = np.where(with_gpu, ram_gpu, ram_only)
    cpus = np.where(with_gpu, cpu_gpu, cpu_only)
    p3 = np.stack((gpus * 1000, cpus, ram), axis=1)
    other = np.stack((gpus * 1000, np.where(with_gpu, cpus, (cpus + 1) // 2), ram), axis=1)
    return ProvisioningInstance(
        name=f"distinct-{tasks}-{cpu}-s{seed}",
        **ec2_types(cpu),
        demand=np.stack((p3, other, other)),
        counts=np.ones(tasks, np.int64),
    )


def generator(name: str, tasks: int, seed: int) -> np.random.Generator:
    """Return a generator of random numbers, of which only `integers` and `random` are used: the same on every platform."""
    if tasks < 1:
        raise InstanceError(f"generator {name}: tasks is {tasks}; it must be at least 1.")
    return np.random.Generator(np.random.PCG64(derived_seed("provisioning", name, tasks, seed)))


Order = Literal["drawn", "grouped"]


def table3() -> ProvisioningInstance:
    """Return the worked example of Eva's Table 3: four machine types, four tasks; Full Reconfiguration pays $12.8."""
    capacity = [[4, 16, 244], [1, 4, 61], [0, 8, 32], [0, 4, 16]]
    demand = [[2, 8, 24], [1, 4, 10], [0, 6, 20], [0, 4, 12]]
    units = np.array([1000, 1000, 1024])
    return ProvisioningInstance(
        name="table3",
        resources=("gpu", "cpu", "ram_gib"),
        families=("any",),
        type_names=("it1", "it2", "it3", "it4"),
        type2family=np.zeros(4, np.int64),
        capacity=np.array(capacity) * units,
        price=np.array([12_000_000, 3_000_000, 800_000, 400_000]),
        demand=np.array([demand]) * units,
        counts=np.ones(4, np.int64),
        class_names=("tau1", "tau2", "tau3", "tau4"),
    )


def table7(
    tasks: int = 200,
    *,
    seed: int = 0,
    cpu: CpuCapacity = "physical",
    interference: bool = False,
    order: Order = "drawn",
) -> ProvisioningInstance:
    """Sample tasks uniformly from Table 7's ten workloads: the setting of Eva's Tables 4 and 5.

    interference : also give Figure 1's pairwise throughputs and the workloads' tasks per job.
    order : of the list of tasks, on which Algorithm 1 to the letter depends: as `drawn`, or `grouped`, the same tasks by
        workload in the order of Table 7.

    Raises
    ------
    InstanceError
        for another order.
    """
    if order not in ("drawn", "grouped"):
        raise InstanceError(f"order is 'drawn' or 'grouped', not '{order:.60}'.")
    rng = generator("table7", tasks, seed)
    workloads = eva_workloads()
    drawn = rng.integers(0, len(workloads["names"]), tasks)
    if order == "grouped":
        drawn = np.sort(drawn)
    present, task2class = np.unique(drawn, return_inverse=True)
    names = tuple(workloads["names"][i] for i in present)
    extra: dict[str, object] = {}
    if interference:
        labels, throughput = eva_interference()
        base = [name.rsplit("-", 1)[0] if name.startswith("resnet18") else name for name in names]
        extra = {
            "workloads": labels,
            "class2workload": [labels.index(name) for name in base],
            "tasks_per_job": workloads["tasks_per_job"][present],
            "throughput": throughput,
        }
    return ProvisioningInstance(
        name=f"table7-{tasks}-{cpu}{'-grouped' if order == 'grouped' else ''}-s{seed}",
        **ec2_types(cpu),
        demand=workloads["demand"][:, present],
        counts=np.bincount(task2class, minlength=present.shape[0]),
        class_names=names,
        task2class=task2class,
        **extra,  # type: ignore[arg-type]
    )


GPU_SHARE = ((0, 0.1341), (1, 0.8617), (2, 0.0020), (4, 0.0018), (8, 0.0004))
CORES_PER_GPU = ((1, 1), (2, 1), (4, 15), (5, 1), (6, 4), (8, 13), (10, 4), (12, 48), (16, 8), (19, 5))
GIB_PER_GPU = ((2, 1), (6, 4), (15, 9), (24, 10), (30, 16), (41, 4), (46, 15), (48, 28), (57, 5), (63, 5), (76, 3))
CORES_CPU_ONLY = ((8, 17), (12, 2), (13, 34), (16, 12), (17, 9), (32, 26))
GIB_CPU_ONLY = ((16, 2), (24, 1), (30, 16), (48, 26), (50, 20), (56, 34), (62, 1))
QUANTILES = (0.0, 0.5, 0.8, 0.95, 1.0)
# A log-linear piece from a to b has mean (b - a) / ln(b / a); with 881.5 h at the end the whole has mean 9.1 h.
HOURS = (0.01, 0.2, 1.0, 5.2, 881.5)


def alibaba_like(tasks: int = 6274, *, seed: int = 0, cpu: CpuCapacity = "vcpu") -> ProvisioningInstance:
    """Draw tasks of the published GPU shares, each with whole GPUs, cores and GiB; every family asks the same."""
    if tasks < 1:
        raise InstanceError(f"generator alibaba-like: tasks is {tasks}; it must be at least 1.")
    rng = np.random.Generator(np.random.PCG64(derived_seed("provisioning", "alibaba-like", tasks, seed)))
    return snapshot(f"alibaba-like-{tasks}-{cpu}-s{seed}", ec2_types(cpu), draw_demand(rng, tasks, cpu), None)


def alibaba_like_running(
    arrivals_per_hour: float = 100.0, hours: float = 48.0, *, seed: int = 0, cpu: CpuCapacity = "vcpu"
) -> ProvisioningInstance:
    """Draw what runs at the end of `hours` of Poisson arrivals to an empty cluster, with durations after Table 9.

    Raises
    ------
    InstanceError
        if a rate or time is not positive and finite, or nothing runs at the end.
    """
    if not (0 < arrivals_per_hour < math.inf and 0 < hours < math.inf):
        raise InstanceError(
            f"generator alibaba-like-running: arrivals_per_hour {arrivals_per_hour} and hours {hours} "
            "must be positive and finite."
        )
    # As floats: 100 and 100.0 ask for the same instance.
    key = ("provisioning", "alibaba-like-running", float(arrivals_per_hour), float(hours), seed)
    rng = np.random.Generator(np.random.PCG64(derived_seed(*key)))
    # Exponential gaps from uniforms: the stream of `random` is the same everywhere.
    expected = int(arrivals_per_hour * hours)
    gaps = -np.log1p(-rng.random(expected + 10 * int(expected**0.5) + 10)) / arrivals_per_hour
    arrivals = np.cumsum(gaps)
    arrivals = arrivals[arrivals < hours]
    demand = draw_demand(rng, arrivals.shape[0], cpu)
    running = arrivals + durations_h(rng, arrivals.shape[0]) > hours
    if not running.any():
        raise InstanceError(
            "generator alibaba-like-running: nothing runs at the end; raise arrivals_per_hour or hours."
        )
    name = f"alibaba-like-running-{arrivals_per_hour:g}-{hours:g}-{cpu}-s{seed}"
    return snapshot(name, ec2_types(cpu), demand[running], None)


def durations_h(rng: np.random.Generator, number: int) -> FloatArray:
    """Draw (number,) float64 hours with the quantiles and the mean of Eva's Table 9."""
    return np.exp(np.interp(rng.random(number), QUANTILES, np.log(HOURS)))


def draw_demand(rng: np.random.Generator, tasks: int, cpu: CpuCapacity) -> IntArray:
    """Draw (tasks, 3) int64: GPUs by Table 8, cores and GiB per GPU; at most what the largest type with GPUs has."""
    gpus = _drawn(rng, GPU_SHARE, tasks)
    with_gpu = gpus > 0
    cores = np.where(with_gpu, _drawn(rng, CORES_PER_GPU, tasks) * gpus, _drawn(rng, CORES_CPU_ONLY, tasks))
    gib = np.where(with_gpu, _drawn(rng, GIB_PER_GPU, tasks) * gpus, _drawn(rng, GIB_CPU_ONLY, tasks))
    types = ec2_types(cpu)
    largest = np.array([row for row in types["capacity"] if row[0] > 0]).max(axis=0)
    cores = np.where(with_gpu, np.minimum(cores, largest[1] // 1000), cores)
    gib = np.where(with_gpu, np.minimum(gib, largest[2] // 1024), gib)
    return np.stack((gpus * 1000, cores * 1000, gib * 1024), axis=1)


def _drawn(rng: np.random.Generator, table: tuple[tuple[int, float], ...], number: int) -> IntArray:
    values = np.array([value for value, _ in table])
    weights = np.array([weight for _, weight in table], dtype=np.float64)
    edges = np.cumsum(weights / weights.sum())
    return values[np.searchsorted(edges[:-1], rng.random(number), side="right")]
