from itertools import product

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.kernels_repack import (
    EMPTY,
    Machines,
    repack,
    side_type,
    split_pool,
)
from schedgap.formulations.provisioning.patterns.patterns import catalogue_of


def best_split(worth, first, second, rest_first, rest_second):
    """The most worth on the first of two machines, by trying all ways; -1 if none fits."""
    best = -1
    for sides in product((True, False), repeat=len(worth)):
        on_first = np.array(sides)
        fits = (
            (first[on_first] >= 0).all()
            and (second[~on_first] >= 0).all()
            and (first[on_first].sum(axis=0) <= rest_first).all()
            and (second[~on_first].sum(axis=0) <= rest_second).all()
        )
        if fits:
            best = max(best, int(worth[on_first].sum()))
    return best


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("node_limit", [2, 10**6])
def test_a_pool_is_split_as_well_as_can_be(seed, node_limit):
    rng = np.random.default_rng(seed)
    worth, first, second = rng.integers(0, 9, 6), rng.integers(0, 5, (6, 2)), rng.integers(0, 5, (6, 2))
    first[rng.random(6) < 0.1], second[rng.random(6) < 0.1] = -1, -1
    rest_first, rest_second = rng.integers(2, 12, 2), rng.integers(2, 12, 2)
    best = best_split(worth, first, second, rest_first, rest_second)
    for least in (-1, best - 1, best):
        split, again = np.zeros(6, np.bool_), np.zeros(6, np.bool_)
        args = (worth, first, second)
        reached = split_pool(*args, rest_first.copy(), rest_second.copy(), max(least, -1), node_limit, split)
        plain = split_pool.py_func(*args, rest_first.copy(), rest_second.copy(), max(least, -1), node_limit, again)
        assert (reached, split.tolist()) == (plain, again.tolist())
        if reached > max(least, -1):
            assert worth[split].sum() == reached
            assert (first[split] >= 0).all() and (first[split].sum(axis=0) <= rest_first).all()
            assert (second[~split] >= 0).all() and (second[~split].sum(axis=0) <= rest_second).all()
        if node_limit > 100:
            assert reached == max(best, least, -1)


@pytest.mark.parametrize("seed", range(10))
def test_the_cheapest_type_for_each_side(random_instance, seed):
    instance = random_instance(seed)
    rng = np.random.default_rng(seed)
    types = catalogue_of(instance)
    load = np.zeros((len(instance.families), len(instance.resources)), np.int64)
    items = np.arange(5)
    for _ in range(10):
        task_class, split = rng.integers(0, 3, 5), rng.random(5) < 0.5
        for side in (True, False):
            classes = task_class[split == side]
            expected = EMPTY
            for k in types.by_price[::-1] if classes.size else ():
                demand = instance.demand[instance.type2family[k], classes]
                if (demand >= 0).all() and (demand.sum(axis=0) <= instance.capacity[k]).all():
                    expected = k
            assert side_type(items, split, side, task_class, types, load) == expected


@pytest.mark.parametrize("seed", range(10))
def test_repacking_moves_as_its_plain_version_does(random_instance, seed):
    """One task a machine at first; the same pairs, splits and random numbers in compiled code and in Python."""
    instance = random_instance(seed)
    task_class = np.repeat(np.arange(instance.num_classes), instance.counts)
    number = task_class.size
    alone = np.append(instance.reservation_type[task_class], EMPTY)
    types, value = catalogue_of(instance), instance.reservation_price // 2
    ways = []
    for run in (repack, repack.py_func):
        head = np.append(np.arange(number), EMPTY)
        machines = Machines(task_class, alone.copy(), head, np.full(number, EMPTY))
        state = np.array([seed + 1])
        saved = run(machines, types, value, 60, 100, state)
        ways.append((saved, state.tolist(), *(array.tolist() for array in machines)))
        left = machines.machine_type[machines.machine_type >= 0]
        assert saved == instance.price[alone[:-1]].sum() - instance.price[left].sum() >= 0
    assert ways[0] == ways[1]
