"""How messages call tasks, runs and moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


def task_name(instance: HarvestInstance, task: int) -> str:
    """Return the name of a task, such as `task 2 of job job-0`."""
    job = int(np.searchsorted(instance.first_task, task, side="right")) - 1
    return f"task {task - int(instance.first_task[job])} of job {instance.job_name(job)}"


def run_name(instance: HarvestInstance, schedule: HarvestSchedule, run: int) -> str:
    """Return the name of a run of a task that exists, such as `run 7 (task 2 of job job-0)`."""
    return f"run {run} ({task_name(instance, int(schedule.task[run]))})"


def seconds(ms: int) -> str:
    """Return a time as people write it, such as `1.5 s`."""
    return f"{int(ms) / SECOND_MS:.16g} s"
