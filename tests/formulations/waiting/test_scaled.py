"""The view of the bounds: units, longest waits, and jobs that must rent."""

import numpy as np

from schedgap.formulations.waiting.models import scale
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingSchedule, verify


def test_unit_is_the_common_divisor(random_instance):
    instance = random_instance(3).replace(
        submit_us=[0, 6 * HOUR_US],
        runtime_us=[4 * HOUR_US, 10 * HOUR_US],
        cores=[1, 1],
        memory_mib=[0, 0],
        horizon_us=20 * HOUR_US,
        max_wait_us=8 * HOUR_US,
        wait_price=0,
    )
    scaled = scale(instance)
    assert scaled.unit_us == 2 * HOUR_US
    assert scaled.submit.tolist() == [0, 3]
    assert scaled.longest.tolist() == [4, 4]
    assert scaled.objective(1) == 2


def test_waiting_pays_up_to_the_rent(random_instance):
    """A rent of 30 an hour for 2 and for 5 hours, 40 an hour for waiting: 1.5 and 3.75 hours, rounded up."""
    instance = random_instance(3).replace(
        submit_us=[0, 0],
        runtime_us=[2 * HOUR_US, 5 * HOUR_US],
        cores=[1, 1],
        memory_mib=[0, 0],
        rented_price=[30, 60, 120],
        horizon_us=7 * HOUR_US,
        max_wait_us=3 * HOUR_US,
        wait_price=40,
    )
    assert scale(instance).longest.tolist() == [2, 3]
    assert scale(instance.replace(max_wait_us=None)).longest.tolist() == [2, 4]
    assert scale(instance.replace(max_wait_us=None, wait_price=0)).longest.tolist() == [-1, -1]


def test_all_rented_is_the_schedule_that_rents(random_instance):
    for seed in range(50):
        instance = random_instance(seed)
        scaled = scale(instance)
        schedule = WaitingSchedule(0, np.full(instance.num_jobs, RENTED), instance.submit_us)
        assert scaled.objective(scaled.all_rented) == verify(instance, schedule)
