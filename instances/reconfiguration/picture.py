"""A schedule as a picture: tasks by machine and time, use of each type, uptimes, and cost and machines over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.picture import MAX_BARS, MAX_POINTS, Bar, Curve, Part, Picture, Timetable, rounded
from schedgap.instances.reconfiguration.verify import paid_s, played
from schedgap.instances.timetable import AWAY, IDLE, MOVES, RUNS, WAITING, WAITS, Spans, timetable
from schedgap.instances.units import DOLLAR, HOUR_S, resource_scale

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance
    from schedgap.instances.reconfiguration.simulator.simulator import Simulator
    from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule
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


def _timetable(
    instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, simulator: Simulator
) -> Timetable | None:
    """Return from when to when plans have tasks on machines, how long they take at least to get there, and what is idle."""
    task2job = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)
    at_zero, lease = instance.first_machine(), simulator.leases
    ran = np.flatnonzero(at_zero >= 0)
    task = np.concatenate((ran, schedule.move_task))
    machine = np.concatenate((at_zero[ran], schedule.move_machine))
    begin = np.concatenate((np.zeros_like(ran), schedule.move_s))
    order = np.lexsort((begin, task))
    is_start = order < ran.size
    task, machine, begin = task[order], machine[order], begin[order]
    job, is_last = task2job[task], np.append(task[1:] != task[:-1], True)
    # What is sent where it is stays there, and a plan at the very end of a job changes nothing.
    finish = simulator.jobs["finish"][job]
    end = np.maximum(begin, np.minimum(finish, np.where(is_last, finish, np.append(begin[1:], 0))))
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
