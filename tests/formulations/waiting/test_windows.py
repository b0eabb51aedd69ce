"""Windows of starts and what a schedule is made from."""

import numpy as np

from schedgap.formulations.waiting.time_indexed import schedule_of, windows
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingInstance, verify


def two_jobs(**changes):
    fields = {
        "name": "two",
        "submit_us": np.array([0, 2]) * HOUR_US,
        "runtime_us": np.array([4, 6]) * HOUR_US,
        "cores": [1, 3],
        "memory_mib": [0, 0],
        "machine_cores": 3,
        "machine_memory_mib": 1,
        "fixed_price": 20,
        "rented_cores": [4],
        "rented_memory_mib": [1],
        "rented_price": [60],
        "horizon_us": 10 * HOUR_US,
    }
    return WaitingInstance(**{**fields, **changes})


def test_latest_starts():
    """The last submission is at 2 h, all work takes 10 h: ends by 12 h, in units of 2 h."""
    assert windows(two_jobs()).latest.tolist() == [4, 3]
    assert windows(two_jobs(max_wait_us=2 * HOUR_US)).latest.tolist() == [1, 2]


def test_machines_that_renting_for_all_could_buy():
    """All rents are 600, a machine is 200."""
    found = windows(two_jobs())
    assert found.max_machines == 2
    assert windows(two_jobs(fixed_price=61)).max_machines == 0
    assert (found.step, found.price) == (20, 1)
    assert (found.rents * found.step * 2).tolist() == [240, 360]


def test_schedules():
    found = windows(two_jobs())
    schedule = schedule_of(found, np.array([False, True]), np.array([0, 2]), np.array([0, 5]))
    assert (schedule.machine.tolist(), schedule.num_machines) == ([RENTED, 0], 1)
    assert schedule.start_us.tolist() == [0, 4 * HOUR_US]
    verify(found.scaled.instance, schedule)
