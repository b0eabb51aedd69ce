import numpy as np
import pytest

from schedgap.instances.harvest.stability import NAMES, vm_figures

HOUR_MS = 3_600_000


def test_the_figures_of_the_trio_by_the_hour(trio):
    """VM a has 8 cores from 1 h on, 4 from 2 h, none from 3 h, 8 from 4 h; b has 4 for all four hours."""
    hours = trio.replace(event_ms=np.array([1, 2, 3, 4, 0]) * HOUR_MS)
    figures = vm_figures(hours)
    assert set(figures) == set(NAMES)
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
