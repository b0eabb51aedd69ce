import time
from math import inf

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.repacking import Repacking
from schedgap.formulations.provisioning.column_generation.resource_prices import single_resource_prices
from schedgap.instances.provisioning import Provisioning
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import verify


def each_alone(instance):
    return Provisioning.from_patterns(instance.reservation_type, instance.counts, np.eye(instance.num_classes))


def check(instance, repacking):
    assert verify(instance, repacking.solution()) == repacking.cost


@pytest.mark.parametrize("seed", range(25))
def test_it_never_costs_more_and_stays_feasible(random_instance, optimum, seed):
    instance = random_instance(seed)
    repacking = Repacking(instance, each_alone(instance), single_resource_prices(instance), seed=seed + 1)
    costs = [repacking.cost]
    for is_merging in (True, False, True):
        repacking.run(inf, is_merging=is_merging)
        check(instance, repacking)
        costs.append(repacking.cost)
    repacking.search(inf, 3)
    check(instance, repacking)
    costs.append(repacking.cost)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] >= optimum(instance)


@pytest.mark.parametrize("instance", [table7(40, seed=2), distinct(20, seed=1), table7(40, seed=4, cpu="vcpu")])
@pytest.mark.parametrize("worth", [0, 1, 400, 5000])
def test_any_duals_will_do(instance, worth):
    # From nothing to five times what a task alone costs.
    repacking = Repacking(instance, each_alone(instance), instance.reservation_price * worth)
    before = repacking.cost
    repacking.search(inf, 2)
    check(instance, repacking)
    assert repacking.cost <= before


def test_it_saves_what_a_look_at_pairs_shows(two_families):
    # a a b c c alone: $0.7 + 0.7 + 0.7 + 1 + 1. Pairs: a a on one y-small, c c on an x-large; $3.3 is the optimum.
    repacking = Repacking(two_families, each_alone(two_families), single_resource_prices(two_families))
    assert repacking.cost == 4_100_000
    repacking.search(inf, 10)
    assert repacking.cost == 3_300_000
    check(two_families, repacking)


def test_machines_taken_apart_in_vain_are_put_together_again():
    instance = distinct(20, seed=1)
    repacking = Repacking(instance, each_alone(instance), np.zeros(20, np.int64))
    costs = []
    for _ in range(12):
        repacking.search(inf, 1)
        costs.append(repacking.cost)
    check(instance, repacking)
    assert costs == sorted(costs, reverse=True)


def test_the_same_seed_gives_the_same_solution():
    instance = distinct(30, seed=3)
    found = []
    for _ in range(2):
        repacking = Repacking(instance, each_alone(instance), single_resource_prices(instance), seed=5)
        repacking.search(inf, 2)
        solution = repacking.solution()
        found.append((solution.machine_type.tolist(), solution.repeat.tolist(), solution.task_class.tolist()))
    assert found[0] == found[1]


def test_after_the_deadline_nothing_changes():
    instance = distinct(30, seed=3)
    repacking = Repacking(instance, each_alone(instance), single_resource_prices(instance))
    before = repacking.cost
    repacking.search(time.perf_counter() - 1, 5)
    repacking.run(time.perf_counter() - 1)
    assert repacking.cost == before
    check(instance, repacking)


def test_a_solution_may_name_its_tasks(two_families):
    # Tasks were given as c a b c a; the search numbers them by class.
    instance = two_families.replace(task2class=[2, 0, 1, 2, 0])
    named = Provisioning.from_tasks(instance, [0, 2, 0, 2], [0, 1, 3, 2, 1])
    assert verify(instance, named) == 3_400_000
    repacking = Repacking(instance, named, single_resource_prices(instance))
    check(instance, repacking)
    repacking.run(inf)
    check(instance, repacking)


def test_small_machines_are_joined_where_that_is_free(snapshot):
    # Four small machines are a large one in price and capacity; the large one has room for a third task of 3 cores and
    # another of 4, which pairs of small machines never see.
    instance = snapshot([[4000], [16000]], [1_000_000, 4_000_000], [[[3000]]], [5])
    repacking = Repacking(instance, each_alone(instance), single_resource_prices(instance))
    assert repacking.merges == [(0, 1, 4)]
    assert repacking.cost == 5_000_000
    repacking.run(inf)
    check(instance, repacking)
    # Five tasks of three cores share the 16 of one large machine.
    assert repacking.cost == 4_000_000


def test_machines_are_not_joined_at_a_loss_of_room(two_families):
    # x-large costs $1.9, not 2 x $1; with $2 it would replace two x-small.
    assert Repacking(two_families, each_alone(two_families), np.zeros(3, np.int64)).merges == []
    dearer = two_families.replace(price=[1_000_000, 2_000_000, 700_000])
    assert Repacking(dearer, each_alone(dearer), np.zeros(3, np.int64)).merges == [(0, 1, 2)]
    smaller = dearer.replace(capacity=two_families.capacity - np.array([[0, 0], [0, 1], [0, 0]]))
    assert Repacking(smaller, each_alone(smaller), np.zeros(3, np.int64)).merges == []


def test_no_more_of_a_class_on_a_machine_than_may_share_it():
    """From one machine a task: cheaper, and no machine has two of a limited class; without limits some has."""
    instance = table7(60, seed=4)
    counts = np.full(instance.num_classes, 3)
    instance = instance.replace(counts=counts, task2class=None, task_names=None)
    limited = instance.replace(per_machine=[1] * instance.num_classes)
    alone = Provisioning.from_patterns(instance.reservation_type, counts, np.eye(instance.num_classes, dtype=np.int64))
    fullest = []
    for each in (instance, limited):
        repacking = Repacking(each, alone, each.reservation_price * 500)
        repacking.search(time.perf_counter() + 5.0, 3)
        found = repacking.solution()
        assert verify(each, found) == repacking.cost < verify(each, alone)
        fullest.append(found.count.max())
    assert fullest[0] > fullest[1] == 1
