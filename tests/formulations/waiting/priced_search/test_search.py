"""Schedules found with hindsight are feasible, never below their own bound, and get better by moves."""

import numpy as np
import pytest

from schedgap.formulations.waiting.priced_search.search import priced_search
from schedgap.instances.errors import MethodError
from schedgap.instances.waiting import RENTED, bursty, mms, verify


def found(instance, **parameters):
    return priced_search(instance, np.random.default_rng(0), **parameters)


def test_between_its_bound_and_renting_and_often_optimal(random_instance, optimum):
    met = 0
    for seed in range(60):
        instance = random_instance(seed)
        best = optimum(instance)
        outcome = found(instance, moves=200)
        assert outcome.bound <= best <= verify(instance, outcome.solution)
        met += best == verify(instance, outcome.solution)
    assert met > 40


def test_moves_improve_what_prices_placed():
    instance = bursty(2_000, seed=2, machine_cores=16, wait_price=0.05)
    objectives = [verify(instance, found(instance, moves=moves).solution) for moves in (0, 20_000)]
    assert objectives[1] < objectives[0]


def test_jobs_of_weeks_in_the_log_of_a_day():
    """Machines are paid long after the horizon: the end that pays is found, and the bound knows of it."""
    for seed in range(3):
        instance = bursty(2_000, seed=seed, wait_price=0.05)
        outcome = found(instance, moves=2_000)
        assert verify(instance, outcome.solution) < 1.1 * outcome.bound


def test_same_seed_same_schedule():
    instance = mms(200, seed=4, max_wait_h=0.5, wait_price=0.05)
    first, second = (found(instance, moves=500).solution for _ in range(2))
    assert (first.machine == second.machine).all()
    assert (first.start_us == second.start_us).all()


def test_memory_limits_machines_too():
    instance = bursty(400, seed=1, machine_cores=8, wait_price=0.05)
    tight = instance.replace(memory_mib=instance.memory_mib * 3)
    verify(tight, found(tight, moves=5_000).solution)


def test_no_time_leaves_a_schedule():
    instance = mms(200, seed=4, max_wait_h=0.5)
    verify(instance, found(instance, time_limit_s=0.0).solution)


def test_jobs_that_fit_no_machine_rent():
    instance = mms(20, seed=1)
    instance = instance.replace(cores=instance.cores * (instance.machine_cores + 1))
    outcome = found(instance)
    assert (outcome.solution.machine == RENTED).all()
    assert outcome.bound == verify(instance, outcome.solution)


def test_refuses_nonsense():
    with pytest.raises(MethodError, match="moves -1"):
        found(mms(5), moves=-1)
