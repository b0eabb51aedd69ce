"""A schedule as a picture: jobs by time, on each fixed machine, on rented ones, and those that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.picture import Picture
from schedgap.instances.timetable import OTHER, RUNS, WAITING, WAITS, Spans, timetable
from schedgap.instances.units import HOUR_US, SECOND_US
from schedgap.instances.waiting.objective import paid_us
from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance


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
