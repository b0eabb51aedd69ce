"""Figures of a schedule beside its price: those of Eva's tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.reconfiguration.verify import paid_s, played, total_price
from schedgap.instances.units import DOLLAR, HOUR_S

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance
    from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule


def measures(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> dict[str, float]:
    """Return the figures.

    cost : dollars. mean_jct_h, median_jct_h, p95_jct_h : hours from a job's arrival to its end.
    machines : rented over time. moves_per_task : launches of a task beyond its first; tasks of one job move together.
    tasks_per_machine : mean number of tasks on a machine while it is paid. job_throughput : mean over jobs of work over
    seconds in which it progressed. idle_h : mean hours of a job without progress.
    `*_allocation` : share of a resource held by tasks, of what was paid for. machine_hours : paid.
    median_uptime_h, p90_uptime_h : hours for which a machine was paid.

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
    }
