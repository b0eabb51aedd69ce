"""The time-indexed program against brute force, and what it refuses."""

import pytest

from schedgap.formulations.waiting.time_indexed import build, time_indexed
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance, mms, verify


@pytest.mark.parametrize(("backend", "seeds"), [("highs", range(40)), ("cp-sat", range(40, 55)), ("scip", range(15))])
def test_optimal(random_instance, optimum, backend, seeds):
    for seed in seeds:
        instance = random_instance(seed, mixed=seed % 2 == 1)
        found = time_indexed(instance, backend=backend)
        assert found.status is Status.OPTIMAL
        assert verify(instance, found.solution) == found.bound == optimum(instance)


def test_long_windows_are_refused():
    instance = mms(100, seed=1, max_wait_h=0.5)
    found = time_indexed(instance)
    assert found.status is Status.UNSUPPORTED
    assert "bound-fluid" in str(found.details["reason"])
    with pytest.raises(MethodError, match="bound-fluid"):
        build(instance)


def test_rows_are_for_times_at_which_jobs_may_start():
    """One job of a million units: a row that it is there once, its slot when it starts, and two of lateness."""
    instance = mms(1, seed=0).replace(submit_us=[0], runtime_us=[10**6], horizon_us=1, max_wait_us=0, fixed_price=1)
    assert build(instance).row_lower.shape == (4,)
    assert time_indexed(instance).status is Status.OPTIMAL


def test_no_time(random_instance):
    found = time_indexed(random_instance(7), time_limit_s=0.0)
    assert found.solution is None or found.status is Status.OPTIMAL


def test_no_bound_is_below_zero():
    """A billionth of all rents, 209,000 dollars, is more than the optimum: two machines for ten hours at most."""
    instance = WaitingInstance(
        "dear-rents",
        submit_us=[0] * 4,
        runtime_us=[7 * HOUR_US, HOUR_US, HOUR_US, 2 * HOUR_US],
        cores=[2, 1, 1, 2],
        memory_mib=[0, 2, 1, 2],
        machine_cores=2,
        machine_memory_mib=4,
        fixed_price=4,
        rented_cores=[4],
        rented_memory_mib=[8],
        rented_price=[19_000_000_000],
        horizon_us=2 * HOUR_US,
        max_wait_us=HOUR_US,
    )
    found = time_indexed(instance)
    assert found.bound == 0 < verify(instance, found.solution)
