"""A small version of an instance, of the same kind in every respect that methods can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray, ranges

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

MAX_VMS = 6
MAX_JOBS = 4
MAX_TASKS_PER_JOB = 3


def shrink(instance: HarvestInstance) -> HarvestInstance:
    """Return an instance with a few VMs and jobs, of at most three tasks: to warm up compiled methods, not to measure.

    The first jobs are kept, and the first that takes no checkpoints, takes them for nothing, or pays for them; the first
    VMs, those leased at the start before others, and for each job one that fits its tasks after its last event.
    """
    jobs = _first_jobs(instance)
    vms = _first_vms(instance, jobs)
    sizes = np.minimum(np.diff(instance.first_task)[jobs], MAX_TASKS_PER_JOB)
    tasks = ranges(instance.first_task[jobs], sizes)
    num_events = np.diff(instance.first_event)[vms]
    events = ranges(instance.first_event[vms], num_events)
    names = instance.vm_names, instance.job_names
    return instance.replace(
        name=f"{instance.name}-shrunk",
        first_event=np.concatenate(([0], np.cumsum(num_events))),
        event_ms=instance.event_ms[events],
        event_cores=instance.event_cores[events],
        **{key: getattr(instance, key)[vms] for key in ("min_cores", "memory_mib", "leased", "buffer")},
        **{
            key: getattr(instance, key)[jobs]
            for key in ("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms")
        },
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        runtime_ms=instance.runtime_ms[tasks],
        estimate_ms=instance.estimate_ms[tasks],
        vm_names=None if names[0] is None else tuple(names[0][v] for v in vms.tolist()),
        job_names=None if names[1] is None else tuple(names[1][j] for j in jobs.tolist()),
        notes=(),
    )


def _first_jobs(instance: HarvestInstance) -> IntArray:
    _, first_of_kind = np.unique(np.sign(instance.checkpoint_ms), return_index=True)
    return np.union1d(np.arange(min(MAX_JOBS, instance.num_jobs)), first_of_kind)


def _first_vms(instance: HarvestInstance, jobs: IntArray) -> IntArray:
    # Whoever is leased first, and on buffer servers last: the provider may not place any there.
    order = np.argsort(instance.buffer * 2 - instance.leased, kind="stable")
    last_cores = instance.event_cores[instance.first_event[1:] - 1][order]
    fitting = {
        int(order[np.argmax((last_cores >= instance.cores[j]) & (instance.memory_mib[order] >= memory))])
        for j, memory in zip(jobs.tolist(), instance.task_memory_mib[jobs].tolist(), strict=True)
    }
    return np.array(sorted({*order[:MAX_VMS].tolist(), *fitting}))
