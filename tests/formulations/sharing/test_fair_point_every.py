"""The policy that measures shares against the exact fair point."""

import numpy as np
import pytest

from schedgap.formulations.sharing.interval_bound import fair_point_every
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.method import Status
from schedgap.instances.sharing.generators import micro, random_jobs
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.snapshot import as_users
from schedgap.instances.sharing.verify import verify


def shares_at(instance, schedule, ms):
    """Return the progress shares of the micro-benchmark's jobs at a moment: performance that runs over 150."""
    end = schedule.start_ms + instance.duration_ms(np.arange(4000), instance.machine2class()[schedule.machine])
    runs = (schedule.start_ms <= ms) & (end > ms)
    speed = instance.performance[0][instance.machine2class()[schedule.machine]]
    return np.bincount(instance.task2job()[runs], weights=speed[runs], minlength=4) / 150_000


def test_micro_benchmark_is_fair():
    """All four jobs have a quarter of the cluster, but for the last task or two of each."""
    instance = micro()
    outcome = fair_point_every(instance)
    assert outcome.details["fair_points"] == 11
    for ms in (10_000, 20_000, 30_000):
        assert shares_at(instance, outcome.solution, ms) == pytest.approx([0.25] * 4, abs=0.02)
    assert verify(instance, outcome.solution) <= 4 * 56_000


def test_equal_jobs_that_fit_are_served_as_by_progress_shares():
    """Without constraints all fair shares are equal, so the order is that of the shares themselves."""
    instance = micro(constraint=False)
    simulator = Simulator(instance)
    simulator.set_keys(instance.performance)
    simulator.run()
    found = fair_point_every(instance, every_s=1000.0)
    assert np.array_equal(found.solution.start_ms, simulator.schedule().start_ms)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_comes_is_scheduled(seed):
    instance = random_jobs(5, seed=seed, own_performance=seed % 2 == 0)
    for every_s in (0.5, 3.0):
        outcome = fair_point_every(instance, every_s=every_s)
        verify(instance, outcome.solution)
        assert outcome.details["fair_points"] >= 1


@pytest.mark.parametrize("seed", range(6))
def test_sees_no_future(seed):
    """Until the last job arrives, it makes no difference what that is or how long running tasks will take."""
    instance = random_jobs(6, seed=seed, most_tasks=4)
    other_work = instance.work_ms.copy()
    other_work[instance.first_task[-2] :] += 7000
    other = instance.replace(work_ms=other_work)
    last = instance.arrival_ms[-1]
    first, second = (fair_point_every(each, every_s=2.0).solution for each in (instance, other))
    early = (first.start_ms < last) | (second.start_ms < last)
    assert np.array_equal(first.start_ms[early], second.start_ms[early])
    assert np.array_equal(first.machine[early], second.machine[early])


def test_without_time_there_is_no_solution():
    outcome = fair_point_every(micro(), time_limit_s=0.0)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)


def test_seconds_must_be_positive():
    for every_s in (0.0, 0.0009, float("nan"), float("inf"), 1e16):
        with pytest.raises(MethodError, match=r"every_s is \S+; give 0\.001 to 4\.5e\+12 seconds\."):
            fair_point_every(micro(), every_s=every_s)


def test_before_the_first_fair_point_the_lowest_share_is_served():
    # All arrive at 1 s, and the fair point comes when all is over.
    for seed in range(5):
        instance = random_jobs(4, seed=seed, most_tasks=6)
        instance = instance.replace(arrival_ms=np.full(4, 1000))
        found = fair_point_every(instance, every_s=1000.0).solution
        users = as_users(instance, np.arange(4), np.diff(instance.first_task))
        simulator = Simulator(instance)
        simulator.set_keys(*value_and_scale(users))
        simulator.run()
        assert found is not None
        assert found.start_ms.tolist() == simulator.schedule().start_ms.tolist()
        assert found.machine.tolist() == simulator.schedule().machine.tolist()
