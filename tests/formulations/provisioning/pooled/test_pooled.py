"""Renting for all tasks together, against the best solutions of small instances."""

import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.formulations.provisioning.pooled.packing import settled
from schedgap.formulations.provisioning.pooled.pooled import Renting, bound_pooled, pooled, supported
from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.instances.method import Status
from schedgap.instances.provisioning import ProvisioningInstance, Running, verify


@pytest.fixture
def no_contents(monkeypatch):
    """Rent for all together, even where tasks are of few kinds, or few enough to be placed one by one."""
    monkeypatch.setattr("schedgap.formulations.provisioning.pooled.pooled.FEW_KINDS", 0)
    for module in ("pooled", "packing"):
        monkeypatch.setattr(f"schedgap.formulations.provisioning.pooled.{module}.is_small", lambda _: False)


@pytest.mark.parametrize(("few_kinds", "small"), [(0, False), (0, True), (6, False)])
@pytest.mark.parametrize("seed", range(20))
def test_solutions_verify_and_claims_hold(varied_instance, monkeypatch, seed, few_kinds, small):
    monkeypatch.setattr("schedgap.formulations.provisioning.pooled.pooled.FEW_KINDS", few_kinds)
    monkeypatch.setattr("schedgap.formulations.provisioning.pooled.pooled.is_small", lambda _: small)
    instance = varied_instance(seed)
    best, found = patterns(instance).bound, pooled(instance, time_limit_s=1.0)
    cost = verify(instance, found.solution)
    assert found.bound <= best <= cost
    assert (found.status is Status.OPTIMAL) == (found.bound == cost)
    assert found.trajectory[-1].objective == cost
    assert bound_pooled(instance, time_limit_s=1.0).bound <= best


def crowded(**more):
    """Tasks of 3 on machines of 5: all together need 3 machines, one by one 5."""
    return ProvisioningInstance("crowded", ("cpu",), ("f",), ("t",), [0], [[5]], [7], [[[3]]], [5], **more)


@pytest.mark.usefixtures("no_contents")
def test_what_finds_no_room_is_rented_for_again():
    found = pooled(crowded(), time_limit_s=5.0)
    assert (verify(crowded(), found.solution), found.bound) == (35, 21)


def test_few_kinds_of_tasks_are_packed_and_bounded_by_contents_of_machines():
    found = pooled(crowded(), time_limit_s=5.0)
    assert (verify(crowded(), found.solution), found.bound, found.details["programs"]) == (35, 35, 0)


def test_machines_that_run_do_not_disturb():
    instance = crowded(running=Running.from_contents(("a", "b"), [0, 0], [[4], [1]]))
    assert verify(instance, pooled(instance, time_limit_s=5.0).solution) == 35


def test_limits_leave_the_bound_as_it_is():
    running = Running.from_contents(("a", "b"), [0, 0], [[1], [1]])
    instance = crowded(running=running, max_disruption=0, stock=[9])
    assert bound_pooled(instance, time_limit_s=5.0).bound == 21


def test_no_time_claims_nothing():
    found = pooled(crowded(), time_limit_s=0.0)
    assert (found.solution, found.status, found.bound) == (None, Status.NO_SOLUTION, 0)
    assert bound_pooled(crowded(), time_limit_s=0.0).bound == 0


def test_numbers_too_large_for_a_solver_leave_each_task_alone_or_better():
    amount = 2**53 - 1
    instance = ProvisioningInstance(
        "huge", ("ram_bytes",), ("f",), ("t", "u"), [0, 0], [[amount], [1]], [10**15, 1], [[[amount - 1], [1]]], [2, 3]
    )
    found = pooled(instance, time_limit_s=1.0)
    assert found.bound <= 2 * 10**15 + 1 <= verify(instance, found.solution) <= 2 * 10**15 + 3


@pytest.mark.usefixtures("no_contents")
def test_where_nothing_is_proven_it_ends_all_the_same():
    """Two pairs and one alone are best, and no program says so: it gives up long before a minute is over."""
    instance = ProvisioningInstance("few", ("cpu",), ("f",), ("t", "u"), [0, 0], [[5], [7]], [7, 11], [[[3]]], [5])
    found = pooled(instance, time_limit_s=60.0)
    assert verify(instance, found.solution) == 29 > found.bound
    assert found.details["programs"] < 500


def test_classes_equal_on_the_machines_that_stay_are_restored():
    demand = np.array([[[2, 2], [2, 2]], [[2, 3], [3, 2]]])
    instance = ProvisioningInstance(
        "equal", ("cpu", "gpu"), ("x", "y"), ("x1", "y1"), [0, 1], [[4, 4], [4, 4]], [4, 5], demand, [3, 3]
    )
    found = pooled(instance, time_limit_s=5.0)
    assert verify(instance, found.solution) == found.bound == 12


