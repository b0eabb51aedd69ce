"""Tasks that are all different, where grouping equal tasks into classes gains nothing."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import derived_seed
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_types
from schedgap.instances.provisioning.model import ProvisioningInstance


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
