"""How stable the VMs of an instance are, in the figures that the paper gives of its clusters (SlackSched, section 2.1).

An hour of a VM is bad if the VM shrinks in it. The paper judges pools by their stable VMs (SlackSched, Appendix B.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, ranges
from schedgap.instances.harvest.model import HarvestInstance, HarvestSchedule
from schedgap.instances.units import DAY_MS, HOUR_MS, MINUTE_MS


def offered_load(instance: HarvestInstance) -> float:
    """Return the jobs' core-time as a share of what the VMs have while jobs arrive, infinite if all arrive at once.

    The VMs are those leased at the start. The time is from the first arrival to the last, and a mean interval more.
    """
    first, last, jobs = int(instance.arrival_ms[0]), int(instance.arrival_ms[-1]), instance.num_jobs
    is_counted = instance.leased[instance.event2vm()]
    times, cores = total_cores(instance.first_event, instance.event_ms, instance.event_cores, is_counted)
    have = float(np.diff(np.clip(np.append(times, last), first, last)) @ cores)
    work = float(np.repeat(instance.cores, np.diff(instance.first_task)) @ instance.runtime_ms)
    return work * (jobs - 1) / (jobs * have) if have else float("inf")


def total_cores(
    first_event: IntArray, event_ms: IntArray, event_cores: IntArray, is_counted: BoolArray | None = None
) -> tuple[IntArray, IntArray]:
    """Return moments, ascending, and the cores that all VMs together have from each on, until the next.

    is_counted : (E,) bool, whether an event is of a VM that counts; None for all.
    """
    before = np.concatenate(([0], event_cores[:-1]))
    before[first_event[:-1]] = 0
    change = event_cores - before
    if is_counted is not None:
        event_ms, change = event_ms[is_counted], change[is_counted]
    order = np.argsort(event_ms, kind="stable")
    return event_ms[order], np.cumsum(change[order])


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
    "vm_least_shrinks": "least_shrinks",
    "vm_most_shrinks": "most_shrinks",
}


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
    `least_shrinks`, `most_shrinks`: extremes of the days' shares of shrinks among the changes that follow a growth.
    All nan if nothing changes.
    """
    at, gap, change = changes(first_event, event_ms, event_cores)
    cores, counts = vm_hours(first_event, event_ms, event_cores, end_ms)
    if not gap.size:
        return dict.fromkeys(NAMES.values(), float("nan"))
    days = [float((gap[at // DAY_MS == day] <= HOUR_MS).mean()) for day in np.unique(at // DAY_MS)]
    grew = (at[1:] - gap[1:] == at[:-1]) & (change[:-1] > 0)
    after = [change[1:][grew & (at[1:] // DAY_MS == day)] < 0 for day in np.unique(at[1:][grew] // DAY_MS)]
    shrinks = [float(each.mean()) for each in after] or [float("nan")]
    values = (
        gap.mean() / MINUTE_MS,
        *((gap <= most).mean() for most in (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS)),
        np.quantile(gap, 0.95) / HOUR_MS,
        np.abs(change).mean(),
        cores.mean(),
        *np.quantile(cores, (0.9, 0.1)),
        stable_for(gap, TASK_MS, CONFIDENCE) / TASK_MS,
        *np.quantile(counts, (0.5, 0.9, 0.99)),
        min(days),
        max(days),
        varying(first_event, event_ms, event_cores, end_ms),
        min(shrinks),
        max(shrinks),
    )
    return dict(zip(NAMES.values(), map(float, values), strict=True))


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


# A schedule may end after a million hours: so many VMs times hours at a time take 50 MB.
MOST_CELLS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class PoolQuality:
    """Hours of VMs in the H whole hours from the first arrival to the last end.

    held : (H,) int64, VMs leased, or there if the pool is fixed, at the start of the hour. bad : (H,) int64, those of them
    that shrink within the hour. stable : (H,) int64, those of them that are stable (`is_stable`). least : (H,) int64, the
    fewest bad VMs among as many that are up at the start of the hour. A lower bound that no policy reaches: it would have to
    know the hour, and to change all VMs at once.
    """

    held: IntArray
    bad: IntArray
    stable: IntArray
    least: IntArray

    def stable_share(self, last_hours: int = 0) -> float:
        """Share of the VM-hours that are of stable VMs; 0 without any. last_hours : only of so many; 0 for all."""
        return float(self.stable[-last_hours:].sum()) / max(int(self.held[-last_hours:].sum()), 1)

    @property
    def regret(self) -> float:
        """Share of the VM-hours that are bad and need not be; 0 without any."""
        held = max(int(self.held.sum()), 1)
        return float(self.bad.sum()) / held - float(self.least.sum()) / held


def pool_quality(instance: HarvestInstance, schedule: HarvestSchedule) -> PoolQuality:
    """Return how good the pool of a feasible schedule was. O(E + V H + L log L), in MOST_CELLS cells at a time."""
    begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
    starts = np.arange(begin, end - HOUR_MS + 1, HOUR_MS)
    step, stable = max(1, MOST_CELLS // instance.num_vms), is_stable(instance)
    pieces = range(0, max(starts.shape[0], 1), step)
    parts = [_of_hours(instance, schedule, starts[at : at + step], stable) for at in pieces]
    return PoolQuality(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def is_stable(instance: HarvestInstance) -> BoolArray:
    """(V,) bool: whether a VM is among the half of all that change least often, for the time that they have cores.

    Over all events, those after the end of the schedule too: the truth that a policy would like to know.
    """
    end_ms = int(instance.event_ms.max())
    until = np.append(instance.event_ms[1:], end_ms)
    until[instance.first_event[1:] - 1] = end_ms
    lasts_ms = np.where(instance.event_cores > 0, until - instance.event_ms, 0)
    up_ms = np.bincount(instance.event2vm(), lasts_ms, minlength=instance.num_vms)
    rate = np.diff(instance.first_event) / np.maximum(up_ms, 1.0)
    stable = np.zeros(instance.num_vms, np.bool_)
    stable[np.argsort(rate, kind="stable")[: instance.num_vms // 2]] = True
    return stable


def _of_hours(
    instance: HarvestInstance, schedule: HarvestSchedule, starts: IntArray, stable: BoolArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return (H,) int64 `held`, `bad`, `stable` and `least` of the hours that start then. stable : (V,) bool, see `is_stable`."""
    is_bad = shrinks_within(instance, starts)
    up = sizes_at(instance, starts) > 0
    held = up.copy()
    if not instance.is_fixed:
        held[:] = False
        first = np.searchsorted(starts, schedule.lease_start_ms, side="left")
        last = np.searchsorted(starts, schedule.lease_end_ms, side="left")
        for lease in np.flatnonzero(first < last).tolist():
            held[schedule.lease_vm[lease], first[lease] : last[lease]] = True
    # A lease never holds a VM that is down; on buffer servers only packing places VMs.
    can = up if instance.allocation in ("fixed", "packing") else up & (held | ~instance.buffer[:, np.newaxis])
    number = held.sum(axis=0)
    good = (can & ~is_bad).sum(axis=0)
    return number, (held & is_bad).sum(axis=0), held[stable].sum(axis=0), np.maximum(number - good, 0)


def sizes_at(instance: HarvestInstance, moments_ms: IntArray) -> IntArray:
    """(V, M) int64: the cores of each VM after all events at each of M moments."""
    sizes = np.zeros((instance.num_vms, moments_ms.shape[0]), np.int64)
    for vm in range(instance.num_vms):
        first, end = int(instance.first_event[vm]), int(instance.first_event[vm + 1])
        at = np.searchsorted(instance.event_ms[first:end], moments_ms, side="right")
        sizes[vm] = np.where(at > 0, instance.event_cores[first + np.maximum(at - 1, 0)], 0)
    return sizes


def shrinks_within(instance: HarvestInstance, starts_ms: IntArray) -> BoolArray:
    """(V, H) bool: whether each VM has fewer cores after some event within an hour after each start, and not at it."""
    vm = instance.event2vm()
    before = np.concatenate(([0], instance.event_cores[:-1]))
    before[instance.first_event[:-1]] = 0
    shrinks = instance.event_cores < before
    is_bad = np.zeros((instance.num_vms, starts_ms.shape[0]), np.bool_)
    if starts_ms.shape[0]:
        hour = np.searchsorted(starts_ms, instance.event_ms, side="left") - 1
        counted = shrinks & (hour >= 0) & (instance.event_ms <= starts_ms[np.maximum(hour, 0)] + HOUR_MS)
        is_bad[vm[counted], hour[counted]] = True
    return is_bad


class Steps(NamedTuple):
    """Times in which a leased VM has the same size. vm, start_ms, end_ms, cores : (S,) int64; by lease, in order of time."""

    vm: IntArray
    start_ms: IntArray
    end_ms: IntArray
    cores: IntArray


def last_at(of: IntArray, ms: IntArray, owner: IntArray, at_ms: IntArray) -> IntArray:
    """Return (N,) int64, the last entry of each `owner` at or before each `at_ms`, -1 if there is none.

    of, ms : (M,) int64, owner and moment of each entry, in order of owner, then of moment. owner, at_ms : (N,) int64.
    O((M + N) log M).
    """
    if not of.shape[0]:
        return np.full(owner.shape, -1)
    # Moments by their rank: owner and moment together then fit into 64 bits. Sorted, since `unique` takes ten times as long.
    moments = np.sort(ms)
    width = moments.shape[0] + 1
    keys = of * width + np.searchsorted(moments, ms, side="right")
    asked = owner * width + np.searchsorted(moments, at_ms, side="right")
    found: IntArray = np.searchsorted(keys, asked, side="right") - 1
    found[(found >= 0) & (of[found] != owner)] = -1
    return found


def leased_steps(instance: HarvestInstance, schedule: HarvestSchedule, begin_ms: int, end_ms: int) -> Steps:
    """Return the sizes of leased VMs between two moments; of a fixed pool all VMs are leased all the time.

    O((E + L) log E), with leases within times that their VMs have cores, not overlapping on a VM.
    """
    if instance.is_fixed:
        vm = np.arange(instance.num_vms)
        start, end = np.full(vm.shape, begin_ms), np.full(vm.shape, end_ms)
    else:
        start, end = np.maximum(schedule.lease_start_ms, begin_ms), np.minimum(schedule.lease_end_ms, end_ms)
        kept = np.flatnonzero(start < end)
        vm, start, end = schedule.lease_vm[kept], start[kept], end[kept]
    event2vm, first = instance.event2vm(), instance.first_event[vm]
    from_event = np.maximum(last_at(event2vm, instance.event_ms, vm, start), first)
    to_event = last_at(event2vm, instance.event_ms, vm, end - 1)
    count = np.maximum(to_event - from_event + 1, 0)
    lease = np.repeat(np.arange(vm.shape[0]), count)
    event = ranges(from_event, count)
    next_event = np.minimum(event + 1, instance.event_ms.shape[0] - 1)
    until = np.where(event < to_event[lease], instance.event_ms[next_event], end[lease])
    from_ms = np.maximum(instance.event_ms[event], start[lease])
    return Steps(vm[lease], from_ms, until, instance.event_cores[event])
