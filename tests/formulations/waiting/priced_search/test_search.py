"""Schedules found with hindsight are feasible, never below their own bound, and get better by moves."""

import numpy as np
import pytest

from schedgap.formulations.waiting.priced_search.search import priced_search
from schedgap.instances.errors import MethodError
from schedgap.instances.waiting import RENTED, WaitingInstance, bursty, mms, verify

UNIT_US = 600_000_000


def few_jobs(submit, runtime, cores, memory, machine=(4, 8), price=76_800, horizon=3, rented=144_000, **more):
    """Times in units of ten minutes; machine, memory : cores and memory units of the fixed ones."""
    return WaitingInstance(
        name="few",
        submit_us=np.array(submit) * UNIT_US,
        runtime_us=np.array(runtime) * UNIT_US,
        cores=cores,
        memory_mib=memory,
        machine_cores=machine[0],
        machine_memory_mib=machine[1],
        fixed_price=price,
        rented_cores=[3, 4],
        rented_memory_mib=[12, 16],
        rented_price=[rented, max(rented, 192_000)],
        horizon_us=horizon * UNIT_US,
        **more,
    )


def found(instance, **parameters):
    return priced_search(instance, np.random.default_rng(0), **parameters)


def test_a_handful_of_jobs_is_optimal(random_instance, optimum):
    missed = []
    for seed in range(30):
        instance = random_instance(seed, mixed=seed % 2 == 0)
        best = optimum(instance)
        outcome = found(instance, moves=20_000)
        assert outcome.bound <= best <= verify(instance, outcome.solution)
        missed += [seed] if best < verify(instance, outcome.solution) else []
    assert len(missed) <= 1


def test_one_machine_that_serves_after_the_horizon_is_best():
    """Some job waits until others end, long after the horizon: three of them, and five whose waits are limited."""
    three = few_jobs(
        [1, 6, 8], [8, 1, 1], [1, 1, 1], [1, 1, 2], machine=(1, 2), price=43_200, horizon=1, rented=134_400
    )
    five = few_jobs([0, 1, 1, 1, 2], [3, 2, 5, 5, 2], [4, 3, 2, 4, 1], [0, 0, 4, 1, 2], max_wait_us=10 * UNIT_US)
    # One machine for eleven and for fifteen times ten minutes: 43,200 x 11 / 6, 76,800 x 15 / 6.
    for instance, best in ((three, 79_200), (five, 192_000)):
        assert verify(instance, found(instance).solution) == best


def test_moves_improve_what_prices_placed():
    instance = bursty(300, seed=2, machine_cores=16, wait_price=0.05)
    objectives = [verify(instance, found(instance, moves=moves).solution) for moves in (0, 20_000)]
    assert objectives[1] < objectives[0]


def test_jobs_of_weeks_in_the_log_of_a_day():
    """Machines are paid long after the horizon: the end that pays is found, and the bound knows of it."""
    for seed in range(3):
        instance = bursty(300, seed=seed, wait_price=0.05)
        outcome = found(instance, moves=2_000)
        assert verify(instance, outcome.solution) < 1.1 * outcome.bound


def test_same_seed_same_schedule():
    instance = mms(60, seed=4, max_wait_h=0.5, wait_price=0.05)
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
