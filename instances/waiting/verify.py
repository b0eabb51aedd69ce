"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.documents.json_files import from_units
from schedgap.instances.errors import VerifyError
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.model import MAX_END_US, RENTED, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.objective import costs

MAX_MACHINES = 10_000_000
overload = ModuleOnUse("schedgap.instances.kernels.overload")


def verify(instance: WaitingInstance, schedule: WaitingSchedule) -> int:
    """Return the objective of a feasible schedule, in micro-dollars.

    Every job starts once, not before it is submitted and within the maximum wait; no fixed machine is ever over its
    cores or memory. O(J log J), O(J log R) for R running jobs where jobs start in order. Raises `VerifyError` naming the
    first violation.
    """
    _check_ranges(instance, schedule)
    _check_times(instance, schedule)
    _check_capacity(instance, schedule)
    return costs(instance, schedule).objective


def _check_ranges(instance: WaitingInstance, schedule: WaitingSchedule) -> None:
    if schedule.machine.shape[0] != instance.num_jobs:
        raise VerifyError(f"{schedule.machine.shape[0]} jobs are placed, the instance has {instance.num_jobs}.")
    if not 0 <= schedule.num_machines <= MAX_MACHINES:
        raise VerifyError(f"{schedule.num_machines} fixed machines are bought; a schedule buys 0 to {MAX_MACHINES}.")
    if (job := first_true((schedule.machine < RENTED) | (schedule.machine >= schedule.num_machines))) is not None:
        raise VerifyError(f"job {job} runs on machine {schedule.machine[job]}; there are {schedule.num_machines}.")


def _check_times(instance: WaitingInstance, schedule: WaitingSchedule) -> None:
    # Subtracted, since sums with any start might wrap.
    if (job := first_true(schedule.start_us > MAX_END_US - instance.runtime_us)) is not None:
        raise VerifyError(f"job {job} starts at {schedule.start_us[job]} us; a schedule ends before {MAX_END_US} us.")
    if (job := first_true(schedule.start_us < instance.submit_us)) is not None:
        submit_us = int(instance.submit_us[job])
        raise VerifyError(
            f"job {job} starts {_seconds(submit_us - int(schedule.start_us[job]))} before it is submitted, at "
            f"{_seconds(submit_us)}."
        )
    wait = schedule.start_us - instance.submit_us
    if instance.max_wait_us is not None and (wait > instance.max_wait_us).any():
        job = int(np.argmax(wait > instance.max_wait_us))
        raise VerifyError(
            f"job {job} waits {_seconds(wait[job])}; no job may wait longer than {_seconds(instance.max_wait_us)}."
        )


def _check_capacity(instance: WaitingInstance, schedule: WaitingSchedule) -> None:
    fixed = np.flatnonzero(schedule.machine != RENTED)
    machine, start = schedule.machine[fixed], schedule.start_us[fixed]
    end = start + instance.runtime_us[fixed]
    by_start = np.argsort(start, kind="stable")
    sizes = instance.cores[fixed], instance.memory_mib[fixed]
    most = instance.machine_cores, instance.machine_memory_mib
    # No two jobs fit a machine together: the paper's model, and a third of the time.
    if any((2 * size > room).all() for size, room in zip(sizes, most, strict=True)):
        large = first_true((sizes[0] > most[0]) | (sizes[1] > most[1]))
        free_us = np.zeros(schedule.num_machines, np.int64)
        job = overload.first_overlap(machine, start, end, by_start, free_us) if large is None else large
    else:
        free = np.tile(most, (schedule.num_machines, 1))
        by_end = np.argsort(end, kind="stable")
        job, _ = overload.first_overload(machine, start, end, by_start, by_end, np.column_stack(sizes), free)
    if job >= 0:
        raise VerifyError(
            f"machine {machine[job]} is over its {instance.machine_cores} cores or {instance.machine_memory_mib} MiB "
            f"when job {fixed[job]} starts, at {_seconds(start[job])}."
        )


def _seconds(time_us: int | np.int64) -> str:
    """Return a time with all its digits: one that breaks a rule by a microsecond is not the one that keeps it."""
    return f"{from_units(int(time_us), SECOND_US)} s"
