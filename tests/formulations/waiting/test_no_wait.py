"""Nobody waits: the optimum against brute force and by hand."""

import numpy as np
import pytest

from schedgap.formulations.waiting.no_wait import clairvoyant_no_wait, one_kind
from schedgap.formulations.waiting.time_indexed import time_indexed
from schedgap.instances.method import Status, find_method
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingInstance, mms, verify


@pytest.mark.parametrize("single_core", [True, False])
def test_optimal(random_instance, optimum, single_core):
    tried = 0
    for seed in range(120):
        instance = random_instance(seed, single_core=single_core, wait=0, jobs=4)
        if one_kind(instance) is None:
            found, best = clairvoyant_no_wait(instance), optimum(instance)
            assert found.claimed_status is Status.OPTIMAL
            assert verify(instance, found.solution) == found.bound == best
            tried += 1
    assert tried > 60


def test_machines_of_several_slots():
    """Jobs of one core on machines of four: shortest paths and the program over all starts agree."""
    instance = mms(12, seed=5, max_wait_h=0.0, step_s=60.0).replace(
        machine_cores=4, machine_memory_mib=4 * 4096, fixed_price=150_000
    )
    found = clairvoyant_no_wait(instance)
    assert found.details["slots_per_machine"] == 4
    assert found.bound == time_indexed(instance).bound == verify(instance, found.solution)


def test_marginal_analysis_by_hand():
    """Fixed $1 an hour for 10 hours, rent $3: a machine pays from 3 1/3 hours of use on.

    Jobs of 4 hours at 0, 1 and 5: the first machine takes those at 0 and 5, 8 hours; the second would have 4 hours of
    the job at 1, and saves 12 - 10.
    """
    instance = WaitingInstance(
        name="by-hand",
        submit_us=np.array([0, 1, 5]) * HOUR_US,
        runtime_us=np.array([4, 4, 4]) * HOUR_US,
        cores=[1, 1, 1],
        memory_mib=[0, 0, 0],
        machine_cores=1,
        machine_memory_mib=1,
        fixed_price=1_000_000,
        rented_cores=[1],
        rented_memory_mib=[1],
        rented_price=[3_000_000],
        horizon_us=10 * HOUR_US,
        max_wait_us=0,
    )
    found = clairvoyant_no_wait(instance)
    assert found.bound == 20_000_000
    assert found.solution.num_machines == 2
    dearer = clairvoyant_no_wait(instance.replace(fixed_price=1_300_000))
    assert dearer.bound == 13_000_000 + 12_000_000
    assert dearer.solution.machine.tolist().count(RENTED) == 1


def test_refused_where_jobs_may_wait(random_instance):
    """What costs least if nobody waits proves nothing where waiting is allowed."""
    assert "lets jobs wait" in one_kind(random_instance(2, single_core=True, wait=HOUR_US))


def test_it_has_no_back_ends():
    """Else an audit would solve the same shortest paths twice and call it a second opinion."""
    assert find_method("waiting", "clairvoyant-no-wait").parameters == {}


def test_no_time_no_answer(random_instance):
    found = clairvoyant_no_wait(random_instance(2, single_core=True, wait=0), time_limit_s=0.0)
    assert found.solution is None and found.bound is None
