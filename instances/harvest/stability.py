"""How stable the VMs of an instance are, in the figures that the paper gives of its clusters (SlackSched, section 2.1)."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.units import DAY_MS, HOUR_MS, MINUTE_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance

# Figure 13: how long a VM must have been as it is for a task of this length to meet no change with this probability.
TASK_MS, CONFIDENCE = 30 * MINUTE_MS, 0.7
# Figure 3 looks at windows of six hours: a change every half an hour makes a busy one.
LONG_WINDOW_MS, BUSY_CHANGES = 6 * HOUR_MS, 12
# With more there would be too much to look at for the sake of a few figures, and moments would not fit into 64 bits.
MOST_VM_HOURS = 5_000_000
NAMES = {
    "vm_change_min": "mean_min",
    "vm_within_minute": "within_1_min",
    "vm_within_10_minutes": "within_10_min",
    "vm_within_hour": "within_1_h",
    "vm_change_p95_h": "p95_h",
    "vm_change_cores": "mean_change",
    "vm_cores": "mean_cores",
    "vm_top_tenth": "top_tenth",
    "vm_bottom_tenth": "bottom_tenth",
    "vm_stable_for": "stable_for",
    "vm_hourly_median": "hourly_p50",
    "vm_hourly_top_tenth": "hourly_p90",
    "vm_hourly_top_hundredth": "hourly_p99",
    "vm_least_day": "least_day",
    "vm_most_day": "most_day",
    "vm_varying": "varying",
}
_NAMES = (
    "mean_min", "within_1_min", "within_10_min", "within_1_h", "p95_h", "mean_change", "mean_cores", "top_tenth",
    "bottom_tenth", "hourly_p50", "hourly_p90", "hourly_p99", "stable_for", "least_day", "most_day",
    "varying",
)  # fmt: skip


def vm_figures(instance: HarvestInstance) -> dict[str, float]:
    """Return the `statistics` of all VMs until the last event, leased or not, under the names of `NAMES`.

    Those that do not exist, such as a mean of no changes, are left out, and so are all of more than five million VM-hours, or
    less than an hour.
    """
    end_ms = int(instance.event_ms.max())
    if not HOUR_MS <= end_ms <= MOST_VM_HOURS * HOUR_MS // instance.num_vms:
        return {}
    found = statistics(instance.first_event, instance.event_ms, instance.event_cores, end_ms=end_ms)
    return {name: found[key] for name, key in NAMES.items() if isfinite(found[key])}


def changes(first_event: IntArray, event_ms: IntArray, event_cores: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the moment, the ms since the change before and the cores added (less than 0: taken) of each change of a VM.

    A VM lives from when it has cores until it has none, which is its last change. Its begin is no change, but the first one
    is counted from it; not so where it is the begin of the trace, since it is not known how long it had been so.
    """
    before = np.concatenate(([0], event_cores[:-1]))
    since = np.concatenate(([0], event_ms[:-1]))
    starts = np.zeros(event_ms.shape[0], np.bool_)
    starts[first_event[:-1][np.diff(first_event) > 0]] = True
    counted = ~starts & (before > 0) & (since > 0)
    return event_ms[counted], (event_ms - since)[counted], (event_cores - before)[counted]


def vm_hours(
    first_event: IntArray, event_ms: IntArray, event_cores: IntArray, end_ms: int
) -> tuple[FloatArray, IntArray]:
    """Return mean cores and number of changes of each VM in each whole hour in which it has cores for some time.

    The mean is over the time that it has cores.
    """
    core_ms, up_ms, counts = _windows(first_event, event_ms, event_cores, end_ms, HOUR_MS)
    there: BoolArray = up_ms > 0
    return core_ms[there] / up_ms[there], counts[there]


def varying(first_event: IntArray, event_ms: IntArray, event_cores: IntArray, end_ms: int) -> float:
    """Return the share of VMs that have windows of six hours without a change, and windows with a change every half an hour.

    Of those that have cores throughout some window. How far the stability of a VM changes over time (Figure 3).
    """
    _, up_ms, counts = _windows(first_event, event_ms, event_cores, end_ms, LONG_WINDOW_MS)
    whole = up_ms == LONG_WINDOW_MS
    is_both = (whole & (counts == 0)).any(axis=1) & (counts >= BUSY_CHANGES).any(axis=1)
    return float(is_both[whole.any(axis=1)].mean()) if whole.any() else float("nan")


