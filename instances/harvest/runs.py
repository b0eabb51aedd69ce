"""What became of each run of a schedule: whether it completed its task, and what was lost.

How messages call tasks, runs and moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance, HarvestSchedule


def run_name(instance: HarvestInstance, schedule: HarvestSchedule, run: int) -> str:
    """Return the name of a run of a task that exists, such as `run 7 (task 2 of job job-0)`."""
    return f"run {run} ({instance.task_name(int(schedule.task[run]))})"


def seconds(ms: int) -> str:
    """Return a time as people write it, such as `1.5 s`."""
    return f"{int(ms) / SECOND_MS:.16g} s"


kernels_verify = ModuleOnUse("schedgap.instances.harvest.kernels_verify")


@dataclass(frozen=True, slots=True, eq=False)
class RunResults:
    """What became of the N runs of T tasks.

    completing : (T,) int64, the run that completes each task; of several that would at the same moment the one that started
        first, then the first given; the others are stopped then.
    lost_ms : (N,) int64, what must be done again, or was done twice: 0 for a completing run, else the time since its last
        checkpoint, or all of its time if it took none.
    busy_ms : (T,) int64, for how long at least one run of the task goes on.
    """

    completing: IntArray
    lost_ms: IntArray
    busy_ms: IntArray

    @property
    def is_completing(self) -> BoolArray:
        """(N,) bool: whether each run completes its task."""
        is_completing = np.zeros(self.lost_ms.shape[0], np.bool_)
        is_completing[self.completing] = True
        return is_completing


def run_results(instance: HarvestInstance, schedule: HarvestSchedule) -> RunResults:
    """Follow all runs by the rules of `HarvestSchedule`; their tasks must exist, their times be in range. O(N log N).

    Raises
    ------
    VerifyError
        naming the first run that breaks the rules, or task that never runs or is never complete.
    """
    if (idle := first_true(np.bincount(schedule.task, minlength=instance.num_tasks) == 0)) is not None:
        raise VerifyError(f"{instance.task_name(idle)} never runs; run every task to its end.")
    result = RunResults(
        completing=np.empty(instance.num_tasks, np.int64),
        lost_ms=np.empty(schedule.num_runs, np.int64),
        busy_ms=np.empty(instance.num_tasks, np.int64),
    )
    found, run, figure = kernels_verify.follow_runs(
        np.lexsort((schedule.start_ms, schedule.task)),
        run_arrays(schedule),
        kernels_verify.Given(instance.task2job(), instance.runtime_ms, instance.checkpoint_ms, instance.restore_ms),
        result.completing,
        result.lost_ms,
        result.busy_ms,
    )
    if found == kernels_verify.FINE:
        return result
    name, start, end = run_name(instance, schedule, run), int(schedule.start_ms[run]), int(schedule.end_ms[run])
    if found == kernels_verify.OVERLAPS:
        raise VerifyError(
            f"{name} starts at {seconds(start)}, before run {figure} of the same task ends at "
            f"{seconds(schedule.end_ms[figure])}; runs of a task with checkpoints follow one another."
        )
    if found == kernels_verify.GOES_ON:
        raise VerifyError(
            f"{name} ends at {seconds(end)}, after run {figure} has completed the task at "
            f"{seconds(schedule.end_ms[figure])}; no run of it goes on then."
        )
    takes = seconds(figure)
    if found == kernels_verify.TOO_LONG:
        raise VerifyError(f"{name} lasts {seconds(end - start)}; it takes {takes} to complete the task, end it then.")
    raise VerifyError(
        f"{instance.task_name(int(schedule.task[run]))} is never complete: the last of its runs, run {run}, lasts "
        f"{seconds(end - start)} and takes {takes} to complete it."
    )


def run_arrays(schedule: HarvestSchedule) -> Any:
    """Return the runs as the kernels take them."""
    return kernels_verify.Runs(
        schedule.task, schedule.vm, schedule.start_ms, schedule.end_ms, schedule.checkpoint_every_ms
    )
