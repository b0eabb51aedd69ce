"""Figures of a schedule beside its objective: delays (Eunomia, Figure 6), use, and how fair it was all along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.measures import jain
from schedgap.instances.fairness.verify import fair_shares
from schedgap.instances.sharing.snapshot import Timeline, fairness_at
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.sharing.model import SharingInstance
    from schedgap.instances.sharing.solution import SharingSchedule

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
    jobs_present_mean. jain_mean : Jain's index, (sum s)^2 / (N sum s^2); 1 where nobody has anything. max_share_mean :
    the largest share. min_to_max_share_mean : the smallest share over the largest.
    distance_mean, distance_max : by how much of its fair share a job falls short of it, on average over the jobs and at
    worst, at five of these moments; the fair point is the exact one, proven, among the jobs present with the tasks that
    they have left. 0 for both at the fair point and nowhere else, up to 1. jain_of_fair_mean : Jain's index of shares as parts
    of the fair ones, at the same moments. distance_moments : how many of the five counted; those at which the fair point
    was not found, or not proven, do not.

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