def test_stocks_end_and_what_is_rented_for_parts_counts():
    """Eight tasks of 3 on machines of 6: three at $4 can be had, every further one costs $7: 3 x 4 + 7 = 19."""
    instance = ProvisioningInstance(
        "stock", ("cpu",), ("f",), ("spot", "new"), [0, 0], [[6], [6]], [4, 7], [[[3]]], [8], stock=np.array([3, -1])
    )
    found = pooled(instance, time_limit_s=5.0)
    assert (verify(instance, found.solution), found.bound) == (19, 19)
    none = instance.replace(stock=np.array([3, 4]))
    assert "of which any number can be had" in supported(none)


def exchanged(instance, types, content):
    search = Renting(instance, time.perf_counter(), 60.0, 1)
    search.improve(np.array(types), np.array(content))
    search.raise_bound(patterns(instance).bound)
    search.exchange(search.start + 60.0)
    return search.objective, verify(instance, search.best)


def test_machines_are_exchanged_until_nothing_is_cheaper():
    """Four tasks of 3 and 1 are cheapest on a machine of 8 each with two of both, 2 x 10; they begin alone on 4 x 6."""
    instance = ProvisioningInstance(
        "exchange", ("cpu",), ("f",), ("t", "u"), [0, 0], [[4], [8]], [6, 10], [[[3], [1]]], [4, 4]
    )
    assert exchanged(instance, [0, 0, 0, 0], [[1, 1]] * 4) == (20, 20)


def test_no_more_machines_are_exchanged_for_than_there_are():
    """Two of three machines of 6, $7 each, could become one of 12 for $9, but one of that type is all there is: 9 + 7."""
    instance = ProvisioningInstance(
        "few", ("cpu",), ("f",), ("t", "u"), [0, 0], [[6], [12]], [7, 9], [[[3]]], [6], stock=np.array([-1, 1])
    )
    assert exchanged(instance, [0, 0, 0], [[2]] * 3) == (16, 16)


def test_whole_fleets_are_chosen_where_exchanges_end():
    """Ten of 3 and ten of 2: five machines of 10 for 11 each hold two and two, 55, where they begin at 80."""
    demand = [[[3], [2]]]
    instance = ProvisioningInstance(
        "fleet", ("cpu",), ("f",), ("t", "u"), [0, 0], [[7], [10]], [8, 11], demand, [10, 10]
    )
    search = Renting(instance, time.perf_counter(), 60.0, 1)
    search.improve(np.zeros(10, np.int64), np.array([[1, 1]] * 10))
    search.choose_fleets(Pooled(instance, by_type=True), search.start + 60.0)
    assert verify(instance, search.best) == search.objective == 55


@pytest.mark.parametrize("seed", range(10))
def test_fleets_of_small_instances_are_the_best_or_above(varied_instance, seed):
    instance = varied_instance(seed)
    types, content = patterns(instance).solution.machines(instance.num_classes)
    search = Renting(instance, time.perf_counter(), 5.0, 1)
    search.improve(types, content)
    best = search.objective
    search.choose_fleets(Pooled(instance, by_type=True), search.start + 2.0)
    assert verify(instance, search.best) == best >= search.bound


def test_by_type_no_task_counts_on_a_machine_that_it_does_not_fit():
    """Three tasks of 3 on machines of 4 for 10: by family machines of 2 for 1 hold parts of them."""
    instance = ProvisioningInstance("parts", ("cpu",), ("f",), ("s", "b"), [0, 0], [[2], [4]], [1, 10], [[[3]]], [3])
    assert Pooled(instance, by_type=False).solve(0.0, 60.0, 1).bound < 30
    assert bound_pooled(instance, time_limit_s=60.0).bound == 30


def test_pending_tasks_find_room_where_others_move():
    """Two of 2 on two machines of 4, and one of 4 that waits: no machine can be had, the two share one."""
    running = Running.from_contents(("a", "b"), [0, 0], [[1, 0], [1, 0]])
    given = ("c",), ("f",), ("t",), [0], [[4]], [7], [[[2], [4]]], [2, 1]
    instance = ProvisioningInstance("full", *given, running=running, stock=np.array([2]))
    found = settled(instance)
    assert verify(instance, found.solution) == 14
    more = ProvisioningInstance("more", *given[:-1], [2, 2], running=running, stock=np.array([2]))
    assert settled(more).claimed_status is Status.NO_SOLUTION
