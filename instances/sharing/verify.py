"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.errors import VerifyError
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
