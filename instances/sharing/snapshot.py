"""The fairness problem at one moment: the jobs present as users, and their shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.fairness.model import MAX_TASKS, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.sharing.model import SharingInstance, SharingSchedule
from schedgap.instances.sharing.verify import ends_ms


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What runs at one moment.

    jobs : (N,) int64, ascending, those that have arrived and not ended. running : (N, K) int64, their running tasks.
    unfinished : (N,) int64, their tasks that have not ended, running ones included.
    """

    at_ms: int
    jobs: IntArray
    running: IntArray
    unfinished: IntArray


class Timeline:
    """A feasible schedule, ready to be looked at at many moments, each in O(T)."""

    def __init__(self, instance: SharingInstance, schedule: SharingSchedule) -> None:
        """Note when tasks and jobs start and end."""
        self.instance = instance
        self.start_ms = schedule.start_ms
        self.end_ms = ends_ms(instance, schedule)
        self.task2job = instance.task2job()
        self.task2class = instance.machine2class()[schedule.machine]
        first = instance.first_task[:-1]
        self.job_start_ms = np.minimum.reduceat(self.start_ms, first)
        self.job_end_ms = np.maximum.reduceat(self.end_ms, first)
        self._gain: FloatArray | None = None

    def at(self, ms: int) -> Snapshot:
        """Return what runs at a moment; tasks that start then do, and those that end then do not any more."""
        instance = self.instance
        jobs = np.flatnonzero((instance.arrival_ms <= ms) & (self.job_end_ms > ms))
        num_classes = len(instance.machine_names)
        unended = self.end_ms > ms
        runs = np.flatnonzero(unended & (self.start_ms <= ms))
        row = np.searchsorted(jobs, self.task2job[runs])
        running = np.bincount(row * num_classes + self.task2class[runs], minlength=jobs.shape[0] * num_classes)
        unfinished = np.add.reduceat(unended, instance.first_task[:-1], dtype=np.int64)[jobs]
        return Snapshot(ms, jobs, running.reshape(jobs.shape[0], num_classes), unfinished)

    def shares(self, snapshot: Snapshot) -> FloatArray:
        """Return (N,) float64, the shares of the jobs present in the instance's notion; they do not depend on others."""
        if self._gain is None:
            instance = self.instance
            users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
            self._gain = share_of_a_task(users)
        shares: FloatArray = (snapshot.running * self._gain[snapshot.jobs]).sum(axis=1)
        return shares


def as_users(
    instance: SharingInstance, jobs: IntArray, tasks: IntArray, notion: str = "", name: str = ""
) -> FairnessInstance:
    """Return the fairness problem whose users are some jobs of an instance, each with so many tasks.

    More than `MAX_TASKS`, which that problem does not count exactly, count as that many; shares do not depend on them.

    jobs, tasks : (N,) int64. notion, name : others than the instance's own.
    """
    return FairnessInstance(
        name=name or instance.name,
        notion=notion or instance.notion,
        resources=instance.resources,
        machine_names=instance.machine_names,
        machine_count=instance.machine_count,
        capacity=instance.capacity,
        demand=instance.demand[jobs],
        weight=instance.weight[jobs],
        performance=instance.performance[jobs],
        allowed=instance.serves(jobs),
        tasks=np.minimum(tasks, MAX_TASKS),
        user_names=tuple(instance.job_name(j) for j in jobs.tolist()),
    )


def fairness_at(instance: SharingInstance, snapshot: Snapshot) -> FairnessInstance:
    """Return the fairness problem among the jobs present at a moment."""
    name = f"{instance.name}-at-{snapshot.at_ms}-ms"
    return as_users(instance, snapshot.jobs, snapshot.unfinished, name=name)
