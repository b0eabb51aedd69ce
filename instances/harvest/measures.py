"""Figures of a schedule beside its objective: those of SlackSched's section 4."""

from __future__ import annotations

from math import isfinite

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.harvest.model import NO_CHECKPOINTS, HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.stability import Steps, last_at, leased_steps, offered_load, pool_quality, vm_figures
from schedgap.instances.harvest.verify import ends_ms, job_times_ms, run_results
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.picture import (
    AWAY,
    LOST,
    MAX_POINTS,
    RUNS,
    WAITING,
    WAITS,
    Curve,
    Picture,
    Spans,
    Timetable,
    passed,
    rounded,
    timetable,
)
from schedgap.instances.units import DOLLAR, HOUR_MS, SECOND_MS

simulation = ModuleOnUse("schedgap.instances.harvest.simulator.simulator")

# Completion times under the plain rule of the instances asked for last: every method's solution is compared to the same.
MOST_KEPT = 16
_kept: dict[str, IntArray | None] = {}


def measures(instance: HarvestInstance, schedule: HarvestSchedule) -> dict[str, float]:
    """Return the figures of a feasible schedule.

    njct : normalised completion time of jobs (section 4.1): the geometric mean over jobs of the time from arrival to the end
        of the last task, over that under the plain rule (each waiting task, in order, to a random VM that it fits on; fixed
        seed). Left out where that rule never completes all tasks. njct_interruptible, njct_uninterruptible : the same of jobs
        whose tasks can, and cannot, take checkpoints, where there are such.
    jobs_gaining, jobs_quartered, jobs_losing : shares of jobs that take less than 0.7 and 0.25 of that, and more than that.
    mean_jct_s, median_jct_s, p90_jct_s : of jobs. makespan_s : from the first arrival to the last end.
    waste : share of the core-time of all runs that was lost (`RunResults.lost_ms`) to kills, or in replicas that were
        stopped. checkpointing : share that tasks stood still for checkpoints and restoring that were of use.
    kills_per_task : runs that end incomplete when their VM shrinks, over tasks. stops_per_task : other incomplete runs.
    waiting_share : of the time from arrival to completion, added up over tasks, that part in which no run of the task goes on.
    offered_load : core-time of the jobs, as a share of what the VMs of the start have while jobs arrive; not if all come at once.
    Of leased VMs (of all, if the pool is fixed) between the first arrival and the last end:
    utilisation : share of their core-time that runs held. mean_cores, mean_vms : leased, those with cores.
    cost : dollars: base_price for the cores of the minimum size, extra_price for those beyond.
    lease_changes_per_h : leases that begin after the first arrival.
    vm_regret : share of the leased VM-hours that have a shrink and would have none in the best pool in hindsight
    (`pool_quality`). vm_stable_share, vm_stable_share_end : share of the leased VM-hours, and of those of the last 24 hours, that
    are of VMs among the half of all that change least often over the whole trace. These only of pools that are chosen.
    vm_change_min and others : how stable all VMs are, leased or not (`stability`).
    """
    jct_s = job_times_ms(instance, schedule) / SECOND_MS
    figures = {
        "mean_jct_s": float(jct_s.mean()),
        "median_jct_s": float(np.median(jct_s)),
        "p90_jct_s": float(np.quantile(jct_s, 0.9)),
    }
    if (plain_ms := plain_times_ms(instance)) is not None:
        ratio = jct_s / (plain_ms / SECOND_MS)
        normalised = np.log(ratio)
        figures["jobs_quartered"] = float((ratio < 0.25).mean())
        figures["jobs_gaining"], figures["jobs_losing"] = float((ratio < 0.7).mean()), float((ratio > 1).mean())
        can = instance.checkpoint_ms != NO_CHECKPOINTS
        for kind, jobs in (("", can | True), ("_interruptible", can), ("_uninterruptible", ~can)):
            if jobs.any():
                figures[f"njct{kind}"] = float(np.exp(normalised[jobs].mean()))
    load = offered_load(instance)
    if isfinite(load):
        figures["offered_load"] = load
    if not instance.is_fixed:
        quality = pool_quality(instance, schedule)
        figures["vm_regret"] = quality.regret
        figures["vm_stable_share"] = quality.stable_share()
        figures["vm_stable_share_end"] = quality.stable_share(last_hours=24)
    return figures | _of_runs(instance, schedule) | _of_vms(instance, schedule) | vm_figures(instance)


