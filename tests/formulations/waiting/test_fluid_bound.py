"""The bound for whole traces."""

import numpy as np
import pytest

from schedgap.formulations.waiting.fluid_bound import bound_fluid, bound_work
from schedgap.instances.errors import MethodError
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance, bursty, mms


def test_never_above_the_optimum_and_often_it(random_instance, optimum):
    tight = 0
    for seed in range(40):
        instance = random_instance(seed)
        best, bound = optimum(instance), bound_fluid(instance, rounds=40).bound
        assert bound <= best
        tight += bound == best
    assert tight > 35


def test_two_jobs_above_half_a_machine_share_none():
    """By size alone ten jobs of 5 cores need seven machines of 8; two of 4 cores share one, and 3 cores fit beside 5."""
    for cores, machines in ((5, 10), (4, 5), ([5, 3] * 5, 5), ([5] * 4 + [4] * 6, 7)):
        instance = WaitingInstance(
            name="side by side",
            submit_us=np.zeros(10, np.int64),
            runtime_us=np.full(10, HOUR_US),
            cores=np.broadcast_to(cores, 10).copy(),
            memory_mib=np.ones(10, np.int64),
            machine_cores=8,
            machine_memory_mib=100,
            fixed_price=400,
            rented_cores=np.array([8]),
            rented_memory_mib=np.array([100]),
            rented_price=np.array([1_000]),
            horizon_us=HOUR_US,
            max_wait_us=0,
        )
        assert bound_fluid(instance).bound == 400 * machines


def test_coarse_grids_prove_less_but_nothing_false(random_instance, optimum):
    for seed in range(20):
        instance = random_instance(seed)
        assert bound_fluid(instance, rounds=5, max_grid=2).bound <= optimum(instance)


def test_above_the_cheap_bound():
    for instance in (mms(150, seed=1, max_wait_h=0.25), bursty(150, seed=2, machine_cores=8, max_wait_h=1)):
        found = bound_fluid(instance, rounds=20).bound
        assert found >= bound_work(instance).bound


def test_same_answer_twice():
    instance = mms(60, seed=4, max_wait_h=0.5, wait_price=0.05)
    assert bound_fluid(instance, rounds=15).bound == bound_fluid(instance, rounds=15).bound


def test_no_time_leaves_the_cheap_bound():
    instance = mms(200, seed=4, max_wait_h=0.5)
    assert bound_fluid(instance, time_limit_s=0.0).bound == bound_work(instance).bound


def test_refuses_nonsense():
    with pytest.raises(MethodError, match="rounds is 0"):
        bound_fluid(mms(5), rounds=0)
