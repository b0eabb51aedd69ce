"""A schedule as a picture: what each VM did when, cores over time, work lost, and completion times of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.harvest.runs import run_results
from schedgap.instances.harvest.sizes import Steps, leased_steps
from schedgap.instances.harvest.verify import job_times_ms
from schedgap.instances.picture import MAX_POINTS, Curve, Picture, Timetable, passed, rounded
from schedgap.instances.timetable import AWAY, LOST, RUNS, WAITING, WAITS, Spans, timetable
from schedgap.instances.units import HOUR_MS, SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


def picture(instance: HarvestInstance, schedule: HarvestSchedule) -> Picture:
    """Return runs by VM and time; over time the cores that were there, those in use, and what had been lost; and JCTs."""
    begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
    steps = leased_steps(instance, schedule, begin, end)
    cores = instance.cores[instance.task2job()[schedule.task]]
    points = np.linspace(begin, end, MAX_POINTS)
    results = run_results(instance, schedule)
    lost = results.lost_ms * cores.astype(np.float64)
    by_end = np.argsort(schedule.end_ms, kind="stable")
    lost_until = np.concatenate(([0.0], np.cumsum(lost[by_end])))
    lost_h = lost_until[np.searchsorted(schedule.end_ms[by_end], points, side="right")] / HOUR_MS
    parts = np.linspace(0.0, 1.0, MAX_POINTS)
    jct_s = np.quantile(job_times_ms(instance, schedule) / SECOND_MS, parts)
    since_s = rounded((points - begin) / SECOND_MS)
    when, mean = "seconds since the first arrival", "cores, mean"
    used = rounded(_mean_between(points, schedule.start_ms, schedule.end_ms, cores))
    there = rounded(_mean_between(points, steps.start_ms, steps.end_ms, steps.cores))
    curves = (
        Curve("Job completion time", "seconds", "share of jobs", rounded(jct_s), rounded(parts)),
        Curve("Cores in use over time", when, mean, since_s, used, is_step=True),
        Curve("Cores available over time", when, mean, since_s, there, is_step=True),
        Curve("Work lost until then", when, "core-hours", since_s, rounded(lost_h)),
    )
    return Picture((), (), curves=curves, timetable=_timetable(instance, schedule, steps, results.lost_ms))


def _timetable(
    instance: HarvestInstance, schedule: HarvestSchedule, steps: Steps, lost_ms: IntArray
) -> Timetable | None:
    """Return when jobs wait for their first run, which runs kept and lost what they did, and when VMs were not there."""
    jobs, job = np.arange(instance.num_jobs), instance.task2job()[schedule.task]
    first_ms = np.full(instance.num_jobs, schedule.end_ms.max())
    np.minimum.at(first_ms, job, schedule.start_ms)
    kept_until = schedule.end_ms - lost_ms
    # Between two times that a VM has cores for us; before the first and after the last nothing is missed.
    order = np.lexsort((steps.start_ms, steps.vm))
    vm, until, again = steps.vm[order], steps.end_ms[order][:-1], steps.start_ms[order][1:]
    until = np.where(vm[1:] == vm[:-1], until, again)
    up = steps.cores[order] >= instance.min_cores[vm]
    return timetable(
        [
            Spans.of(WAITING, instance.arrival_ms, first_ms, WAITS, jobs),
            Spans.of(schedule.vm, schedule.start_ms, kept_until, RUNS, job),
            Spans.of(schedule.vm, kept_until, schedule.end_ms, LOST, job),
            Spans.of(vm[1:], until, again, AWAY, -1),
            Spans.of(vm[~up], steps.start_ms[order][~up], steps.end_ms[order][~up], AWAY, -1),
        ],
        instance.vm_name,
        instance.job_name,
        {WAITS: "waits for its first run", RUNS: "runs", LOST: "runs, and is lost", AWAY: "no cores here"},
        SECOND_MS,
        steps.vm,
    )


def _mean_between(points: FloatArray, start_ms: IntArray, end_ms: IntArray, amount: IntArray) -> FloatArray:
    """Return (P,), what is held on average between each point and the next; 0 after the last. O(N log N + P log N)."""
    held = passed(points, start_ms, amount) - passed(points, end_ms, amount)
    return np.append(np.maximum(np.diff(held), 0.0) / np.diff(points), 0.0)
