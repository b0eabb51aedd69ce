"""The program against arithmetic, policies and random schedules."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.clairvoyant_program.method import (
    MAX_PLACEMENTS,
    clairvoyant_program,
    too_large,
)
from schedgap.heuristics.reconfiguration import (  # noqa: F401
    eva,
    lookahead,
    rules,
)
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status, find_method
from schedgap.instances.reconfiguration import eva_synthetic
from schedgap.instances.reconfiguration.model import FAMILY
from schedgap.instances.reconfiguration.verify import verify
from tests.oracles.reconfiguration import cheapest

POLICIES = ("no-packing", "eva", "lookahead")


def proves(instance, cost):
    outcome = clairvoyant_program(instance)
    assert verify(instance, outcome.solution) == outcome.bound == cost
    assert outcome.status is Status.OPTIMAL
    return outcome.solution


def two_sizes(instance):
    """The same jobs, with a machine of half the size for 60 % of the price."""
    catalogue = instance.catalogue.replace(
        type_names=("two", "one"), type2family=[0, 0], capacity=[[2000], [1000]], price=[3600, 2160]
    )
    return instance.replace(catalogue=catalogue, acquire_s=[0, 0], setup_s=[0, 0])


def test_one_job_pays_whole_periods(plain):
    # 120 s of work need the plans of 0, 50 and 100 s.
    proves(plain((120,)), 150)
    # A job that ends at a plan need not be in it.
    proves(plain((100,)), 100)


def test_delays_count(plain):
    # Setup 20, fetch 5, image 3, start-up 2: work ends at second 70, in the second plan; 100 s and termination.
    proves(plain((40,), setup_s=[20], fetch_s=[5], build_s=[3], init_s=[2], terminate_s=4), 104)


def test_two_jobs_share(plain):
    assert proves(plain((200, 100)), 200).num_machines == 1


def test_a_job_moves_to_a_smaller_machine(plain):
    # Both on the larger until second 100, then 200 s on the smaller at 0.6: 100 + 120, and 5 s more of the larger for the
    # kill and the upload. Without the move it is 300. The work of 280 s leaves room for the delays.
    instance = two_sizes(plain((280, 100), kill_s=[2], upload_s=[3], fetch_s=[0], init_s=[0]))
    schedule = proves(instance, 225)
    assert schedule.move_s.max() == 100


def test_renting_ahead_is_paid(plain):
    # From the plan at 100 s it sets up until 140 and works until 340; ahead, from 50 s on, it would work until 300.
    proves(plain((200,), setup_s=[40], arrival_s=[60]), 250)


def test_one_task_of_a_workload_builds_its_image(plain):
    # Machines of 3 CPU: all three begin at 10; fetched and built at 15, the first job progresses, the others do from 12.
    # Works of 4, 8 and 3 s end by 20. Were all to build, that of 8 s would end at 23, in a second plan.
    instance = plain((4, 8, 3), arrival_s=[2, 3, 9], fetch_s=[2], build_s=[3], period_s=10)
    catalogue = instance.catalogue.replace(capacity=[[3000]])
    proves(instance.replace(catalogue=catalogue), 10)
    # Alone, it builds.
    proves(plain((8,), fetch_s=[2], build_s=[3], period_s=10), 20)


# The least cost of all schedules of some random instances whose jobs share images.
LEAST = {
    4: 40,
    6: 20,
    9: 40,
    11: 20,
    12: 15,
    14: 20,
    16: 43,
    17: 20,
    18: 10,
    20: 10,
    21: 30,
    22: 30,
    23: 30,
    24: 10,
    25: 15,
    26: 10,
    27: 30,
    28: 44,
    30: 15,
    31: 20,
    34: 15,
    35: 10,
    37: 20,
    38: 10,
    41: 20,
    42: 30,
    45: 30,
    47: 20,
    48: 15,
    49: 10,
    51: 20,
    54: 10,
    56: 20,
    57: 20,
    59: 20,
}


@pytest.mark.parametrize("seed", LEAST)
def test_no_bound_is_above_the_optimum_where_jobs_share_images(plain, seed):
    rng = np.random.default_rng(seed)
    jobs, period = int(rng.integers(2, 4)), int(rng.choice([5, 10]))
    delays = {f"{key}_s": rng.integers(0, 3, 1) for key in ("fetch", "kill", "upload", "init")}
    instance = plain(
        rng.integers(1, period, jobs),
        arrival_s=np.sort(rng.integers(0, period, jobs)),
        build_s=rng.integers(1, period, 1),
        setup_s=[rng.choice([0, 2, period + 3])],
        period_s=period,
        **delays,
    )
    instance = instance.replace(catalogue=instance.catalogue.replace(capacity=[[int(rng.integers(2, 4)) * 1000]]))
    assert too_large(instance) is None
    # One more: a search that finds nothing below its limit returns the limit.
    assert clairvoyant_program(instance, time_limit_s=1.0).bound <= LEAST[seed] == cheapest(instance, LEAST[seed] + 1)


@pytest.mark.parametrize("seed", range(14))
def test_no_schedule_is_cheaper(seed, oddities, wander):
    try:
        instance = oddities(seed)
    except InstanceError:
        pytest.skip("a class fits no type")
    if too_large(instance):
        pytest.skip("the program does not take it")
    outcome = clairvoyant_program(instance, time_limit_s=1.0)
    costs = wander(instance, 40, seed) + policy_costs(instance)
    if outcome.solution is not None:
        costs.append(verify(instance, outcome.solution))
    # On a busy machine the second may be over before anything is proven.
    assert 0 <= outcome.bound <= min(costs)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_no_policy_is_cheaper(jobs):
    instance = eva_synthetic(
        jobs, seed=jobs, mean_gap_s=400.0, min_hours=0.1, max_hours=0.4, interference="none", tasks_per_job=1
    )
    outcome = clairvoyant_program(instance, time_limit_s=2.0)
    assert 0 < outcome.bound <= min(policy_costs(instance))


def policy_costs(instance):
    return [verify(instance, find_method(FAMILY, name).run(instance).solution) for name in POLICIES]


def test_large_instances_are_refused(plain):
    reason = too_large(plain((100,) * 40))
    assert reason is not None
    assert str(MAX_PLACEMENTS) in reason


def test_long_acquisitions_are_refused(plain):
    assert too_large(plain((100,), acquire_s=[50])) is None
    assert "two takes 51 s to acquire" in too_large(plain((100,), acquire_s=[51]))


def test_no_time_gives_no_solution(plain):
    outcome = clairvoyant_program(plain((100, 100)), time_limit_s=0.0)
    assert outcome.solution is None
    assert outcome.status is Status.NO_SOLUTION
    assert outcome.bound == 0


def test_equal_runs_give_equal_schedules(plain):
    instance = two_sizes(plain((280, 100)))
    one, two = (clairvoyant_program(instance).solution for _ in range(2))
    for key in ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine"):
        assert np.array_equal(getattr(one, key), getattr(two, key))


def test_a_stock_of_the_smaller_machine(plain):
    # Unlimited, each has a smaller machine of its own: 0.6 a second. With one of them, the other is on the larger.
    instance = two_sizes(plain((100, 100)))
    cheap = instance.catalogue.replace(price=[3600, 1080])
    proves(instance.replace(catalogue=cheap), 60)
    proves(instance.replace(catalogue=cheap.replace(stock=[-1, 1])), 100)


def test_stocks_only_make_it_dearer(plain):
    instance = two_sizes(plain((100, 100, 100), arrival_s=[0, 50, 50]))
    limited = instance.replace(catalogue=instance.catalogue.replace(stock=[1, 1]), terminate_s=1)
    assert clairvoyant_program(limited).bound >= clairvoyant_program(instance.replace(terminate_s=1)).bound
    verify(limited, clairvoyant_program(limited).solution)


def test_without_machines_there_is_no_solution(plain):
    instance = plain((100,))
    outcome = clairvoyant_program(instance.replace(catalogue=instance.catalogue.replace(stock=[0])))
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)


def test_jobs_that_hold_each_other_up_for_ever_give_no_solution(plain):
    instance = two_sizes(plain((100, 100)))
    apart = {"workloads": ("w",), "class2workload": [0] * instance.catalogue.num_classes, "throughput": [[0]]}
    catalogue = instance.catalogue.replace(**apart)
    outcome = clairvoyant_program(instance.replace(catalogue=catalogue))
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)
    assert outcome.bound > 0
