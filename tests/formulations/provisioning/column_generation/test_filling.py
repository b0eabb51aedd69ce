from math import inf

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.filling import LAST, Completing, Filling
from schedgap.formulations.provisioning.column_generation.relaxation import group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
from schedgap.instances.provisioning import ProvisioningInstance
from schedgap.instances.provisioning.generators import distinct
from schedgap.instances.provisioning.verify import cost, verify

FAR = 10**15


def resources_of(instance):
    resources = ResourceRelaxation(instance, group_weights(instance))
    resources.solve(None)
    return resources


def filling_of(instance):
    return Filling(resources_of(instance))


def test_distinct_tasks_come_near_the_bound():
    instance = distinct(60, seed=7)
    filling = filling_of(instance)
    filling.climb(inf, FAR)
    assert filling.tree.is_stuck and filling.is_ready(FAR)
    objective = 2 * filling.bound
    for _ in range(30):
        found = filling.step(filling.bound, objective, inf)
        if found is not None:
            assert filling.bound <= verify(instance, found) < objective
            objective = cost(instance, found)
    assert objective < 1.01 * filling.bound


def test_a_solution_costs_less_than_was_asked(random_instance, optimum):
    number = 0
    for seed in range(15):
        instance = random_instance(seed)
        best = optimum(instance)
        filling = filling_of(instance)
        filling.climb(inf, best + 1)
        assert filling.bound is None or filling.bound <= best
        for _ in range(5 * filling.is_ready(best + 1)):
            found = filling.step(filling.bound or best, best + 1, inf)
            assert found is None or verify(instance, found) == best
            number += found is not None
    assert number > 5


def test_no_machines_below_the_bound():
    filling = filling_of(distinct(20, seed=7))
    filling.climb(inf, FAR)
    assert not filling.is_ready(filling.bound)


def test_the_price_asked_falls_after_a_gain_and_runs_grow_in_vain():
    instance = distinct(20, seed=7)
    filling = filling_of(instance)
    filling.climb(inf, FAR)
    share, moves = filling.share, filling.moves
    assert filling.step(filling.bound, 3 * filling.bound, inf) is not None
    assert (filling.share < share, filling.moves) == (True, moves)
    # No machines cost so little and hold everything: the bound's own are asked for.
    share = filling.share
    least = min(int(number @ instance.price) for number in filling.fleets)
    assert filling.step(filling.bound, least + 1, inf) is None
    assert filling.share > share and filling.moves > moves


def test_further_nodes_bring_other_machines():
    filling = filling_of(distinct(100, seed=3))
    filling.climb(inf, FAR, further=0)
    few = len(filling.fleets)
    filling.climb(inf, FAR, further=200)
    assert len(filling.fleets) > few
    assert len({tuple(number) for number in filling.fleets}) == len(filling.fleets)


def test_of_very_many_tasks_there_is_the_bound_only():
    instance = distinct(8, seed=7)
    many = instance.replace(counts=np.full(8, 1_000_000), task2class=None, task_names=None)
    filling = filling_of(many)
    filling.climb(inf, FAR)
    assert filling.bound > 900_000 * int(instance.reservation_price.min())
    assert not filling.is_ready(FAR)


def test_tasks_begin_on_machines_that_they_fit():
    instance = distinct(50, seed=2)
    filling = filling_of(instance)
    number = np.arange(instance.num_types)[::-1].copy()
    types = np.repeat(np.arange(instance.num_types), number)
    machine = filling._spread(number, np.arange(50))
    assert instance.fits()[types[machine], np.arange(50)].all()
    # The smallest type alone has no room for the larger tasks.
    smallest = (number == number.max()).astype(np.int64)
    assert filling._spread(smallest, np.arange(50)) is None
    # Tasks that are placed already do not matter.
    small = np.flatnonzero(instance.fits()[int(np.argmax(smallest))])
    assert filling._spread(smallest, small).tolist() == [0] * small.size


