"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.harvest.model import MAX_POOL_MS, MAX_TOTAL_MS, NO_CHECKPOINTS, HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.stability import last_at
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import SECOND_MS


def check_leases(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    """Refuse leases that a pool cannot have, and runs outside of them; runs must be on VMs that exist. O((L + N + E) log).

    Raises `VerifyError` naming the first lease, run or moment that breaks the rules.
    """
    num_leases = schedule.lease_vm.shape[0]
    if instance.is_fixed:
        if num_leases:
            raise VerifyError(f"there are {num_leases} leases, and the pool is fixed; give none.")
        return
    _check_lease_ranges(instance, schedule)
    _check_up(instance, schedule)
    order = np.lexsort((schedule.lease_start_ms, schedule.lease_vm))
    _check_apart(instance, schedule, order)
    _check_number(instance, schedule)
    at_start = schedule.lease_vm[schedule.lease_start_ms == 0]
    if (vm := first_true(instance.leased & ~np.isin(np.arange(instance.num_vms), at_start))) is not None:
        raise VerifyError(f"VM {instance.vm_name(vm)} is leased at the start, and no lease of it starts at 0 s.")
    _check_runs(instance, schedule, order)


def _check_lease_ranges(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    vm, start, end = schedule.lease_vm, schedule.lease_start_ms, schedule.lease_end_ms
    if (lease := first_true((vm < 0) | (vm >= instance.num_vms))) is not None:
        raise VerifyError(f"lease {lease} is of VM {vm[lease]}; there are {instance.num_vms} VMs, numbered from 0.")
    if (lease := first_true((start < 0) | (end > MAX_POOL_MS) | (start >= end))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} goes from {start[lease]} to {end[lease]} ms; a lease lasts at least a "
            f"millisecond, between 0 and {MAX_POOL_MS} ms."
        )


def _check_up(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    event2vm = instance.event2vm()
    event = last_at(event2vm, instance.event_ms, schedule.lease_vm, schedule.lease_start_ms)
    if (lease := first_true((event < 0) | (instance.event_cores[event] == 0))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} starts at {seconds(schedule.lease_start_ms[lease])}, when the VM has no "
            "cores; lease it while it has some."
        )
    evictions = np.flatnonzero(instance.event_cores == 0)
    if not evictions.shape[0]:
        return
    # The first eviction of each leased VM after the lease has started, or some event of another VM.
    after = np.minimum(np.searchsorted(evictions, event, side="right"), evictions.shape[0] - 1)
    gone = evictions[after]
    late = (gone > event) & (event2vm[gone] == schedule.lease_vm) & (instance.event_ms[gone] < schedule.lease_end_ms)
    if (lease := first_true(late)) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, lease)} ends at {seconds(schedule.lease_end_ms[lease])}, and the VM is evicted at "
            f"{seconds(instance.event_ms[gone[lease]])}; end it by then."
        )


def _check_apart(instance: HarvestInstance, schedule: HarvestSchedule, order: IntArray) -> None:
    vm, start, end = schedule.lease_vm[order], schedule.lease_start_ms[order], schedule.lease_end_ms[order]
    if (i := first_true((vm[1:] == vm[:-1]) & (start[1:] < end[:-1]))) is not None:
        raise VerifyError(
            f"{_lease(instance, schedule, int(order[i + 1]))} starts at {seconds(start[i + 1])}, before lease {order[i]} of "
            f"that VM ends at {seconds(end[i])}."
        )


def _check_number(instance: HarvestInstance, schedule: HarvestSchedule) -> None:
    start = np.sort(schedule.lease_start_ms)
    count = np.arange(1, start.shape[0] + 1) - np.searchsorted(np.sort(schedule.lease_end_ms), start, side="right")
    if (i := first_true(count > instance.max_leases)) is not None:
        raise VerifyError(f"{count[i]} VMs are leased at {seconds(start[i])}; at most {instance.max_leases} may be.")


def _check_runs(instance: HarvestInstance, schedule: HarvestSchedule, order: IntArray) -> None:
    vm, start = schedule.lease_vm[order], schedule.lease_start_ms[order]
    lease = last_at(vm, start, schedule.vm, schedule.start_ms)
    end = schedule.lease_end_ms[order]
    outside = lease < 0
    outside |= schedule.end_ms > end[lease]
    if (run := first_true(outside)) is not None:
        raise VerifyError(
            f"{run_name(instance, schedule, run)} is on VM {instance.vm_name(int(schedule.vm[run]))} from "
            f"{seconds(schedule.start_ms[run])} to {seconds(schedule.end_ms[run])}, which no lease of that VM covers; lease "
            "it for all that time."
        )


def _lease(instance: HarvestInstance, schedule: HarvestSchedule, lease: int) -> str:
    return f"lease {lease} of VM {instance.vm_name(int(schedule.lease_vm[lease]))}"


RUN_COLUMNS = ("task", "vm", "start_ms", "end_ms", "checkpoint_every_ms")
LEASE_COLUMNS = ("lease_vm", "lease_start_ms", "lease_end_ms")


def verify(instance: HarvestInstance, schedule: HarvestSchedule) -> int:
    """Return the objective of a feasible schedule, in milliseconds: what the instance's `objective` says.

    No run starts before its job arrives; each task is completed by one run, and none of it goes on then (see
    `HarvestSchedule`); no VM is over its cores or memory at any moment: it has the cores that it has after all its events of
    that moment, and runs that end then hold nothing any more. Of a pool that is not fixed, runs are on leased VMs.
    O((N + L + E) log (N + L + E)). Raises `VerifyError` naming the first violation.
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

    Raises `VerifyError` naming the first run that breaks the rules, or task that never runs or is never complete.
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
