import math

import numpy as np
import pytest

from schedgap.instances.harvest.stability import (
    NAMES,
    changes,
    stable_for,
    statistics,
    varying,
    vm_figures,
    vm_hours,
)

HOUR = HOUR_MS = 3_600_000
MINUTE = 60_000
# VM 0 has 8 cores, 2 from 1:30 on, none from 1:40 to 3:00, then 6; VM 1 never is; VM 2 has 4 from 0:30 on, 10 from 3:30 on.
EVENTS = (
    np.array([0, 4, 4, 6]),
    np.array([0, 90 * MINUTE, 100 * MINUTE, 180 * MINUTE, 30 * MINUTE, 210 * MINUTE]),
    np.array([8, 2, 0, 6, 4, 10]),
)
END = 4 * HOUR


def test_the_figures_of_the_trio_by_the_hour(trio):
    """VM a has 8 cores from 1 h on, 4 from 2 h, none from 3 h, 8 from 4 h; b has 4 for all four hours."""
    hours = trio.replace(event_ms=np.array([1, 2, 3, 4, 0]) * HOUR_MS)
    figures = vm_figures(hours)
    # The trace is shorter than the windows in which a VM's stability may vary, and nothing grows.
    assert set(figures) == {*NAMES} - {"vm_varying", "vm_least_shrinks", "vm_most_shrinks"}
    # Gaps of 1 h each, by 4 cores, then 4 to none; no gap is within 10 min.
    assert (figures["vm_change_min"], figures["vm_change_p95_h"], figures["vm_change_cores"]) == (60, 1, 4)
    assert (figures["vm_within_minute"], figures["vm_within_10_minutes"], figures["vm_within_hour"]) == (0, 0, 1)
    # Hours with cores: of a one with 8 and one with 4, of b four with 4.
    # Both last for more than half an hour, however long they have.
    assert figures["vm_stable_for"] == 0
    assert figures["vm_cores"] == pytest.approx((8 + 4 + 4 * 4) / 6)


def test_what_does_not_exist_is_left_out(trio):
    still = trio.replace(first_event=[0, 1, 2], event_ms=[2 * HOUR_MS, 0], event_cores=[8, 4])
    assert vm_figures(still) == {}
    # Less than an hour; and more hours than anyone looks at.
    assert vm_figures(trio) == {}
    assert vm_figures(trio.replace(event_ms=[0, 1, 2, 2**50, 0])) == {}


def test_changes_are_counted_within_a_vm_s_life():
    """The first of VM 0 is left out: it had been as it was for longer than is seen. 3:00 is the begin of another VM."""
    at, gap, change = changes(*EVENTS)
    assert at.tolist() == [100 * MINUTE, 210 * MINUTE]
    assert gap.tolist() == [10 * MINUTE, 180 * MINUTE]
    assert change.tolist() == [-2, 6]


def test_hours_of_vms():
    """VM 0: 8; (30 x 8 + 10 x 2) / 40 = 6.5, 2 changes; not there from 2 to 3; 6. VM 2: 4 three times; 7, one change."""
    cores, counts = vm_hours(*EVENTS, END)
    assert cores.tolist() == [8, 6.5, 6, 4, 4, 4, 7]
    assert counts.tolist() == [0, 2, 0, 0, 0, 0, 1]


def test_statistics():
    found = statistics(*EVENTS, end_ms=END)
    assert found["mean_min"] == 95
    assert (found["within_1_min"], found["within_10_min"], found["within_1_h"]) == (0, 0.5, 0.5)
    assert found["mean_change"] == 4
    assert found["mean_cores"] == pytest.approx(39.5 / 7)
    assert (found["hourly_p50"], found["least_day"], found["most_day"]) == (0, 0.5, 0.5)


def test_what_follows_a_growth_by_day():
    """Of one VM, by the hour: 4, 6, 8, 6, 9, 10 cores; a day later 9, 8. The first change is not known to be one."""
    hours = np.array([0, 1, 2, 3, 4, 5, 29, 30]) * HOUR
    found = statistics(np.array([0, 8]), hours, np.array([4, 6, 8, 6, 9, 10, 9, 8]), end_ms=31 * HOUR)
    # After growths at 2, 4 and 5 h: less at 3 h, more at 5 h, and less at 29 h, on the second day.
    assert (found["least_shrinks"], found["most_shrinks"]) == (0.5, 1)


def test_nothing_changes():
    found = statistics(np.array([0, 1]), np.array([0]), np.array([4]), end_ms=END)
    assert all(math.isnan(value) for value in found.values())


def test_stability_needed():
    """Of ten VMs nine change after 1 min: at the start 0.1 last 30 min; after 1 min one is left, which lasts to 61."""
    gap = np.array([1] * 9 + [61]) * MINUTE
    assert stable_for(gap, 30 * MINUTE, 0.7) == MINUTE
    assert stable_for(gap, 30 * MINUTE, 0.1) == 0
    assert stable_for(gap, 61 * MINUTE, 0.7) == math.inf


def test_a_vm_whose_stability_varies():
    """One is quiet for six hours and then changes every 20 minutes, one is always quiet, one always busy, one too short."""
    busy = np.arange(18) * 20 * MINUTE
    turning, long = np.concatenate(([0], 6 * HOUR_MS + busy)), np.arange(36) * 20 * MINUTE
    times = [turning, np.array([0]), long, np.array([11 * HOUR_MS])]
    first = np.concatenate(([0], np.cumsum([len(each) for each in times])))
    cores = np.concatenate([4 + np.arange(len(each)) % 2 for each in times])
    assert varying(first, np.concatenate(times), cores, 12 * HOUR_MS) == 1 / 3
    assert math.isnan(varying(first[3:] - first[3], times[3], np.array([4]), 12 * HOUR_MS))
