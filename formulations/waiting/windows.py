"""What the exact formulations of waiting share: last starts, most machines, and schedules from starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.slots import schedule_in_slots, slots_per_machine
from schedgap.instances.waiting.schedule import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance


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


def windows(instance: WaitingInstance) -> Windows:
    """Return the windows of an instance.

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
    return Windows(
        scaled,
        latest,
        most,
        # Where no machine pays, what it could hold does not matter.
        slots_per_machine(instance) if most else 1,
        step,
        np.array([rent // step for rent in rents], dtype=np.int64),
        instance.fixed_price // step,
        instance.wait_price // step,
    )


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
