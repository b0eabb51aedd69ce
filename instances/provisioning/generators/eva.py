"""The instances of Eva's tables 3 and 7."""

from __future__ import annotations

from typing import Literal

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_types, eva_interference, eva_workloads
from schedgap.instances.provisioning.generators.distinct import generator
from schedgap.instances.provisioning.model import ProvisioningInstance

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
