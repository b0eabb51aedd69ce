"""What the exact formulations of waiting share: last starts, most machines, and schedules from starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.scaled import Scaled, scale
from schedgap.formulations.waiting.slots import schedule_in_slots, slots_per_machine
from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance


# Whole amounts stay exact in floats, as which CP-SAT too tells objectives and bounds.
MAX_AMOUNT = 2**52


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Jobs that fit a machine, with all that an optimal schedule can do.

    latest : (N,) int64, last start, in units of `Scaled`. max_machines : more cost more than renting for all jobs.
    step : greatest common divisor of all amounts. rents : (N,) int64, amount of renting a job, in steps.
    price, wait_price : of a unit of time, in steps.
    """

    scaled: Scaled
    latest: IntArray
    max_machines: int
    slots: int | None
    step: int
    rents: IntArray
    price: int
    wait_price: int


def windows(instance: WaitingInstance) -> Windows | str:
    """Return the windows of an instance, or why there are none: amounts that the back ends' numbers do not hold.

    Starts are whole multiples of the common divisor of all times, and a job starts when it is submitted or when
    another one ends: moving a job to an earlier start that is free keeps a schedule feasible and no dearer. So no
    start is later than the last submission and all other jobs' runtimes one after the other.
    """
    scaled = scale(instance)
    end = int(scaled.submit.max(initial=0)) + int(scaled.runtime.sum())
    limit = np.where(scaled.longest >= 0, scaled.submit + scaled.longest, end)
    latest = np.minimum(limit, end - scaled.runtime)
    rents = [int(r) * int(t) for r, t in zip(scaled.rent, scaled.runtime, strict=True)]
    most = min(scaled.num_jobs, sum(rents) // (instance.fixed_price * scaled.horizon))
    step = math.gcd(instance.fixed_price, instance.wait_price, *rents)
    last_end = max(scaled.horizon, int((latest + scaled.runtime).max(initial=0)))
    waits = sum((latest - scaled.submit).tolist())
    largest = (instance.fixed_price * most * last_end + sum(rents) + instance.wait_price * waits) // step
    if largest > MAX_AMOUNT:
        return f"has amounts up to {largest:.3g} steps, more than {MAX_AMOUNT:.3g}; use bound-fluid, or coarser times"
    return Windows(
        scaled,
        latest,
        most,
        # Where no machine pays, what it could hold does not matter.
        slots_per_machine(instance) if most else 1,
        step,
        np.array([rent // step for rent in rents], dtype=np.int64),
        # Without limit, and of no use, where no machine pays or nobody can wait.
        instance.fixed_price // step if most else 0,
        instance.wait_price // step if waits else 0,
    )


def sizes_of(scaled: Scaled) -> list[tuple[IntArray, int]]:
    """Return the sizes of jobs and what a machine holds, of cores and of memory, in the largest exact units."""
    instance = scaled.instance
    return [
        _by_gcd(instance.cores[scaled.jobs], instance.machine_cores),
        _by_gcd(instance.memory_mib[scaled.jobs], instance.machine_memory_mib),
    ]


def _by_gcd(sizes: IntArray, room: int) -> tuple[IntArray, int]:
    """Return sizes and what holds them, divided by the sizes' common divisor: the same ones fit together."""
    divisor = max(1, int(np.gcd.reduce(sizes, initial=0)))
    return sizes // divisor, min(room, int(sizes.sum(dtype=object) or 0)) // divisor


def schedule_of(found: Windows, present: BoolArray, start: IntArray, machine: IntArray | None) -> WaitingSchedule:
    """Return the schedule of jobs that run fixed. present, start, machine : (N,); machine is None with slots."""
    scaled = found.scaled
    instance = scaled.instance
    start_us = instance.submit_us.copy()
    start_us[scaled.jobs[present]] = start[present] * scaled.unit_us
    fixed = np.zeros(instance.num_jobs, np.bool_)
    fixed[scaled.jobs[present]] = True
    if machine is None:
        return schedule_in_slots(instance, fixed, start_us, found.slots or 1)
    used, numbers = np.unique(machine[present], return_inverse=True)
    where = np.full(instance.num_jobs, RENTED)
    where[scaled.jobs[present]] = numbers
    return WaitingSchedule(used.shape[0], where, start_us)
