"""When a machine is slots, and colouring."""

import numpy as np
import pytest

from schedgap.formulations.waiting.time_indexed import schedule_in_slots, slots_per_machine
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingInstance, verify


def jobs_of(cores, memory, machine_cores=4, machine_memory=8):
    count = len(cores)
    return WaitingInstance(
        name="slots",
        submit_us=np.arange(count) * HOUR_US,
        runtime_us=np.full(count, 2 * HOUR_US),
        cores=cores,
        memory_mib=memory,
        machine_cores=machine_cores,
        machine_memory_mib=machine_memory,
        fixed_price=10,
        rented_cores=[8],
        rented_memory_mib=[64],
        rented_price=[30],
        horizon_us=10 * HOUR_US,
    )


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [
        ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0], 4),
        ([2, 2, 2], [1, 1, 1], 2),
        ([3, 4, 3], [0, 0, 0], 1),
        ([1, 1, 1], [5, 5, 8], 1),
        ([1, 1], [0, 0], 2),
        ([1, 2, 2], [0, 0, 0], 2),
        ([1, 2, 3], [0, 0, 0], None),
        ([1, 3, 4], [0, 0, 0], None),
        ([8, 1, 1, 1, 1, 1], [0] * 6, 4),
    ],
)
def test_slots(cores, memory, expected):
    assert slots_per_machine(jobs_of(cores, memory)) == expected


def test_no_job_fits():
    assert slots_per_machine(jobs_of([8], [0])) == 1


def test_colouring_takes_as_few_machines_as_overlap_asks_for():
    """Five jobs of two hours, one every hour: two at a time; slots 0 1 0 1 0, two slots a machine."""
    instance = jobs_of([2] * 5, [1] * 5)
    schedule = schedule_in_slots(instance, np.ones(5, np.bool_), instance.submit_us, 2)
    assert schedule.num_machines == 1
    verify(instance, schedule)
    single = schedule_in_slots(instance, np.array([True, True, True, False, True]), instance.submit_us, 1)
    assert single.num_machines == 2
    assert single.machine.tolist() == [0, 1, 0, RENTED, 0]
    verify(instance, single)
