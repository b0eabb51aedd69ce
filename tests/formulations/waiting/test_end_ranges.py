"""Ranges of ends: what each proves holds for all schedules whose machines are paid until then, and all ends are in one."""

from itertools import pairwise

import numpy as np
import pytest

from schedgap.formulations.waiting import fluid_bound as end_ranges
from schedgap.formulations.waiting.fluid_bound import MOST_GRID, grid_size, moments, priced
from schedgap.formulations.waiting.models import scale
from schedgap.instances.waiting import bursty, mms


def test_each_bounds_the_schedules_that_end_in_it(random_instance, optimum):
    cut = tight = 0
    for seed in range(60):
        instance = random_instance(seed)
        instance = instance.replace(horizon_us=int(instance.runtime_us.min()))
        scaled, all_rented = scale(instance), optimum(instance, last_us=-1)
        if not scaled.num_jobs:
            continue
        ranges = priced(scaled, 20)
        cut += len(ranges) > 1
        for ends in ranges:
            first_us, last_us = (moment * scaled.unit_us for moment in (ends.scaled.horizon, ends.last))
            best = optimum(instance, first_us, last_us)
            assert scaled.objective(min(ends.amount, scaled.all_rented)) <= best
            tight += best < all_rented and best == scaled.objective(ends.amount)
    assert cut > 5
    assert tight > 20


@pytest.mark.parametrize("change", [{}, {"wait_price": 0}, {"wait_price": 0, "max_wait_us": 3600 * 10**6}])
def test_all_ends_are_in_one(change):
    """From the horizon on; only ranges in which every job rents are not there."""
    scaled = scale(bursty(500, seed=0, wait_price=0.05).replace(**change))
    ranges = sorted(priced(scaled, 10), key=lambda ends: ends.last)
    assert len(ranges) > 5
    assert ranges[0].scaled.horizon == scaled.horizon
    assert all(left.last + 1 == right.scaled.horizon for left, right in pairwise(ranges))
    assert ranges[-1].last >= int((scaled.submit + scaled.runtime).max())


def test_cut_where_jobs_wait_until_behind_the_horizon(monkeypatch):
    """None has to end there, but at prices for all ends many do."""
    scaled = scale(bursty(500, seed=0, wait_price=0.01, machine_cores=16, horizon_h=60.0))
    assert int((scaled.submit + scaled.runtime).max()) <= scaled.horizon
    ranges = priced(scaled, 20)
    assert len(ranges) > 5
    monkeypatch.setattr(end_ranges, "BEHIND", np.inf)
    (whole,) = priced(scaled, 20)
    assert ranges[0].amount > 1.02 * whole.amount


def test_a_short_horizon_takes_more_cuts():
    """Halves at first moments far below all that is of use prove nothing more: they are cut on all the same."""
    scaled = scale(mms(100, seed=1, max_wait_h=0.1).replace(horizon_us=1))
    assert len(priced(scaled, 20)) > 5


def test_from_the_least_on():
    amounts = [ends.amount for ends in priced(scale(bursty(500, seed=0, wait_price=0.05)), 10)]
    assert amounts == sorted(amounts)


def test_one_where_jobs_end_with_the_log():
    scaled = scale(bursty(500, seed=0, wait_price=0.05, horizon_h=1000.0))
    (ends,) = priced(scaled, 10)
    assert ends.last >= ends.scaled.horizon == scaled.horizon


def test_grids_reach_from_0_to_the_horizon():
    scaled = scale(mms(500, seed=1, max_wait_h=0.1))
    for most in (1, 2, 7, 100, 10_000):
        grid = moments(scaled, most, scaled.horizon)
        assert (grid[0], grid[-1]) == (0, scaled.horizon)
        assert (grid[1:] > grid[:-1]).all()
        assert grid.shape[0] <= max(most, 2) + 2
    assert grid_size(scaled) == MOST_GRID
    assert grid_size(scale(mms(500, seed=1))) < MOST_GRID
