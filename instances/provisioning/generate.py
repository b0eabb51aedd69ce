"""Seeded generators of provisioning instances; the same parameters give the same instance on every machine.

Only `numpy.random.Generator(PCG64)` with `integers` and `random` is used: their streams are stable across platforms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import ec2_types, eva_interference, eva_workloads
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.seeds import derived_seed

if TYPE_CHECKING:
    from schedgap.instances.provisioning.ec2 import CpuCapacity


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
    tasks: int = 200, *, seed: int = 0, cpu: CpuCapacity = "physical", interference: bool = False
) -> ProvisioningInstance:
    """Sample tasks uniformly from Table 7's ten workloads: the setting of Eva's Tables 4 and 5.

    interference : also give Figure 1's pairwise throughputs and the workloads' tasks per job.
    """
    rng = _rng("table7", tasks, seed)
    workloads = eva_workloads()
    drawn = rng.integers(0, len(workloads["names"]), tasks)
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
        name=f"table7-{tasks}-{cpu}-s{seed}",
        **ec2_types(cpu),
        demand=workloads["demand"][:, present],
        counts=np.bincount(task2class, minlength=present.shape[0]),
        class_names=names,
        task2class=task2class,
        **extra,  # type: ignore[arg-type]
    )


def distinct(tasks: int = 200, *, seed: int = 0, cpu: CpuCapacity = "physical") -> ProvisioningInstance:
    """Draw one demand vector a task, in milli-CPU and MiB, so that (almost) no two tasks are equal.

    Half of the tasks ask for GPUs (1, 2 or 4 with weights 6:3:1); CPU and RAM are uniform over what a p3 machine has
    for that many GPUs: 0.5 to 4 cores and 1 to 61 GiB each. CPU-only tasks ask for 0.5 to 16 cores and 1 to 64 GiB, and
    on c7i and r7i for half of the cores that they need on p3, as some of Table 7's do. With vCPU, cores double.
    """
    rng = _rng("distinct", tasks, seed)
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


def _rng(generator: str, tasks: int, seed: int) -> np.random.Generator:
    if tasks < 1:
        raise InstanceError(f"generator {generator}: tasks is {tasks}; it must be at least 1.")
    return np.random.Generator(np.random.PCG64(derived_seed("provisioning", generator, tasks, seed)))
