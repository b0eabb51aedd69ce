"""A schedule as a picture: what was in use on the machines of each type, uptimes, and cost and machines over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.picture import MAX_BARS, MAX_POINTS, Bar, Curve, Part, Picture
from schedgap.instances.reconfiguration.verify import paid_s, played
from schedgap.instances.units import DOLLAR, HOUR_S, resource_scale

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance
    from schedgap.instances.reconfiguration.simulator.simulator import Simulator
    from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule


def picture(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> Picture:
    """Return mean use of a paid machine of each type, uptimes, and dollars and machines over time (Eva, Figure 3)."""
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
    return Picture(catalogue.resources, tuple(bars[:MAX_BARS]), max(len(bars) - MAX_BARS, 0), curves)


def _uptimes(paid: IntArray) -> Curve:
    shares = np.linspace(0.0, 1.0, MAX_POINTS)
    hours = np.quantile(paid / HOUR_S, shares)
    return Curve("Uptime of machines", "hours", "share of machines", _rounded(hours), _rounded(shares))


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
    x = _rounded(at_s / HOUR_S)
    return (
        Curve("Cost over time", "hours", "dollars", x, _rounded(dollars)),
        Curve("Machines over time", "hours", "machines, mean", x, _rounded(machines), is_step=True),
    )


def _rounded(values: FloatArray) -> tuple[float, ...]:
    """Return six digits that count, which no drawing shows: half the bytes."""
    return tuple(float(f"{value:.6g}") for value in values.tolist())