def test_small_machines_are_joined():
    instance = distinct(50, seed=2)
    filling = filling_of(instance)
    name = instance.type_names.index
    number = np.zeros(instance.num_types, np.int64)
    # 2 x 4 + 8 + 16 units are 32: pairs of one type, then two types that make a third.
    number[[name("c7i.2xlarge"), name("c7i.4xlarge"), name("c7i.8xlarge")]] = 2, 1, 1
    joined = filling._enlarged(number, int(number @ instance.price))
    assert joined[name("c7i.16xlarge")] == joined.sum() == 1
    assert joined @ instance.price == number @ instance.price


def test_machines_hold_no_more_of_a_class_than_may_share_one():
    """Four machines, all by annealing, and five, of which one is filled first; each is full with one task of each class."""
    for machines in (4, 5):
        instance = ProvisioningInstance(
            name="apart",
            resources=("cpu",),
            families=("x",),
            type_names=("m",),
            type2family=[0],
            capacity=[[9]],
            price=[7],
            demand=[[[1], [2], [1], [2], [1], [2]]],
            counts=np.full(6, machines),
            per_machine=np.full(6, 1),
        )
        found = filling_of(instance)._filled(np.array([machines]), inf)
        assert verify(instance, found) <= 7 * machines
        crowded = filling_of(instance.replace(per_machine=None))._filled(np.array([machines]), inf)
        assert crowded.count.max() > 1


def completing_of(resources, seed=1):
    return Completing(resources, np.random.default_rng(seed), np.array([seed], np.uint64))


@pytest.fixture(scope="module")
def case():
    """Return resources of 120 tasks and machines that the bound leaves."""
    resources = resources_of(distinct(120, seed=5))
    filling = Filling(resources)
    filling.climb(inf, FAR)
    return resources, max(filling.fleets, key=lambda number: int(number @ resources.instance.price))


def test_patterns_fit_and_all_tasks_are_there_once(case):
    resources, number = case
    instance = resources.instance
    done = next(done for seed in range(1, 30) if (done := completing_of(resources, seed).fill(number, inf)))
    assert done.number.sum() == LAST
    assert (np.bincount(done.types, minlength=instance.num_types) + done.number == number).all()
    assert (done.pattern.sum(axis=0) + done.counts == instance.counts).all()
    for k, pattern in zip(done.types, done.pattern, strict=True):
        demand = instance.demand[instance.type2family[k]]
        assert (demand[pattern > 0] >= 0).all()
        assert (pattern @ demand <= instance.capacity[k]).all()
    # What is left still does, as a fluid; of the room that there was, the machines that are filled took little.
    first, last = resources.needed(instance.counts, number, None), resources.needed(done.counts, done.number, None)
    room = (number @ instance.price / 1e6 - first.price, done.number @ instance.price / 1e6 - last.price)
    # Some $2 of $6, of machines for $218, most of it on small ones.
    assert 0 <= room[1] <= room[0]
    assert room[0] - room[1] < 0.015 * instance.price[done.types].sum() / 1e6


def test_machines_that_cannot_do_are_not_filled(case):
    resources, number = case
    fewer = number.copy()
    fewer[np.argmax(number * resources.instance.price)] -= 1
    assert completing_of(resources).fill(fewer, inf) is None


def test_nothing_is_filled_after_the_deadline(case):
    resources, number = case
    assert completing_of(resources).fill(number, 0.0) is None


def test_tasks_that_ask_for_nothing_need_no_machines(snapshot):
    instance = snapshot([[4000]], [1_000_000], [[[0]]], [3])
    done = completing_of(resources_of(instance)).fill(np.array([0]), inf)
    assert (done.types.size, done.counts.tolist()) == (0, [3])


def test_equal_tasks_are_taken_from_their_class(snapshot):
    # Machines of 4 cores and tasks of 1 and 2 cores: 10 + 2 x 9 = 28 cores, seven machines, all full.
    instance = snapshot([[4000]], [1_000_000], [[[1000], [2000]]], [10, 9])
    done = completing_of(resources_of(instance)).fill(np.array([7]), inf)
    assert (done.pattern @ [1, 2] == 4).all()
    assert (done.counts @ [1, 2], done.number[0], done.types.shape) == (4 * LAST, LAST, (7 - LAST,))