def _windows(
    first_event: IntArray, event_ms: IntArray, event_cores: IntArray, end_ms: int, window_ms: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return (V, W) int64 core-ms, ms with cores, and changes of each VM in each whole window."""
    num_vms, number = first_event.shape[0] - 1, end_ms // window_ms
    # All VMs one after another on one axis of time, each beginning with no cores.
    vm = np.repeat(np.arange(num_vms), np.diff(first_event))
    places = first_event[:-1] + np.arange(num_vms)
    at = np.insert(vm * end_ms + event_ms, first_event[:-1], np.arange(num_vms) * end_ms)
    cores = np.insert(event_cores, first_event[:-1], 0)
    bounds = (np.arange(num_vms)[:, np.newaxis] * end_ms + np.arange(number + 1) * window_ms).ravel()
    shape = (num_vms, number + 1)
    core_ms = np.diff(_area(at, cores, bounds).reshape(shape), axis=1)
    up_ms = np.diff(_area(at, (cores > 0).astype(np.int64), bounds).reshape(shape), axis=1)
    change = np.concatenate(([False], cores[:-1] > 0))
    change[places] = False
    counts = np.diff(np.searchsorted(at[change], bounds).reshape(shape), axis=1)
    return core_ms, up_ms, counts


def statistics(first_event: IntArray, event_ms: IntArray, event_cores: IntArray, *, end_ms: int) -> dict[str, float]:
    """Return the figures of harvest VMs that the paper gives, of all changes and all hours of VMs up to `end_ms`.

    Times between changes: `mean_min`; `within_1_min`, `within_10_min`, `within_1_h`, shares; `p95_h`. Changes: `mean_change`,
    cores. VMs by the hour (Figure 2): `mean_cores`; `top_tenth`, `bottom_tenth`: a tenth have at least, at most so many;
    `hourly_p50`, `hourly_p90`, `hourly_p99`, changes. `stable_for`: Figure 13 at tasks of 30 min and 70 %, in lengths of
    the task. `least_day`, `most_day`: extremes of the days' shares within 1 h (Figure 7). `varying`: see there (Figure 3).
    All nan if nothing changes.
    """
    at, gap, change = changes(first_event, event_ms, event_cores)
    cores, counts = vm_hours(first_event, event_ms, event_cores, end_ms)
    if not gap.size:
        return dict.fromkeys(_NAMES, float("nan"))
    days = [float((gap[at // DAY_MS == day] <= HOUR_MS).mean()) for day in np.unique(at // DAY_MS)]
    values = (
        gap.mean() / MINUTE_MS,
        *((gap <= most).mean() for most in (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS)),
        np.quantile(gap, 0.95) / HOUR_MS,
        np.abs(change).mean(),
        cores.mean(),
        *np.quantile(cores, (0.9, 0.1)),
        *np.quantile(counts, (0.5, 0.9, 0.99)),
        stable_for(gap, TASK_MS, CONFIDENCE) / TASK_MS,
        min(days),
        max(days),
        varying(first_event, event_ms, event_cores, end_ms),
    )
    return dict(zip(_NAMES, map(float, values), strict=True))


def stable_for(gap: IntArray, task_ms: int, confidence: float) -> float:
    """Return how many ms a VM must not have changed for a task to meet no change with some probability; inf for never."""
    gaps = np.sort(gap)
    age = np.concatenate(([0], gaps[:-1]))
    longer = gaps.size - np.searchsorted(gaps, age, side="right")
    longest = gaps.size - np.searchsorted(gaps, age + task_ms, side="right")
    enough = np.flatnonzero((longer > 0) & (longest >= confidence * longer))
    return float(age[enough[0]]) if enough.size else float("inf")


def _area(at: IntArray, height: IntArray, bounds: IntArray) -> IntArray:
    """Return the integral of a step function from the first of its steps to each bound."""
    below = np.concatenate(([0], np.cumsum(height[:-1] * np.diff(at))))
    step = np.searchsorted(at, bounds, side="right") - 1
    return below[step] + height[step] * (bounds - at[step])
