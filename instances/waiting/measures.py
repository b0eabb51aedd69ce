"""Figures of a schedule beside its objective: those of the paper, over all jobs and over the middle eight tenths."""

from __future__ import annotations

import numpy as np

from schedgap.instances.picture import OTHER, RUNS, WAITING, WAITS, Picture, Spans, timetable
from schedgap.instances.units import DOLLAR, HOUR_US, SECOND_US
from schedgap.instances.waiting.model import RENTED, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.verify import paid_us

DOLLAR_HOURS = DOLLAR * HOUR_US
# Warm-up and drain: these shares of the jobs at both ends are left out of the figures named `steady_*`.
TRIM = 0.1


def measures(instance: WaitingInstance, schedule: WaitingSchedule) -> dict[str, float]:
    """Return the figures.

    machines : fixed ones. cost : dollars without the price of waiting. normalised_price : cost over the cost of renting for
    every job. wait_worth : dollars that a second of mean wait is worth: objective = cost + wait_worth x mean_wait_s.
    mean_wait_s : of all jobs, rented ones included. on_demand_share : of jobs that rent. on_demand_work_share : of core-hours
    that are rented. utilisation : of the fixed machines' cores while they are paid. opportunity_cost : normalised_price x
    mean_wait_s (section IV-D). steady_* : the same of the jobs left when a tenth is trimmed at each end; the fixed machines'
    price then counts for the time between the first and the last of these submissions.
    """
    rented = schedule.machine == RENTED
    runtime_us = instance.runtime_us.astype(np.float64)
    # Figures for people, in floats: the exact sums of `objective` take four times as long.
    rents = instance.rent() * runtime_us
    core_us = instance.cores * runtime_us
    wait_us = schedule.start_us - instance.submit_us
    paid = float(paid_us(instance, schedule))
    cost = schedule.num_machines * instance.fixed_price * paid + float(rents[rented].sum())
    price = cost / float(rents.sum())
    mean_wait_s = float(wait_us.mean()) / SECOND_US
    owned_us = schedule.num_machines * instance.machine_cores * paid
    rented_core_us, all_core_us = float(core_us[rented].sum()), float(core_us.sum())
    first, last = round(TRIM * instance.num_jobs), max(round((1 - TRIM) * instance.num_jobs), 1)
    middle = slice(min(first, last - 1), last)
    span_us = int(instance.submit_us[middle][-1] - instance.submit_us[middle][0])
    steady = schedule.num_machines * instance.fixed_price * span_us + float(rents[middle][rented[middle]].sum())
    steady_price = steady / float(rents[middle].sum())
    steady_wait_s = float(wait_us[middle].mean()) / SECOND_US
    return {
        "machines": float(schedule.num_machines),
        "cost": cost / DOLLAR_HOURS,
        "normalised_price": price,
        "mean_wait_s": mean_wait_s,
        "wait_worth": instance.wait_price / DOLLAR * instance.num_jobs / 3600,
        "on_demand_share": float(rented.mean()),
        "on_demand_work_share": rented_core_us / all_core_us,
        "utilisation": (all_core_us - rented_core_us) / owned_us if owned_us else 0.0,
        "opportunity_cost": price * mean_wait_s,
        "steady_mean_wait_s": steady_wait_s,
        "steady_on_demand_share": float(rented[middle].mean()),
        "steady_normalised_price": steady_price,
        "steady_opportunity_cost": steady_price * steady_wait_s,
    }


def assumptions(instance: WaitingInstance) -> tuple[str, ...]:
    """Return what an instance says of prices and patience, which is its user's to say."""
    wait = (
        f"an hour of waiting costs ${instance.wait_price / DOLLAR:,.6g}" if instance.wait_price else "waiting is free"
    )
    longest = "" if instance.max_wait_us is None else f", no job waits over {instance.max_wait_us / HOUR_US:,.6g} h"
    owned = f"{instance.machine_cores} cores cost ${instance.fixed_price / DOLLAR:,.6g} an hour to own"
    return (f"{wait} (wait_price, max_wait_h){longest}", f"{owned} (machine_cores, discount)")


def picture(instance: WaitingInstance, schedule: WaitingSchedule) -> Picture:
    """Return when jobs wait and run; a fixed machine is paid all the time, whatever is on it."""
    end_us = schedule.start_us + instance.runtime_us
    jobs = np.arange(instance.num_jobs)
    look = np.where(schedule.machine == RENTED, OTHER, RUNS)
    table = timetable(
        [
            Spans.of(schedule.machine, schedule.start_us, end_us, look, jobs),
            Spans.of(WAITING, instance.submit_us, schedule.start_us, WAITS, jobs),
        ],
        lambda row: "rented" if row == RENTED else f"fixed {row}",
        lambda job: f"job {job}",
        {RUNS: "on a fixed machine", OTHER: "on a rented machine", WAITS: "waits"},
        SECOND_US,
        np.arange(schedule.num_machines),
    )
    paid_h = paid_us(instance, schedule) / HOUR_US
    used = int((np.bincount(schedule.machine[look == RUNS], minlength=1) > 0).sum())
    note = f"{schedule.num_machines} fixed machines are paid for {paid_h:,.6g} h each, {used} of them run jobs"
    return Picture((), (), notes=(note,), timetable=table)
