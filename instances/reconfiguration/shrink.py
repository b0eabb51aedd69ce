"""A small version of an instance, of the same kind in every respect that compiled code can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.reconfiguration.delays import PHASES

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

MAX_JOBS = 6
MAX_TASKS_PER_JOB = 2
MAX_WORK_S = 7200


def shrink(instance: ReconfigurationInstance) -> ReconfigurationInstance:
    """Return an instance with the first six jobs, of at most two tasks and two hours: to warm up, not to measure.

    The jobs arrive one a period, so that they meet. Throughputs are kept or stay absent, and running machines stay.
    """
    kept = min(instance.num_jobs, MAX_JOBS)
    catalogue = instance.catalogue
    # Classes and workloads are numbered by their first jobs: those of the first jobs come first.
    num_classes = int(instance.job2class[:kept].max()) + 1
    class2workload = instance.class2workload[:num_classes]
    num_workloads = int(class2workload.max()) + 1
    first = slice(0, num_workloads)
    throughput, stored, running = catalogue.throughput, instance.stored_sets, instance.running
    num_tasks = np.minimum(instance.num_tasks[:kept], MAX_TASKS_PER_JOB)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        catalogue=catalogue.replace(
            demand=catalogue.demand[:, :num_classes],
            counts=catalogue.counts[:num_classes],
            class_names=None if catalogue.class_names is None else catalogue.class_names[:num_classes],
            workloads=catalogue.workloads[first],
            class2workload=class2workload,
            class2job=None,
            tasks_per_job=None,
            throughput=None if throughput is None else throughput[first, first],
        ),
        **{key: getattr(instance, key)[first] for key in PHASES},
        arrival_s=np.arange(kept) * instance.period_s,
        work_s=np.minimum(instance.work_s[:kept], MAX_WORK_S),
        job2class=instance.job2class[:kept],
        num_tasks=num_tasks,
        stored_sets=None if stored is None else stored.of_workloads(np.arange(num_workloads)),
        # The first job alone is there at second 0.
        running=None if running is None else running.without(num_tasks[:1]),
        notes=(),
    )
