"""The bound for whole traces."""

import pytest

from schedgap.formulations.waiting.demand_curve import bound_demand_curve
from schedgap.formulations.waiting.fluid_bound import MOST_GRID, bound_fluid, grid_size, moments
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.work_bound import bound_work
from schedgap.instances.errors import MethodError
from schedgap.instances.waiting import bursty, mms


def test_never_above_the_optimum_and_often_it(random_instance, optimum):
    tight = 0
    for seed in range(80):
        instance = random_instance(seed)
        best, bound = optimum(instance), bound_fluid(instance, rounds=40).bound
        assert bound <= best
        tight += bound == best
    assert tight > 45


def test_coarse_grids_prove_less_but_nothing_false(random_instance, optimum):
    for seed in range(40):
        instance = random_instance(seed)
        assert bound_fluid(instance, rounds=5, max_grid=2).bound <= optimum(instance)


def test_above_the_cheap_bounds():
    for instance in (mms(400, seed=1, max_wait_h=0.25), bursty(400, seed=2, machine_cores=8, max_wait_h=1)):
        found = bound_fluid(instance, rounds=20).bound
        assert found >= max(bound_work(instance).bound, bound_demand_curve(instance).bound)


def test_same_answer_twice():
    instance = mms(200, seed=4, max_wait_h=0.5, wait_price=0.05)
    assert bound_fluid(instance, rounds=15).bound == bound_fluid(instance, rounds=15).bound


def test_no_time_leaves_the_cheap_bounds():
    instance = mms(200, seed=4, max_wait_h=0.5)
    assert bound_fluid(instance, time_limit_s=0.0).bound == max(
        bound_work(instance).bound, bound_demand_curve(instance).bound
    )


def test_grids_reach_from_0_to_the_horizon():
    scaled = scale(mms(500, seed=1, max_wait_h=0.1))
    for most in (1, 2, 7, 100, 10_000):
        grid = moments(scaled, most)
        assert (grid[0], grid[-1]) == (0, scaled.horizon)
        assert (grid[1:] > grid[:-1]).all()
        assert grid.shape[0] <= max(most, 2) + 2
    assert grid_size(scaled) == MOST_GRID
    assert grid_size(scale(mms(500, seed=1))) < MOST_GRID


def test_refuses_nonsense():
    with pytest.raises(MethodError, match="rounds is 0"):
        bound_fluid(mms(5), rounds=0)
