"""Feasibility and objective of a schedule, recomputed from nothing but the instance, in exact integers.

    objective = fixed machines x price x time that they are paid
              + sum over rented jobs of the rent of the job x its runtime
              + wait_price x time that jobs wait

Fixed machines are paid from 0 to the horizon, or to the end of the last job on one of them if that is later: else a
schedule could put its work off until nobody pays any more. The sum is rounded up to a whole micro-dollar once, so a
bound on it that is rounded up likewise stays a bound.

Prices and sizes of the paper's machines: Amazon's m5 family (Waiting Game, sections II, V and VI).

All sizes cost the same per core and have 4 GiB a core. The eight size classes of the authors' simulator end at 64 cores.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import DOLLAR, HOUR_US, SECOND_US
from schedgap.instances.waiting.model import HISTORY_FIELDS, MAX_END_US, RENTED, WaitingInstance, WaitingSchedule

CORE_HOUR = 48_000
MIB_PER_CORE = 4096
SIZES = np.array([1, 2, 4, 8, 16, 32, 48, 64])
# What a machine reserved for three years costs beside the same machine on demand.
DISCOUNT = 0.4
# Of a spot machine beside the same machine on demand; section IV-D says 10 to 20%.
SPOT_PRICE = 0.15


def m5(machine_cores: int, discount: float) -> dict[str, Any]:
    """Return the fields of an instance that tell of machines: fixed ones of `machine_cores`, and m5 on demand.

    Raises `InstanceError` for a discount outside 0 to 1, or no cores.
    """
    check_discount(discount)
    if machine_cores < 1:
        raise InstanceError(f"machine_cores is {machine_cores}; a fixed machine has at least one core.")
    return {
        "machine_cores": machine_cores,
        "machine_memory_mib": machine_cores * MIB_PER_CORE,
        "fixed_price": round(machine_cores * CORE_HOUR * discount),
        "rented_cores": SIZES,
        "rented_memory_mib": SIZES * MIB_PER_CORE,
        "rented_price": SIZES * CORE_HOUR,
    }


def waiting(wait_price: float, max_wait_h: float) -> dict[str, Any]:
    """Return the fields of an instance that tell what waiting costs, from dollars an hour and hours.

    max_wait_h : below 0 for no limit.
    """
    return {
        "wait_price": int(to_units(wait_price, DOLLAR, "wait_price", InstanceError)),
        "max_wait_us": None
        if max_wait_h < 0
        else int(to_units(max_wait_h, 3_600_000_000, "max_wait_h", InstanceError)),
    }


def check_discount(discount: float) -> None:
    """Refuse a share of the on-demand price that is none. Raises `InstanceError` outside 0 to 1."""
    if not 0 < discount <= 1:
        raise InstanceError(f"discount is {discount:g}; give the fixed price as a share of the on-demand one, 0 to 1.")


def with_history(instance: WaitingInstance, split: float) -> WaitingInstance:
    """Return the instance of a trace's last jobs, whose history are the first ones; the trace as it is for a split of 0.

    split : the share of the jobs, in order of submission, that are history. By jobs and not by time, so that neither part
    is empty where a log pauses. The first job left is submitted at time 0, to machines that are empty: what still ran or
    waited then belongs to the history.

    Raises `InstanceError` for a share outside 0 to 1, or one that leaves no job on one of the sides.
    """
    if split == 0:
        return instance
    first = round(split * instance.num_jobs) if 0 < split < 1 else 0
    if not 0 < first < instance.num_jobs:
        raise InstanceError(
            f"{instance.name}: split is {split:g} of {instance.num_jobs} jobs; give a share between 0 and 1 that leaves "
            "jobs on both sides, or 0 for no history."
        )
    begin_us = int(instance.submit_us[first])
    return instance.replace(
        name=f"{instance.name}-after-{first}",
        submit_us=instance.submit_us[first:] - begin_us,
        runtime_us=instance.runtime_us[first:],
        cores=instance.cores[first:],
        memory_mib=instance.memory_mib[first:],
        horizon_us=max(1, instance.horizon_us - begin_us),
        history_before_us=begin_us - instance.submit_us[:first],
        **{key: getattr(instance, key.removeprefix("history_"))[:first] for key in HISTORY_FIELDS[1:]},
    )


@dataclass(frozen=True, slots=True)
class Costs:
    """Parts of the objective, in micro-dollars x microseconds an hour: divide by `HOUR_US` for micro-dollars."""

    fixed: int
    rented: int
    waiting: int

    @property
    def objective(self) -> int:
        """The sum in micro-dollars, rounded up."""
        return rounded_up(self.fixed + self.rented + self.waiting)


def rounded_up(amount: int) -> int:
    """Return an amount of micro-dollars x microseconds an hour in whole micro-dollars."""
    return -(-amount // HOUR_US)


def costs(instance: WaitingInstance, schedule: WaitingSchedule) -> Costs:
    """Return what a schedule costs; it is not verified here. O(J)."""
    rented = schedule.machine == RENTED
    wait_us = schedule.start_us - instance.submit_us
    # All factors are Python's integers, whose products do not wrap.
    return Costs(
        schedule.num_machines * instance.fixed_price * paid_us(instance, schedule),
        rent_of(instance.rent()[rented], instance.runtime_us[rented]),
        instance.wait_price * exact_sum(wait_us),
    )


def paid_us(instance: WaitingInstance, schedule: WaitingSchedule) -> int:
    """Return for how long fixed machines are paid."""
    fixed = schedule.machine != RENTED
    ends = (schedule.start_us + instance.runtime_us)[fixed]
    return max(instance.horizon_us, int(ends.max(initial=0)))


def exact_sum(values: IntArray) -> int:
    """Return a sum of 62-bit values that may have more bits, such as years of waiting by many jobs."""
    return (int((values >> 31).sum()) << 31) + int((values & 0x7FFFFFFF).sum())


def rent_of(rent: IntArray, runtime_us: IntArray) -> int:
    """Return the sum of the products, exactly, though it may have more than 64 bits: the runtimes go by parts."""
    if not rent.size:
        return 0
    bits = 62 - int(rent.max()).bit_length() - rent.size.bit_length()
    if bits < 1:
        return sum(map(operator.mul, rent.tolist(), runtime_us.tolist()))
    total, shift = 0, 0
    while (left := runtime_us >> shift).any():
        total += int(rent @ (left & ((1 << bits) - 1))) << shift
        shift += bits
    return total


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
