"""CP-SAT's intervals against brute force and the other exact ways."""

import numpy as np
import pytest

from schedgap.formulations.waiting.fluid_bound.bound import bound_fluid
from schedgap.formulations.waiting.interval_model import interval_model
from schedgap.formulations.waiting.no_wait import clairvoyant_no_wait
from schedgap.formulations.waiting.time_indexed import time_indexed
from schedgap.instances.method import Status
from schedgap.instances.waiting import WaitingInstance, bursty, mms, verify


def test_optimal(random_instance, optimum):
    shared = 0
    for seed in range(60):
        instance = random_instance(seed, jobs=4 if seed % 4 == 0 else 3, mixed=seed % 2 == 1)
        found = interval_model(instance)
        assert found.status is Status.OPTIMAL
        assert verify(instance, found.solution) == found.bound == optimum(instance)
        shared += found.details["slots"] == 0
    assert shared >= 3


def test_meets_the_time_indexed_program(random_instance):
    for seed in range(12):
        instance = random_instance(seed, jobs=6, mixed=seed % 2 == 1)
        assert interval_model(instance).bound == time_indexed(instance).bound


def test_meets_shortest_paths_without_waits():
    instance = mms(12, seed=2, max_wait_h=0.0, arrival_rate=0.02)
    found = interval_model(instance)
    assert found.bound == clairvoyant_no_wait(instance).bound == verify(instance, found.solution)


def test_bound_of_prices_stays_below():
    instance = bursty(8, seed=3, machine_cores=4, max_wait_h=1.0)
    found = interval_model(instance, time_limit_s=3.0)
    assert bound_fluid(instance, rounds=30).bound <= verify(instance, found.solution)


def test_no_time():
    assert interval_model(mms(5), time_limit_s=0.0).status is Status.NO_SOLUTION


HOUR_US = 3_600_000_000
LONG = {
    "submit_us": np.array([0, 1]),
    "runtime_us": np.array([1, 25 * HOUR_US + 1]),
    "memory_mib": np.array([1, 1]),
    "machine_cores": 4,
    "machine_memory_mib": 8,
    "fixed_price": 4,
    "rented_memory_mib": np.array([8]),
    "rented_price": np.array([100]),
    "horizon_us": 25 * HOUR_US + 2,
    "wait_price": 0,
}
LATE = {
    "submit_us": np.array([0, 9_122_164 * HOUR_US]),
    "runtime_us": np.array([9 * HOUR_US, 4 * HOUR_US]),
    "machine_cores": 1,
    "machine_memory_mib": 1,
    "fixed_price": 9,
    "rented_memory_mib": np.array([1]),
    "rented_price": np.array([100_000_003]),
    "horizon_us": HOUR_US,
    "wait_price": 1_000_000_007,
}


@pytest.mark.parametrize(("changes", "least"), [(LONG, 101), (LONG | LATE, 82_099_512)])
def test_long_times_and_dear_waits_are_exact(changes, least):
    """Times beyond 2^31 units multiplied, and all submissions times the price of waiting beyond 2^53."""
    one = np.array([1])
    instance = WaitingInstance(name="x", cores=np.array([1, 1]), rented_cores=one, max_wait_us=None, **changes)
    found = interval_model(instance)
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == least
