"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest.model import MAX_TOTAL_MS, NO_CHECKPOINTS, HarvestInstance
from schedgap.instances.harvest.runs import kernels_verify, run_arrays, run_results
from schedgap.instances.harvest.verify_leases import check_leases
from schedgap.instances.harvest.wording import run_name, seconds

if TYPE_CHECKING:
    from schedgap.instances.harvest.solution import HarvestSchedule

RUN_COLUMNS = ("task", "vm", "start_ms", "end_ms", "checkpoint_every_ms")
LEASE_COLUMNS = ("lease_vm", "lease_start_ms", "lease_end_ms")


def verify(instance: HarvestInstance, schedule: HarvestSchedule) -> int:
    """Return the objective of a feasible schedule, in milliseconds: what the instance's `objective` says.

    No run starts before its job arrives; each task is completed by one run, and none of it goes on then (see
    `HarvestSchedule`); no VM is over its cores or memory at any moment: it has the cores that it has after all its events of
    that moment, and runs that end then hold nothing any more. Of a pool that is not fixed, runs are on leased VMs.
    O((N + L + E) log (N + L + E)).

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    _check_shapes(schedule)
    _check_ranges(instance, schedule)
    _check_arrivals(instance, schedule)
    end_ms = schedule.end_ms[run_results(instance, schedule).completing]
    check_leases(instance, schedule)
    _check_capacity(instance, schedule)
    # In Python's integers: a million times of 2^52 ms do not fit into 64 bits.
    if instance.objective == "makespan":
        return int(end_ms.max()) - int(instance.arrival_ms[0])
    if instance.objective == "tasks":
        return sum((end_ms - instance.arrival_ms[instance.task2job()]).tolist())
    return sum(_job_times(instance, end_ms).tolist())


def ends_ms(instance: HarvestInstance, schedule: HarvestSchedule) -> IntArray:
    """Return (T,) int64, when each task of a feasible schedule is complete."""
    end_ms = np.zeros(instance.num_tasks, np.int64)
    np.maximum.at(end_ms, schedule.task, schedule.end_ms)
    return end_ms


def job_times_ms(instance: HarvestInstance, schedule: HarvestSchedule) -> IntArray:
    """Return (J,) int64, the completion time of each job in a feasible schedule: from its arrival to its last task's end."""
    return _job_times(instance, ends_ms(instance, schedule))


def _job_times(instance: HarvestInstance, end_ms: IntArray) -> IntArray:
    return np.maximum.reduceat(end_ms, instance.first_task[:-1]) - instance.arrival_ms


def _check_shapes(schedule: HarvestSchedule) -> None:
    for columns, what in ((RUN_COLUMNS, "run"), (LEASE_COLUMNS, "lease")):
        first = getattr(schedule, columns[0]).shape
        for column in columns:
            shape = getattr(schedule, column).shape
            if len(shape) != 1:
                raise VerifyError(f"{column} has shape {shape}; give one number for each {what}.")
            if shape != first:
                raise VerifyError(
                    f"{columns[0]} has shape {first} and {column} has shape {shape}; give one number for each {what}."
                )


def _check_ranges(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    for column, count, what in (("task", instance.num_tasks, "task"), ("vm", instance.num_vms, "VM")):
        values = getattr(schedule, column)
        if (run := first_true((values < 0) | (values >= count))) is not None:
            raise VerifyError(f"run {run} has {what} {values[run]}; there are {count} {what}s, numbered from 0.")
    start, end = schedule.start_ms, schedule.end_ms
    if (run := first_true((start < 0) | (end > MAX_TOTAL_MS) | (start >= end))) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} goes from {start[run]} to {end[run]} ms; a run lasts at least a "
            f"millisecond, between 0 and {MAX_TOTAL_MS} ms."
        )
    every = schedule.checkpoint_every_ms
    if (run := first_true((every < 0) | (every > MAX_TOTAL_MS))) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} takes checkpoints every {every[run]} ms; give 0 for none, or 1 to "
            f"{MAX_TOTAL_MS}."
        )
    takes_none = instance.checkpoint_ms[instance.task2job()[schedule.task]] == NO_CHECKPOINTS
    if (run := first_true((every > 0) & takes_none)) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} takes checkpoints every {seconds(every[run])}, and tasks of that job "
            "cannot take any; give 0."
        )


def _check_arrivals(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    arrival = instance.arrival_ms[instance.task2job()[schedule.task]]
    if (run := first_true(schedule.start_ms < arrival)) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} starts at {seconds(schedule.start_ms[run])}, before its job arrives at "
            f"{seconds(arrival[run])}."
        )


def _check_capacity(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    job = instance.task2job()[schedule.task]
    cores, memory = instance.cores[job], instance.task_memory_mib[job]
    vm, at, started = kernels_verify.first_overload(
        np.lexsort((schedule.start_ms, schedule.vm)),
        np.lexsort((schedule.end_ms, schedule.vm)),
        run_arrays(schedule),
        cores,
        memory,
        kernels_verify.Events(instance.first_event, instance.event_ms, instance.event_cores, instance.memory_mib),
    )
    if vm == kernels_verify.NOBODY:
        return
    here = np.flatnonzero((schedule.vm == vm) & (schedule.start_ms <= at) & (schedule.end_ms > at))
    events = slice(int(instance.first_event[vm]), int(instance.first_event[vm + 1]))
    passed = int(np.searchsorted(instance.event_ms[events], at, side="right"))
    size = int(instance.event_cores[events][passed - 1]) if passed else 0
    used = sum(cores[here].tolist())
    if used > size:
        what = f"has {size} cores at {seconds(at)}, and what runs there needs {used}"
    else:
        has, used = int(instance.memory_mib[vm]), sum(memory[here].tolist())
        what = f"has {has} MiB of memory, and what runs there at {seconds(at)} needs {used}"
    if started == kernels_verify.NOBODY:
        run = int(here[np.argmax(schedule.start_ms[here])])
        raise VerifyError(
            f"VM {instance.vm_name(vm)} {what}: it shrinks then, and {run_name(instance, schedule, run)} goes on; end runs "
            "by then."
        )
    raise VerifyError(
        f"VM {instance.vm_name(vm)} {what}: {run_name(instance, schedule, started)} starts then; start it later or elsewhere."
    )
