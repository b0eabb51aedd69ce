"""A small version of an instance, of the same kind in every respect that compiled code can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance

MAX_CLASSES = 4
MAX_TASKS_PER_CLASS = 2


def shrink(instance: ProvisioningInstance) -> ProvisioningInstance:
    """Return an instance with the first four classes, two tasks each: to warm up compiled methods, not to measure.

    Optional parts (workloads, throughputs, task order, names, running machines) are kept or stay absent.
    """
    kept = min(instance.num_classes, MAX_CLASSES)
    counts = np.minimum(instance.counts[:kept], MAX_TASKS_PER_CLASS)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        demand=instance.demand[:, :kept],
        counts=counts,
        class_names=None if instance.class_names is None else instance.class_names[:kept],
        class2workload=instance.class2workload[:kept],
        class2job=instance.class2job[:kept],
        tasks_per_job=instance.tasks_per_job[:kept],
        job_value=instance.job_value[:kept],
        per_machine=None if instance.per_machine is None else instance.per_machine[:kept],
        task2class=None if instance.task2class is None else np.repeat(np.arange(kept), counts),
        running=None if instance.running is None else instance.running.without(counts),
        task_names=None if instance.task_names is None else tuple(f"task-{t}" for t in range(int(counts.sum()))),
    )