def is_killed(instance: HarvestInstance, schedule: HarvestSchedule, is_completing: BoolArray) -> BoolArray:
    """Return (N,) bool, whether a run ends incomplete at a moment at which its VM shrinks."""
    event2vm = instance.event2vm()
    event = last_at(event2vm, instance.event_ms, schedule.vm, schedule.end_ms)
    before = np.where(event > instance.first_event[schedule.vm], instance.event_cores[event - 1], 0)
    shrinks = (instance.event_ms[event] == schedule.end_ms) & (instance.event_cores[event] < before)
    killed: BoolArray = (event >= 0) & shrinks & ~is_completing
    return killed


def _of_runs(instance: HarvestInstance, schedule: HarvestSchedule) -> dict[str, float]:
    results, task2job = run_results(instance, schedule), instance.task2job()
    is_completing = results.is_completing
    # Figures for people, in floats.
    cores = instance.cores[task2job[schedule.task]].astype(np.float64)
    done = float(cores @ (schedule.end_ms - schedule.start_ms))
    lost = float(cores @ results.lost_ms)
    useful = float(instance.cores[task2job].astype(np.float64) @ instance.runtime_ms)
    killed = int(is_killed(instance, schedule, is_completing).sum())
    times_ms = ends_ms(instance, schedule) - instance.arrival_ms[task2job]
    return {
        "waste": lost / done,
        "checkpointing": max(0.0, done - lost - useful) / done,
        "kills_per_task": killed / instance.num_tasks,
        "stops_per_task": (schedule.num_runs - instance.num_tasks - killed) / instance.num_tasks,
        "waiting_share": 1 - float(results.busy_ms.sum(dtype=np.float64)) / float(times_ms.sum(dtype=np.float64)),
    }


def _of_vms(instance: HarvestInstance, schedule: HarvestSchedule) -> dict[str, float]:
    begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
    steps = leased_steps(instance, schedule, begin, end)
    length = (steps.end_ms - steps.start_ms).astype(np.float64)
    base = np.minimum(steps.cores, instance.min_cores[steps.vm])
    base_ms, extra_ms = float(length @ base), float(length @ (steps.cores - base))
    held = instance.cores[instance.task2job()[schedule.task]].astype(np.float64)
    held_ms = float(held @ (schedule.end_ms - schedule.start_ms))
    price = base_ms * instance.base_price + extra_ms * instance.extra_price
    return {
        "utilisation": held_ms / (base_ms + extra_ms),
        "mean_cores": (base_ms + extra_ms) / (end - begin),
        "mean_vms": float(length @ (steps.cores > 0)) / (end - begin),
        "cost": price / HOUR_MS / DOLLAR,
        "makespan_s": (end - begin) / SECOND_MS,
        "lease_changes_per_h": float((schedule.lease_start_ms > begin).sum()) * HOUR_MS / (end - begin),
    }


def plain_times_ms(instance: HarvestInstance) -> IntArray | None:
    """Return (J,) int64, the jobs' completion times if each task goes to a random VM that it fits on, with seed 0.

    None if that never completes all tasks, as can be where the provider runs out of VMs. Those of the instances asked for
    last are kept: every method's solution of an instance is compared to the same.
    """
    if instance.digest in _kept:
        times = _kept.pop(instance.digest)
    else:
        simulator = simulation.Simulator(instance, seed=0)
        times = job_times_ms(instance, simulator.schedule()) if simulator.run_plain() else None
    _kept[instance.digest] = times
    while len(_kept) > MOST_KEPT:
        del _kept[next(iter(_kept))]
    return times


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
