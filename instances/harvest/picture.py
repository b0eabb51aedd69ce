"""A schedule as a picture: what each VM had and held, cores over time, work lost, and completion times of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.harvest.runs import run_results
from schedgap.instances.harvest.sizes import leased_steps
from schedgap.instances.harvest.verify import job_times_ms
from schedgap.instances.picture import MAX_BARS, MAX_POINTS, Bar, Curve, Part, Picture
from schedgap.instances.units import HOUR_MS, SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


def picture(instance: HarvestInstance, schedule: HarvestSchedule) -> Picture:
    """Return mean use of VMs, and over time the cores that were there, those in use, and what had been lost; and JCTs."""
    begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
    steps = leased_steps(instance, schedule, begin, end)
    cores = instance.cores[instance.task2job()[schedule.task]]
    length_ms = schedule.end_ms - schedule.start_ms
    there = np.bincount(steps.vm, steps.cores * (steps.end_ms - steps.start_ms).astype(np.float64), instance.num_vms)
    held = np.bincount(schedule.vm, cores * length_ms.astype(np.float64), instance.num_vms)
    shown = np.flatnonzero(there)
    bars = [
        Bar(
            instance.vm_name(v),
            1,
            (float(there[v]) / (end - begin),),
            (Part("mean use", 1, (float(held[v]) / (end - begin),)),),
        )
        for v in shown[:MAX_BARS].tolist()
    ]
    points = np.linspace(begin, end, MAX_POINTS)
    lost = run_results(instance, schedule).lost_ms * cores.astype(np.float64)
    by_end = np.argsort(schedule.end_ms, kind="stable")
    lost_until = np.concatenate(([0.0], np.cumsum(lost[by_end])))
    lost_h = lost_until[np.searchsorted(schedule.end_ms[by_end], points, side="right")] / HOUR_MS
    parts = np.linspace(0.0, 1.0, MAX_POINTS)
    jct_s = np.quantile(job_times_ms(instance, schedule) / SECOND_MS, parts)
    since_s = (points - begin) / SECOND_MS
    when = "seconds since the first arrival"
    curves = (
        Curve("Job completion time", "seconds", "share of jobs", _rounded(jct_s), _rounded(parts)),
        Curve(
            "Cores in use over time",
            when,
            "cores, mean",
            _rounded(since_s),
            _rounded(_mean_between(points, schedule.start_ms, schedule.end_ms, cores)),
            is_step=True,
        ),
        Curve(
            "Cores available over time",
            when,
            "cores, mean",
            _rounded(since_s),
            _rounded(_mean_between(points, steps.start_ms, steps.end_ms, steps.cores)),
            is_step=True,
        ),
        Curve("Work lost until then", when, "core-hours", _rounded(since_s), _rounded(lost_h)),
    )
    return Picture(("cores",), tuple(bars), max(shown.shape[0] - MAX_BARS, 0), curves)


def _mean_between(points: FloatArray, start_ms: IntArray, end_ms: IntArray, amount: IntArray) -> FloatArray:
    """Return (P,), what is held on average between each point and the next; 0 after the last. O(N log N + P log N)."""
    passed = _passed(points, start_ms, amount) - _passed(points, end_ms, amount)
    return np.append(np.maximum(np.diff(passed), 0.0) / np.diff(points), 0.0)


def _passed(points: FloatArray, since_ms: IntArray, amount: IntArray) -> FloatArray:
    """Return (P,), the amounts times the ms since they began, of all that began before each point."""
    order = np.argsort(since_ms, kind="stable")
    since = since_ms[order] - points[0]
    weight = amount[order].astype(np.float64)
    number = np.searchsorted(since, points - points[0], side="right")
    total = np.concatenate(([0.0], np.cumsum(weight)))[number]
    moment = np.concatenate(([0.0], np.cumsum(weight * since)))[number]
    passed: FloatArray = total * (points - points[0]) - moment
    return passed


def _rounded(values: FloatArray) -> tuple[float, ...]:
    """Return six digits that count, which no drawing shows: half the bytes."""
    return tuple(float(f"{value:.6g}") for value in values.tolist())
