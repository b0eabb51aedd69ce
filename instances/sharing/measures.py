"""Figures of a schedule beside its objective: delays (Eunomia, Figure 6), use, and how fair it was all along."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.measures import jain
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import fair_shares
from schedgap.instances.picture import MAX_POINTS, RUNS, WAITING, WAITS, Curve, Picture, Spans, rounded, timetable
from schedgap.instances.sharing.model import SharingInstance, SharingSchedule
from schedgap.instances.sharing.verify import Timeline, as_users, fairness_at
from schedgap.instances.units import SECOND_MS

# Moments at which shares are looked at, and every so many of them the exact fair point is found for comparison.
MOMENTS = 50
COMPARED = 10
QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}


def measures(instance: SharingInstance, schedule: SharingSchedule) -> dict[str, float]:
    """Return the figures of a feasible schedule.

    Of the jobs alone (Eunomia, Figure 5), all of them: mean_tasks, p90_tasks, max_tasks of a job; jobs_anywhere, jobs_on_half :
    shares of the jobs whose constraints allow all machines, and at least half of them.

    `*_queueing_delay_s` : from a job's arrival to the start of its first task; queueing_jobs : share of the jobs for which
    that is not at once. `*_completion_delay_s` : to the end of its last. All without the jobs of the warm-up. first_end_s,
    makespan_s : from the first arrival until a job has ended, and until all have.
    `*_utilisation` : share of a resource in use, while jobs arrive.

    Of the shares, in the instance's notion, of the jobs present at 50 moments while jobs arrive, means over the moments:
    jobs_present_mean. jain_mean : Jain's index, (sum s)^2 / (N sum s^2); 1 where nobody has anything. max_share_mean : the
    largest share. min_to_max_share_mean : the smallest share over the largest. distance_mean, distance_max : by how much of its
    fair share a job falls short of it, on average over the jobs and at worst, at five of these moments; the fair point is the
    exact one, proven, among the jobs present with the tasks that they have left. 0 for both at the fair point and nowhere else,
    up to 1. jain_of_fair_mean : Jain's index of shares as parts of the fair ones, at the same moments. distance_moments : how
    many of the five counted; those at which the fair point was not found, or not proven, do not.

    Jobs arrive from the first arrival to the last, or to the end of the first job if that is later.
    """
    timeline = Timeline(instance, schedule)
    figures = _of_jobs(instance)
    kept = slice(instance.warm_up_jobs, None)
    figures["queueing_jobs"] = float((timeline.job_start_ms > instance.arrival_ms)[kept].mean())
    for what, until in (("queueing", timeline.job_start_ms), ("completion", timeline.job_end_ms)):
        delay_s = (until - instance.arrival_ms)[kept] / SECOND_MS
        figures[f"mean_{what}_delay_s"] = float(delay_s.mean())
        for name, q in QUANTILES.items():
            figures[f"{name}_{what}_delay_s"] = float(np.quantile(delay_s, q))
    begin_ms = instance.arrival_ms[0]
    figures["first_end_s"] = float(timeline.job_end_ms.min() - begin_ms) / SECOND_MS
    figures["makespan_s"] = float(timeline.job_end_ms.max() - begin_ms) / SECOND_MS
    begin, end = busy_ms(timeline)
    used = use_of_classes(timeline, begin, end).sum(axis=0)
    total = instance.machine_count @ instance.capacity
    for r, name in enumerate(instance.resources):
        if total[r]:
            short = name.removesuffix("_gib").removesuffix("_mib")
            figures[f"{short}_utilisation"] = float(used[r] / total[r])
    return figures | _fairness(instance, timeline, moments_between(begin, end, MOMENTS))


def _of_jobs(instance: SharingInstance) -> dict[str, float]:
    tasks = np.diff(instance.first_task)
    machines = instance.allowed @ instance.machine_count
    return {
        "mean_tasks": float(tasks.mean()),
        "p90_tasks": float(np.quantile(tasks, QUANTILES["p90"])),
        "max_tasks": float(tasks.max()),
        "jobs_anywhere": float((machines == instance.num_machines).mean()),
        "jobs_on_half": float((2 * machines >= instance.num_machines).mean()),
    }


def busy_ms(timeline: Timeline) -> tuple[int, int]:
    """Return from when to when jobs arrive; at least until the first of them ends."""
    arrival_ms = timeline.instance.arrival_ms
    return int(arrival_ms[0]), max(int(arrival_ms[-1]), int(timeline.job_end_ms.min()))


def moments_between(begin: int, end: int, number: int) -> IntArray:
    """Return (number,) int64, the middles of as many equal parts of a span of time."""
    return begin + (2 * np.arange(number) + 1) * (end - begin) // (2 * number)


def use_of_classes(timeline: Timeline, begin: int, end: int) -> FloatArray:
    """Return (K, R) float64, what is in use of each resource on all machines of a class, on average over a span."""
    instance = timeline.instance
    held = np.clip(timeline.end_ms, begin, end) - np.clip(timeline.start_ms, begin, end)
    num_classes, num_resources = instance.capacity.shape
    use = np.empty((num_classes, num_resources))
    for r in range(num_resources):
        amount = held * instance.demand[timeline.task2job, r].astype(np.float64)
        use[:, r] = np.bincount(timeline.task2class, amount, num_classes)
    return use / (end - begin)


def _fairness(instance: SharingInstance, timeline: Timeline, moments: IntArray) -> dict[str, float]:
    present, index, largest, ratio = [], [], [], []
    means, worst, relative = [], [], []
    for i, ms in enumerate(moments.tolist()):
        snapshot = timeline.at(ms)
        present.append(snapshot.jobs.shape[0])
        if not present[-1]:
            continue
        shares = timeline.shares(snapshot)
        index.append(jain(shares))
        most = float(shares.max())
        largest.append(most)
        ratio.append(float(shares.min()) / most if most else 1.0)
        if i % COMPARED == COMPARED // 2:
            try:
                fair = fair_shares(fairness_at(instance, snapshot))
            except (BackendError, VerifyError):
                continue
            relative.append(jain(shares / fair))
            short = np.maximum(0.0, 1 - shares / fair)
            means.append(float(short.mean()))
            worst.append(float(short.max()))
    figures = {"jobs_present_mean": float(np.mean(present))}
    if index:
        figures |= {
            "jain_mean": float(np.mean(index)),
            "max_share_mean": float(np.mean(largest)),
            "min_to_max_share_mean": float(np.mean(ratio)),
        }
    figures["distance_moments"] = float(len(means))
    if means:
        figures |= {"distance_mean": float(np.mean(means)), "distance_max": float(np.mean(worst))}
        figures["jain_of_fair_mean"] = float(np.mean(relative))
    return figures


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
