"""The program over intervals: below every schedule, above the cheap bounds."""

import numpy as np
import pytest

from schedgap.formulations.sharing.interval_bound import _half_s, bound_intervals, interval_model, program
from schedgap.formulations.sharing.work_bound import bound_work
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status
from schedgap.instances.sharing.generators import macro, micro, random_jobs
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.verify import verify


@pytest.mark.parametrize("seed", range(15))
def test_below_the_optimum_of_brute_force(seed, optimum, tiny_instance):
    instance = tiny_instance(seed)
    for intervals in (1, 7, 40):
        bound = bound_intervals(instance, intervals=intervals).bound
        assert bound_work(instance).bound <= bound <= optimum(instance)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("own", [False, True])
def test_below_the_exact_model(seed, own):
    instance = random_jobs(4, seed=seed, most_tasks=2, own_performance=own)
    assert bound_intervals(instance).bound <= interval_model(instance).bound


def test_finds_more_than_the_cheap_bounds():
    """Job 4 of the micro-benchmark needs a third of the time on its own machines alone; by arrival all take 155.4 s."""
    instance = micro()
    simulator = Simulator(instance)
    simulator.run()
    outcome = bound_intervals(instance)
    assert outcome.details["cheap_bound_s"] == 133.334
    assert 141_000 < outcome.bound <= verify(instance, simulator.schedule())
    assert outcome.status is Status.NO_SOLUTION


def test_half_of_the_time(make):
    """From the mean moment of the work to the end, by hand, works in milliseconds.

    One task of 6 on speeds 1 and 2: 3 and 1.5. Tasks of 4 and 2: 6 / (2 (1 + 2)) = 1 or 20 / (2 x 2 x 6) = 5 / 6.
    Tasks of 9 and 1: 10 / 6 = 5 / 3, or 82 / (2 x 2 x 10) = 2.05.
    """
    half = _half_s(make([[6], [4, 2], [9, 1]], count=[1, 1], speed=[1, 2])) * 1000
    assert half.tolist() == [[3, 1.5], [1, 1], [2.05, 2.05]]


def test_size_of_the_program(make):
    """Two jobs, the second arrives when the first of 2 intervals is over; the last interval has no end."""
    instance = make([[4], [4]], arrival=np.array([0, 6]))
    # By arrival the second one ends at 10: intervals from 0, 5 and 10, the first of which is over when it arrives.
    model = program(instance, 2)
    assert model.matrix.shape[1] == 3 + 2 + 2
    # done, capacity of two intervals, tasks of (job 0, 0), (job 0, 1) and (job 1, 1), delay
    assert model.matrix.shape[0] == 2 + 2 + 3 + 2


def test_a_job_that_arrives_where_an_interval_begins(make):
    """Of 200 intervals of 4.44 ms the 151st begins at 666 ms, in floats a rounding after it."""
    instance = make([[37], [222]], arrival=np.array([0, 666]))
    assert np.abs(program(instance, 200).matrix.data).max() <= 222
    assert bound_intervals(instance).bound == 37 + 222


def test_without_time_the_cheap_bound_is_left():
    instance = micro()
    assert bound_intervals(instance, time_limit_s=0.0).bound == bound_work(instance, time_limit_s=0.0).bound


def test_where_the_solver_has_no_answer_the_cheap_bound_is_left_with_a_reason(make):
    """Times of 2^45 ms: HiGHS ends without a status."""
    work = 2**45
    instance = make([[work, 2 * work], [work], [work, work]]).replace(
        notion="drf",
        resources=("cpu", "ram_gib"),
        capacity=[[4, 2]],
        demand=[[4, 0], [4, 0], [1, 1]],
        weight=[1000, 1000, 1000],
    )
    found = bound_intervals(instance, time_limit_s=5.0)
    assert found.bound == bound_work(instance).bound
    assert "HiGHS" in found.details["reason"]


def test_many_jobs_are_unsupported():
    outcome = bound_intervals(macro())
    assert outcome.status is Status.UNSUPPORTED
    assert "use bound-work" in outcome.details["reason"]


def test_intervals_must_be_positive():
    with pytest.raises(MethodError, match="intervals is 0; give at least 1"):
        bound_intervals(micro(), intervals=0)
