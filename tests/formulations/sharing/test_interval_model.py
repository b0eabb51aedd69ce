"""The exact model against brute force, bounds and policies."""

import numpy as np
import pytest

from schedgap.formulations.sharing.interval_bound import has_many_choices, interval_model
from schedgap.formulations.sharing.work_bound import bound_alone, bound_work
from schedgap.instances.method import Status
from schedgap.instances.sharing.generators import micro, random_jobs
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.verify import verify


@pytest.mark.parametrize("seed", range(25))
def test_is_the_optimum_of_brute_force(seed, optimum, tiny_instance):
    instance = tiny_instance(seed)
    best = optimum(instance)
    outcome = interval_model(instance)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, best)
    assert verify(instance, outcome.solution) == best
    assert bound_alone(instance).bound <= bound_work(instance).bound <= best


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("own", [False, True])
def test_between_bounds_and_policies(seed, own):
    instance = random_jobs(4, seed=seed, most_tasks=2, own_performance=own)
    outcome = interval_model(instance, time_limit_s=20)
    assert outcome.status is Status.OPTIMAL
    best = verify(instance, outcome.solution)
    assert bound_alone(instance).bound <= bound_work(instance).bound <= outcome.bound == best
    for nodes in ("index", "fastest"):
        for gain in (0, instance.performance):
            simulator = Simulator(instance, nodes=nodes)
            simulator.set_keys(gain)
            simulator.run()
            assert verify(instance, simulator.schedule()) >= best


def test_without_time_there_is_no_solution():
    assert interval_model(micro(tasks=1), time_limit_s=0.0).status is Status.NO_SOLUTION


def test_a_limit_leaves_a_schedule_and_a_bound():
    instance = micro(tasks=40)
    outcome = interval_model(instance, time_limit_s=1.0)
    assert outcome.bound >= bound_work(instance).bound
    assert outcome.solution is None or verify(instance, outcome.solution) >= outcome.bound


def test_large_instances_are_unsupported():
    assert "use bound-work" in has_many_choices(micro(tasks=2000))
    assert has_many_choices(micro(tasks=40)) is None


def test_equal_tasks_on_merged_machines():
    """Micro with one task a job: all on the fastest, 667 ms each."""
    instance = micro(tasks=1)
    outcome = interval_model(instance)
    assert outcome.bound == verify(instance, outcome.solution) == 4 * 667
    assert (instance.machine2class()[outcome.solution.machine] == 3).all()
    assert np.array_equal(outcome.solution.start_ms, np.zeros(4))


@pytest.mark.parametrize("seed", range(4))
def test_arrivals_thirty_years_later_change_nothing(seed):
    """With ends near 10^12 ms CP-SAT called one optimal that was a millisecond above another."""
    instance = random_jobs(3, seed=seed)
    late = instance.replace(arrival_ms=instance.arrival_ms + 10**12)
    first, second = interval_model(instance), interval_model(late)
    assert (second.status, second.bound) == (first.status, first.bound)
    assert verify(late, second.solution) == verify(instance, first.solution)
