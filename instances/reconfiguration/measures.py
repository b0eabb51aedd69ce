"""Figures of a schedule beside its price: those of Eva's tables and figures.

A schedule as a picture: tasks by machine and time, use of each type, uptimes, and cost and machines over time.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.picture import (
    AWAY,
    IDLE,
    MAX_BARS,
    MAX_POINTS,
    MOVES,
    RUNS,
    WAITING,
    WAITS,
    Bar,
    Curve,
    Part,
    Picture,
    Spans,
    Timetable,
    rounded,
    timetable,
)
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.verify import paid_s, played, total_price
from schedgap.instances.units import DAY_S, DOLLAR, HOUR_S, resource_scale


def measures(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> dict[str, float]:
    """Return the figures.

    cost : dollars. mean_jct_h, median_jct_h, p95_jct_h : hours from a job's arrival to its end.
    machines : rented over time. moves_per_task : launches of a task beyond its first; tasks of one job move together.
    tasks_per_machine : mean number of tasks on a machine while it is paid. job_throughput : mean over jobs of work over
    seconds in which it progressed. idle_h : mean hours of a job without progress.
    `*_allocation` : share of a resource held by tasks, of what was paid for. machine_hours : paid.
    median_uptime_h, p90_uptime_h : hours for which a machine was paid. planned_tasks : tasks on a machine that a plan has
    tasks on, the mean over plans of days 30 to 60, as the scripts of Eva's authors count; left out of shorter schedules.

    A policy tells, in its details, what no schedule shows. full_share : of its choices between Full and Partial
    Reconfiguration, those for Full (Eva).
    """
    simulator = played(instance, schedule)
    seconds = paid_s(simulator)
    jct_s = simulator.jobs["finish"] - instance.arrival_s
    executed_s = simulator.jobs["executed"]
    paid_capacity = seconds @ instance.catalogue.capacity[simulator.leases["type"]].astype(np.float64)
    held = simulator.held.sum(axis=0, dtype=np.float64)
    allocation = {
        f"{name.removesuffix('_gib').removesuffix('_mib')}_allocation": float(held[r] / paid_capacity[r])
        for r, name in enumerate(instance.catalogue.resources)
        if paid_capacity[r]
    }
    total_s = float(seconds.sum())
    planned = _planned_tasks(instance, schedule, simulator)
    return {
        "cost": total_price(instance, simulator) / DOLLAR,
        "mean_jct_h": float(jct_s.mean()) / HOUR_S,
        "median_jct_h": float(np.median(jct_s)) / HOUR_S,
        "p95_jct_h": float(np.quantile(jct_s, 0.95)) / HOUR_S,
        "machines": float(schedule.num_machines),
        "machine_hours": total_s / HOUR_S,
        "moves_per_task": float((simulator.jobs["moves"] * instance.num_tasks).sum() / instance.num_tasks.sum()),
        "tasks_per_machine": float(held[-1]) / total_s if total_s else 0.0,
        "job_throughput": float((instance.work_s / executed_s).mean()),
        "idle_h": float((jct_s - executed_s).mean()) / HOUR_S,
        "median_uptime_h": float(np.median(seconds)) / HOUR_S,
        "p90_uptime_h": float(np.quantile(seconds, 0.9)) / HOUR_S,
        **allocation,
        **({} if planned is None else {"planned_tasks": planned}),
    }


# More than any second.
_WIDE = 1 << 36


def picture(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> Picture:
    """Return what is where when, mean use by type, uptimes, and dollars and machines over time (Eva, Figure 3)."""
    simulator = played(instance, schedule)
    catalogue = instance.catalogue
    paid = paid_s(simulator)
    scale = np.array([resource_scale(name) for name in catalogue.resources], np.float64)
    held = simulator.held[:, :-1] / scale
    capacity = catalogue.capacity / scale
    hours = np.bincount(schedule.machine_type, paid, catalogue.num_types)
    bars = []
    for k in np.argsort(-hours * catalogue.price, kind="stable").tolist():
        chosen = schedule.machine_type == k
        if hours[k] > 0:
            used = held[chosen].sum(axis=0) / hours[k]
            label = f"{catalogue.type_names[k]}, {hours[k] / HOUR_S:,.0f} h"
            part = Part("mean use", 1, tuple(used.tolist()))
            bars.append(Bar(label, int(chosen.sum()), tuple(capacity[k].tolist()), (part,)))
    curves = (_uptimes(paid), *_over_time(instance, schedule, simulator))
    left_out, table = max(len(bars) - MAX_BARS, 0), _timetable(instance, schedule, simulator)
    return Picture(catalogue.resources, tuple(bars[:MAX_BARS]), left_out, curves, timetable=table)


def _stays(
    instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, simulator: Simulator
) -> tuple[IntArray, IntArray, IntArray, IntArray, BoolArray]:
    """Return task, machine, begin and end of each stay in plans, by task and time, and whether it ran at second 0."""
    task2job = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)
    at_zero = instance.first_machine()
    ran = np.flatnonzero(at_zero >= 0)
    task = np.concatenate((ran, schedule.move_task))
    machine = np.concatenate((at_zero[ran], schedule.move_machine))
    begin = np.concatenate((np.zeros_like(ran), schedule.move_s))
    order = np.lexsort((begin, task))
    is_start = order < ran.size
    task, machine, begin = task[order], machine[order], begin[order]
    is_last = np.append(task[1:] != task[:-1], True)
    # What is sent where it is stays there, and a plan at the very end of a job changes nothing.
    finish = simulator.jobs["finish"][task2job[task]]
    end = np.maximum(begin, np.minimum(finish, np.where(is_last, finish, np.append(begin[1:], 0))))
    return task, machine, begin, end, is_start


def _planned_tasks(
    instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, simulator: Simulator
) -> float | None:
    _, machine, begin, end, _ = _stays(instance, schedule, simulator)
    first, last = np.full(schedule.num_machines, _WIDE), np.zeros(schedule.num_machines, np.int64)
    np.minimum.at(first, machine, begin)
    np.maximum.at(last, machine, end)
    at = np.arange(30 * DAY_S, 60 * DAY_S, instance.period_s)
    tasks, machines = (
        np.searchsorted(np.sort(begins), at, "right") - np.searchsorted(np.sort(ends), at, "right")
        for begins, ends in ((begin, end), (first[last > 0], last[last > 0]))
    )
    return float((tasks / machines).mean()) if machines.all() else None


def _timetable(
    instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, simulator: Simulator
) -> Timetable | None:
    """Return from when to when plans have tasks on machines, how long they take at least to get there, and what is idle."""
    task, machine, begin, end, is_start = _stays(instance, schedule, simulator)
    job, lease = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)[task], simulator.leases
    finish = simulator.jobs["finish"][job]
    is_first = np.append(True, task[1:] != task[:-1])
    workload = instance.class2workload[instance.job2class[job]]
    leaves = np.where(is_first, 0, instance.kill_s[workload] + instance.upload_s[workload])
    comes = instance.fetch_s[workload] + instance.init_s[workload]
    ready = np.maximum(begin + leaves, lease["runs_from"][machine]) + comes
    ready = np.where(is_start, begin, np.minimum(ready, end))
    # Before its machine is up, nothing of a task is there.
    there = np.where(is_start, begin, np.minimum(np.maximum(begin, lease["runs_from"][machine]), ready))
    machines, jobs = np.arange(schedule.num_machines), np.arange(instance.num_jobs)
    names = instance.catalogue.type_names
    sent = np.full(instance.num_jobs, int(finish.max(initial=0)))
    np.minimum.at(sent, job, begin)
    return timetable(
        [
            Spans.of(WAITING, instance.arrival_s, sent, WAITS, jobs),
            Spans.of(machine, there, ready, MOVES, job),
            Spans.of(machine, ready, end, RUNS, job),
            Spans.of(machines, lease["rented"], lease["runs_from"], AWAY, -1),
            _idle(machine, begin, end, lease["runs_from"], lease["paid_until"]),
        ],
        lambda row: f"{row} {names[schedule.machine_type[row]]}",
        lambda job: f"job {job}",
        {WAITS: "waits for a plan", MOVES: "starts or moves", RUNS: "runs", AWAY: "not up yet", IDLE: "paid, idle"},
    )


def _idle(machine: IntArray, begin: IntArray, end: IntArray, up_s: IntArray, paid_until: IntArray) -> Spans:
    """Return when machines are up and paid and no plan has anything on them."""
    machines = np.arange(up_s.shape[0])
    of = np.concatenate((machine, machines, machines))
    since = np.concatenate((begin, up_s, paid_until))
    until = np.concatenate((end, up_s, paid_until))
    order = np.lexsort((since, of))
    of, since, until = of[order], since[order], until[order]
    # Machine by machine the last end so far: each has a stretch of numbers of its own.
    reached = np.maximum.accumulate(until + of * _WIDE)[:-1] - of[:-1] * _WIDE
    same = of[1:] == of[:-1]
    return Spans.of(of[1:][same], reached[same], since[1:][same], IDLE, -1)


def _uptimes(paid: IntArray) -> Curve:
    shares = np.linspace(0.0, 1.0, MAX_POINTS)
    hours = np.quantile(paid / HOUR_S, shares)
    return Curve("Uptime of machines", "hours", "share of machines", rounded(hours), rounded(shares))


def _over_time(
    instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, simulator: Simulator
) -> tuple[Curve, Curve]:
    price = instance.catalogue.price[schedule.machine_type] / DOLLAR / HOUR_S
    begin, end = simulator.leases["paid_from"], simulator.leases["paid_until"]
    at_s = np.linspace(0.0, float(end.max()), MAX_POINTS)
    # One moment at a time: all of them at once would not fit into memory with a million machines.
    seconds, dollars = np.empty(MAX_POINTS), np.empty(MAX_POINTS)
    for i, t in enumerate(at_s):
        paid = np.clip(t - begin, 0, end - begin)
        seconds[i], dollars[i] = paid.sum(), paid @ price
    machines = np.append(np.diff(seconds) / np.diff(at_s), 0.0)
    x = rounded(at_s / HOUR_S)
    return (
        Curve("Cost over time", "hours", "dollars", x, rounded(dollars)),
        Curve("Machines over time", "hours", "machines, mean", x, rounded(machines), is_step=True),
    )
