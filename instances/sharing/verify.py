"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers.

At one moment it is a fairness problem: the jobs present are users, who have shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness.model import MAX_TASKS, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.sharing.model import MAX_TOTAL_MS, SharingInstance, SharingSchedule
from schedgap.instances.units import SECOND_MS, shown_amount

overload = ModuleOnUse("schedgap.instances.kernels.overload")


def verify(instance: SharingInstance, schedule: SharingSchedule) -> int:
    """Return the total completion delay: from each job's arrival to the end of its last task, in milliseconds.

    Every task runs once, on a machine that serves its job, not before the job arrives; no machine is ever over its
    capacity. O(T log T). Raises `VerifyError` naming the first violation.
    """
    _check_ranges(instance, schedule)
    _check_places(instance, schedule)
    end_ms = ends_ms(instance, schedule)
    _check_capacity(instance, schedule, end_ms)
    delay_ms = np.maximum.reduceat(end_ms, instance.first_task[:-1]) - instance.arrival_ms
    return sum(delay_ms.tolist())


def ends_ms(instance: SharingInstance, schedule: SharingSchedule) -> IntArray:
    """Return (T,) int64, when each task of a schedule ends whose machines exist and serve the jobs."""
    machine_class = instance.machine2class()[schedule.machine]
    return schedule.start_ms + instance.duration_ms(np.arange(instance.num_tasks), machine_class)


def _check_ranges(instance: SharingInstance, schedule: SharingSchedule) -> None:
    for what in ("machine", "start_ms"):
        shape = getattr(schedule, what).shape
        if shape != (instance.num_tasks,):
            raise VerifyError(f"{what} has shape {shape}; the instance has {instance.num_tasks} tasks, give one each.")
    if (task := first_true((schedule.machine < 0) | (schedule.machine >= instance.num_machines))) is not None:
        raise VerifyError(
            f"{instance.task_name(task)} runs on machine {schedule.machine[task]}; there are {instance.num_machines}."
        )
    if (task := first_true(schedule.start_ms > MAX_TOTAL_MS)) is not None:
        raise VerifyError(
            f"{instance.task_name(task)} starts at {schedule.start_ms[task]} ms; a task starts by {MAX_TOTAL_MS} ms."
        )


def _check_places(instance: SharingInstance, schedule: SharingSchedule) -> None:
    job = instance.task2job()
    machine_class = instance.machine2class()[schedule.machine]
    if (task := first_true(~instance.serves()[job, machine_class])) is not None:
        j, k = int(job[task]), int(machine_class[task])
        raise VerifyError(
            f"{instance.task_name(task)} runs on machine {schedule.machine[task]} of class {instance.machine_names[k]}, "
            f"{_why_not_served(instance, j, k)}."
        )
    if (task := first_true(schedule.start_ms < instance.arrival_ms[job])) is not None:
        raise VerifyError(
            f"{instance.task_name(task)} starts at {_seconds(schedule.start_ms[task])}, before its job arrives at "
            f"{_seconds(instance.arrival_ms[job[task]])}."
        )


def _check_capacity(instance: SharingInstance, schedule: SharingSchedule, end_ms: IntArray) -> None:
    job = instance.task2job()
    task, r = overload.first_overload(
        schedule.machine,
        schedule.start_ms,
        end_ms,
        np.argsort(schedule.start_ms, kind="stable"),
        np.argsort(end_ms, kind="stable"),
        instance.demand[job],
        np.repeat(instance.capacity, instance.machine_count, axis=0),
    )
    if task >= 0:
        name, machine = instance.resources[r], schedule.machine[task]
        start = schedule.start_ms[task]
        capacity = int(instance.capacity[instance.machine2class()[machine], r])
        # Of the tasks that start at this moment, those up to this one, in the order in which they were looked at.
        here = (schedule.machine == machine) & (schedule.start_ms <= start) & (end_ms > start)
        here[task + 1 :] &= schedule.start_ms[task + 1 :] < start
        used = int(instance.demand[job[here], r].sum())
        raise VerifyError(
            f"machine {machine} is over its {name} when {instance.task_name(task)} starts, at {_seconds(start)}: "
            f"{shown_amount(used, name)} used, it has {shown_amount(capacity, name)}."
        )


def _why_not_served(instance: SharingInstance, job: int, k: int) -> str:
    if not instance.allowed[job, k]:
        return "which its constraints forbid"
    for r, name in enumerate(instance.resources):
        needs, has = int(instance.demand[job, r]), int(instance.capacity[k, r])
        if needs > has:
            return f"and needs {shown_amount(needs, name)}, of which that has {shown_amount(has, name)}"
    return "where it has no performance"


def _seconds(ms: int) -> str:
    return f"{int(ms) / SECOND_MS:.12g} s"


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
