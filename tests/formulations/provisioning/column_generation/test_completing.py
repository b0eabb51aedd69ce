from math import inf

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.completing import LAST, Completing
from schedgap.formulations.provisioning.column_generation.filling import Filling
from schedgap.formulations.provisioning.column_generation.relaxation import group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
from schedgap.instances.provisioning.generators import distinct

FAR = 10**15


def resources_of(instance):
    resources = ResourceRelaxation(instance, group_weights(instance))
    resources.solve(None)
    return resources


def completing_of(resources, seed=1):
    return Completing(resources, np.random.default_rng(seed), np.array([seed], np.uint64))


@pytest.fixture(scope="module")
def case():
    """Return resources of 120 tasks and machines that the bound leaves."""
    resources = resources_of(distinct(120, seed=5))
    filling = Filling(resources)
    filling.climb(inf, FAR)
    return resources, max(filling.fleets, key=lambda number: int(number @ resources.instance.price))


def test_contents_fit_and_all_tasks_are_there_once(case):
    resources, number = case
    instance = resources.instance
    done = next(done for seed in range(1, 30) if (done := completing_of(resources, seed).fill(number, inf)))
    assert done.number.sum() == LAST
    assert (np.bincount(done.types, minlength=instance.num_types) + done.number == number).all()
    assert (done.content.sum(axis=0) + done.counts == instance.counts).all()
    for k, content in zip(done.types, done.content, strict=True):
        demand = instance.demand[instance.type2family[k]]
        assert (demand[content > 0] >= 0).all()
        assert (content @ demand <= instance.capacity[k]).all()
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
    assert (done.content @ [1, 2] == 4).all()
    assert (done.counts @ [1, 2], done.number[0], done.types.shape) == (4 * LAST, LAST, (7 - LAST,))
