"""A schedule of a harvest instance: every run of every task, and the VMs that were leased."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from schedgap.instances.arrays import Brief, IntArray, lock
from schedgap.instances.errors import SolutionError


def _none() -> IntArray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HarvestSchedule(Brief):
    """Runs of tasks, of which the last of each task completes it, and leases of VMs.

    A run that starts when w ms of work are left of its task, p ms being saved by earlier runs, restores for the job's
    restore_ms if p > 0 and then works. With checkpoint_every_ms = c > 0 it stands still for the job's checkpoint_ms after
    every c ms of work, save at the very end; what it has worked until then is saved. It completes the task if it lasts

        restore_ms * [p > 0] + w + (ceil(w / c) - 1) * checkpoint_ms

    and loses what is not saved if it ends before. Runs of one task may overlap (replicas) if none of the task's runs takes
    checkpoints.

    Letters: N runs, L leases.

    task, vm, start_ms, end_ms : (N,) int64. checkpoint_every_ms : (N,) int64, 0 for a run without checkpoints.
    lease_vm, lease_start_ms, lease_end_ms : (L,) int64; none if the instance's pool is fixed. A lease is within one time
        that the VM has cores without a break.
    """

    task: IntArray
    vm: IntArray
    start_ms: IntArray
    end_ms: IntArray
    checkpoint_every_ms: IntArray
    lease_vm: IntArray = field(default_factory=_none)
    lease_start_ms: IntArray = field(default_factory=_none)
    lease_end_ms: IntArray = field(default_factory=_none)

    def __post_init__(self) -> None:
        lock(self, self.__slots__, error=SolutionError)

    @property
    def num_runs(self) -> int:
        """Number of runs, completed and lost."""
        return int(self.task.shape[0])
