"""Wind power takes free cores and gives them back, as much as it must and no more."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.replay import STEP_MS, FreeCores, drawn_wind, powered, read_wind, replay


def constant(cores, steps):
    """Return servers with so many free cores all the time, for quarters of an hour."""
    count = len(cores)
    first = np.arange(count + 1)
    return FreeCores(steps * STEP_MS, first, np.zeros(count, np.int64), np.array(cores), np.zeros(count, np.bool_))


def totals(free, moments):
    """Return the free cores of all servers together at moments, the slow way."""
    found = []
    for ms in moments:
        there = 0
        for server in range(free.num_servers):
            own = slice(*free.first_event[server : server + 2])
            there += free.cores[own][np.searchsorted(free.event_ms[own], ms, side="right") - 1]
        found.append(int(there))
    return found


def test_power_that_lacks_is_taken_from_free_cores():
    # Four servers of 40 cores. Half of 160 cores lack, then all of them, of which 100 are free; then none.
    free = constant([10, 20, 30, 40], 4)
    after = powered(free, np.array([1.0, 0.5, 0.0, 1.0]), 0.25, 1.0, 0)
    assert totals(after, np.arange(4) * STEP_MS) == [100, 20, 0, 100]
    assert (after.cores[after.first_event[:-1]] == [10, 20, 30, 40]).all()


def test_a_share_of_the_power():
    after = powered(constant([40] * 4, 4), np.array([4.0, 2.0, 2.0, 4.0]), 0.25, 0.5, 0)
    # Half of the wind is missing, and half of the power is wind: 40 of 160 cores lack.
    assert totals(after, np.arange(4) * STEP_MS) == [160, 120, 120, 160]
    # What stays the same changes no server.
    assert not (after.event_ms == 2 * STEP_MS).any()


def test_power_is_made_up_for_elsewhere_when_regular_vms_come():
    # One server is full from the second quarter on; the 20 cores that it may have lacked are then taken of the other.
    free = FreeCores(
        3 * STEP_MS, np.array([0, 2, 3]), np.array([0, STEP_MS, 0]), np.array([20, 0, 40]), np.zeros(2, np.bool_)
    )
    for seed in range(5):
        after = powered(free, np.array([0.75, 0.75, 0.75, 1.0]), 0.25, 1.0, seed)
        assert totals(after, [0, STEP_MS]) == [40, 20]


def test_without_wind_nothing_changes():
    free = replay("C2", servers=20, days=0.5, seed=3)
    after = powered(free, np.array([0.0, 1.0, 0.5]), 12.0, 0.0, 0)
    for key in ("first_event", "event_ms", "cores", "buffer"):
        assert getattr(after, key).tolist() == getattr(free, key).tolist()


def test_free_cores_with_less_power_are_fewer():
    free = replay("C2", servers=30, days=1.0, seed=1)
    wind = drawn_wind(24, 1)
    after = powered(free, wind, 3.0, 0.4, 7)
    moments = np.arange(0, free.end_ms, STEP_MS)
    supply = 1 - 0.4 * (1 - np.interp(moments, np.arange(wind.size) * 12 * STEP_MS, wind / wind.max()))
    before, left = np.array(totals(free, moments)), np.array(totals(after, moments))
    assert left.tolist() == np.maximum(0, before - np.rint((1 - supply) * 1200)).tolist()
    assert (after.event_ms < free.end_ms).all()
    # Each server's events are changes, in order of time, the first of them at 0.
    same = np.diff(after.event2server()) == 0
    assert (np.diff(after.event_ms)[same] > 0).all()
    assert (np.diff(after.cores)[same] != 0).all()
    assert (after.event_ms[after.first_event[:-1]] == 0).all()
    assert after.cores.min() >= 0


def test_drawn_wind_is_that_of_the_year_it_was_fitted_to():
    years = np.concatenate([drawn_wind(24 * 365, seed) for seed in range(8)])
    # Deciles 1, 5 and 9 of the series that it was fitted to, by its maximum.
    assert np.quantile(years, [0.1, 0.5, 0.9]) == pytest.approx([0.047, 0.184, 0.5], abs=0.04)
    logit = np.log(years / (1 - years))
    lags = [np.corrcoef(logit[:-k], logit[k:])[0, 1] for k in (1, 8)]
    assert lags == pytest.approx([0.87, 0.44], abs=0.06)
    assert drawn_wind(9, 1).tolist() == drawn_wind(9, 1).tolist()
    assert drawn_wind(9, 1).size == 5


def test_read_wind(tmp_path):
    path = tmp_path / "farm.csv"
    path.write_text("hour,wind\n0,5\n1,7.5\n2,0\n3,1e1\n", encoding="utf-8")
    starts = {tuple(read_wind(path, 1, 1, seed).tolist()) for seed in range(20)}
    assert starts == {(5.0, 7.5, 0.0), (7.5, 0.0, 10.0)}
    with pytest.raises(InstanceError, match=r"farm.csv: 4 rows of 1 h, and 9 hours need 11; give a longer series"):
        read_wind(path, 9, 1, 0)
    with pytest.raises(InstanceError, match="wind_step_h is 0; give a positive number"):
        read_wind(path, 1, 0, 0)
    path.write_text("wind\n5\n-1\n", encoding="utf-8")
    with pytest.raises(InstanceError, match=r"farm.csv line 3: wind is '-1'; give a number, 0 or above"):
        read_wind(path, 1, 1, 0)
    with pytest.raises(InstanceError, match="the wind power is 0 all the time"):
        powered(constant([1], 1), np.zeros(3), 1.0, 1.0, 0)
