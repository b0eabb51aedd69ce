"""How messages call tasks, runs and moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


def run_name(instance: HarvestInstance, schedule: HarvestSchedule, run: int) -> str:
    """Return the name of a run of a task that exists, such as `run 7 (task 2 of job job-0)`."""
    return f"run {run} ({instance.task_name(int(schedule.task[run]))})"


def seconds(ms: int) -> str:
    """Return a time as people write it, such as `1.5 s`."""
    return f"{int(ms) / SECOND_MS:.16g} s"
