"""Nobody waits: two ways to the optimum, and brute force."""

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.waiting.no_wait import build, clairvoyant_no_wait, clairvoyant_no_wait_program, one_kind
from schedgap.instances.errors import MethodError
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


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_integer_program_meets_shortest_paths(random_instance, backend):
    for seed in range(25):
        instance = random_instance(seed, single_core=True, wait=0, jobs=12)
        assert clairvoyant_no_wait_program(instance, backend=backend).bound == clairvoyant_no_wait(instance).bound


def test_machines_of_several_slots():
    """Jobs of one core on machines of four: the program and shortest paths agree."""
    instance = mms(120, seed=5, max_wait_h=0.0).replace(
        machine_cores=4, machine_memory_mib=4 * 4096, fixed_price=150_000
    )
    found = clairvoyant_no_wait(instance)
    assert found.details["slots_per_machine"] == 4
    assert found.bound == clairvoyant_no_wait_program(instance).bound == verify(instance, found.solution)


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


def test_only_the_program_has_back_ends(random_instance):
    """Else an audit would solve the same shortest paths twice and call it a second opinion."""
    assert find_method("waiting", "clairvoyant-no-wait").parameters == {}
    assert find_method("waiting", "clairvoyant-no-wait-program").parameters == {"backend": "highs"}
    instance = random_instance(2, single_core=True, wait=0)
    assert clairvoyant_no_wait(instance).backend is None
    assert clairvoyant_no_wait_program(instance, backend="scip").backend == "scip"


@pytest.mark.parametrize("way", [clairvoyant_no_wait, clairvoyant_no_wait_program])
def test_no_time_no_answer(random_instance, way):
    found = way(random_instance(2, single_core=True, wait=0), time_limit_s=0.0)
    assert found.solution is None and found.bound is None


def test_costs_beyond_the_arithmetic_of_solvers_are_told():
    instance = mms(2, seed=1, max_wait_h=0.0).replace(
        submit_us=[1_800_000_000] * 2,
        runtime_us=[5_400_000_000, 75 * HOUR_US],
        fixed_price=40,
        rented_price=[100],
        horizon_us=1,
    )
    found = clairvoyant_no_wait_program(instance)
    assert found.solution is None and "arithmetic" in found.details["reason"]
    assert clairvoyant_no_wait(instance).status is Status.OPTIMAL


def test_exports_its_program():
    instance = mms(30, seed=1, max_wait_h=0.0)
    model = build(instance)
    assert solve(model).status is Status.OPTIMAL
    with pytest.raises(MethodError, match="none that fits"):
        build(instance.replace(cores=np.full(30, 2)))
