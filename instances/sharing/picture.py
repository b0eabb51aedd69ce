"""A schedule as a picture: tasks by machine and time, delays, and shares over time (Eunomia, Figures 3 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.fairness.measures import jain
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.picture import MAX_POINTS, Curve, Picture, rounded
from schedgap.instances.sharing.measures import moments_between
from schedgap.instances.sharing.snapshot import Timeline, as_users
from schedgap.instances.timetable import RUNS, WAITING, WAITS, Spans, timetable
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.sharing.model import SharingInstance
    from schedgap.instances.sharing.solution import SharingSchedule

MAX_JOBS = 12


def picture(instance: SharingInstance, schedule: SharingSchedule) -> Picture:
    """Return what runs when, delays, Jain's index over time, and the shares of the jobs with most work."""
    timeline = Timeline(instance, schedule)
    begin, end = int(instance.arrival_ms[0]), int(timeline.end_ms.max())
    kept = slice(instance.warm_up_jobs, None)
    curves = (
        _distribution("Queueing delay", (timeline.job_start_ms - instance.arrival_ms)[kept]),
        _distribution("Completion delay", (timeline.job_end_ms - instance.arrival_ms)[kept]),
        _jain_over_time(timeline, begin, end),
        *_shares_over_time(timeline, begin, end),
    )
    jobs, machine2class = np.arange(instance.num_jobs), instance.machine2class()
    table = timetable(
        [
            Spans.of(WAITING, instance.arrival_ms, timeline.job_start_ms, WAITS, jobs),
            Spans.of(schedule.machine, schedule.start_ms, timeline.end_ms, RUNS, timeline.task2job),
        ],
        lambda row: f"{row} {instance.machine_names[machine2class[row]]}",
        instance.job_name,
        {WAITS: "waits for its first task", RUNS: "runs"},
        SECOND_MS,
        np.arange(instance.num_machines),
    )
    return Picture((), (), curves=curves, timetable=table)


def _distribution(title: str, delay_ms: IntArray) -> Curve:
    parts = np.linspace(0.0, 1.0, MAX_POINTS)
    return Curve(title, "seconds", "share of jobs", rounded(np.quantile(delay_ms / SECOND_MS, parts)), rounded(parts))


def _jain_over_time(timeline: Timeline, begin: int, end: int) -> Curve:
    at_s, index = [], []
    for ms in moments_between(begin, end, MAX_POINTS).tolist():
        snapshot = timeline.at(ms)
        if snapshot.jobs.shape[0]:
            at_s.append(ms / SECOND_MS)
            index.append(jain(timeline.shares(snapshot)))
    return Curve("Jain's index over time", "seconds", "index", rounded(np.array(at_s)), rounded(np.array(index)))


def _shares_over_time(timeline: Timeline, begin: int, end: int) -> list[Curve]:
    """Return the shares of the jobs with most work, averaged between the points; the same jobs for every schedule."""
    instance = timeline.instance
    work_ms = np.add.reduceat(instance.work_ms.astype(np.float64), instance.first_task[:-1])
    jobs = np.sort(np.argsort(-work_ms, kind="stable")[:MAX_JOBS])
    gain = share_of_a_task(as_users(instance, jobs, np.diff(instance.first_task)[jobs]))
    at_ms = np.linspace(begin, end, MAX_POINTS)
    curves = []
    for i, job in enumerate(jobs.tolist()):
        tasks = slice(int(instance.first_task[job]), int(instance.first_task[job + 1]))
        # Share-milliseconds up to each point; their differences are means between points.
        passed = np.clip(at_ms[:, None], timeline.start_ms[tasks], timeline.end_ms[tasks]) - timeline.start_ms[tasks]
        share = np.diff(passed @ gain[i, timeline.task2class[tasks]]) / np.diff(at_ms)
        title = f"Share of {instance.job_name(job)} over time"
        y = rounded(np.append(share, 0.0))
        curves.append(Curve(title, "seconds", "share, mean", rounded(at_ms / SECOND_MS), y, is_step=True))
    return curves
