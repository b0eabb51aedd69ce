"""A small version of an instance, of the same kind in every respect that compiled code can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import ranges

if TYPE_CHECKING:
    from schedgap.instances.sharing.model import SharingInstance

MAX_JOBS = 6
MAX_TASKS_PER_JOB = 3


def shrink(instance: SharingInstance) -> SharingInstance:
    """Return an instance with the first six jobs, of at most three tasks: to warm up compiled methods, not to measure."""
    kept = slice(0, MAX_JOBS)
    sizes = np.minimum(np.diff(instance.first_task)[kept], MAX_TASKS_PER_JOB)
    tasks = ranges(instance.first_task[:-1][kept], sizes)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        **{key: getattr(instance, key)[kept] for key in ("arrival_ms", "demand", "weight", "performance", "allowed")},
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=instance.work_ms[tasks],
        warm_up_jobs=0,
        job_names=None if instance.job_names is None else instance.job_names[kept],
        notes=(),
    )
