import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.kernels_patterns import (
    is_within,
    keep_patterns,
    most_copies,
    splits_in_two,
)
from schedgap.formulations.provisioning.patterns.patterns import (
    ALL_SPLIT_NODES,
    SPLIT_NODES,
    _type_pairs,
    catalogue_of,
    enumerate_patterns,
)


def holds(pattern, demand, capacity):
    """Whether a machine holds a pattern."""
    used = pattern > 0
    return (demand[used] >= 0).all() and (pattern[used] @ demand[used] <= capacity).all()


def splits(pattern, demand_a, demand_b, capacity_a, capacity_b):
    """Whether some part of a pattern fits one machine and the rest the other."""
    parts = (np.array(part) for part in itertools.product(*[range(n + 1) for n in pattern]))
    return any(holds(part, demand_a, capacity_a) and holds(pattern - part, demand_b, capacity_b) for part in parts)


def drawn(seed):
    rng = np.random.default_rng(seed)
    demand_a, demand_b = rng.integers(0, 6, (2, 4, 2))
    demand_a[rng.random(4) < 0.2] = -1
    demand_b[rng.random(4) < 0.2] = -1
    capacity_a, capacity_b = rng.integers(0, 14, (2, 2))
    return rng.integers(0, 4, 4), demand_a, demand_b, capacity_a, capacity_b


def kept(instance, every, order, split_nodes=SPLIT_NODES, all_nodes=ALL_SPLIT_NODES):
    pairs, pair_indptr = _type_pairs(instance)
    keep = np.zeros(every.size, np.bool_)
    number = keep_patterns(
        every.patterns[order],
        every.machine_type[order],
        catalogue_of(instance),
        pairs,
        pair_indptr,
        split_nodes,
        all_nodes,
        keep,
    )
    assert number == keep.sum()
    back = np.zeros_like(keep)
    back[order] = keep
    return back


def test_what_fits_two_machines_is_within_both():
    found = 0
    for seed in range(300):
        pattern, *rest = drawn(seed)
        expected = splits(pattern, *rest)
        assert (splits_in_two(pattern, *rest, 10_000) > 0) == expected
        assert is_within(pattern, *rest) or not expected
        found += expected
    assert 50 < found < 250


def test_within_takes_each_task_where_it_needs_less():
    one, capacity = np.array([2]), np.array([3])
    # Two tasks of 3 or 4: 6 of the 3 + 3 there are.
    assert is_within(one, np.array([[3]]), np.array([[4]]), capacity, capacity)
    assert not is_within(one, np.array([[4]]), np.array([[4]]), capacity, capacity)
    # Where a class may not run it needs nothing, but that is no place for it.
    assert not is_within(one, np.array([[-1]]), np.array([[4]]), capacity, capacity)
    assert is_within(np.array([0]), np.array([[9]]), np.array([[9]]), capacity, capacity)


def test_a_search_that_is_too_long_is_given_up():
    pattern, demand, capacity = np.array([3, 3, 3]), np.array([[3], [4], [5]]), np.array([18])
    assert splits_in_two(pattern, demand, demand, capacity, capacity, 1) == -2
    nodes = splits_in_two(pattern, demand, demand, capacity, capacity, 10_000)
    assert nodes > 1
    assert splits_in_two(pattern, demand, demand, capacity, capacity, nodes) == nodes


@pytest.mark.parametrize("seed", range(25))
def test_the_order_of_the_patterns_decides_nothing(varied_instance, seed):
    """The pair that is tried first depends on the patterns before, what is found does not."""
    instance = varied_instance(seed)
    every = enumerate_patterns(instance, 100_000)
    rng = np.random.default_rng(seed)
    first = kept(instance, every, np.arange(every.size))
    assert (kept(instance, every, rng.permutation(every.size)) == first).all()
    # Without time for splits more is kept: all that fits no cheaper type.
    unsplit = kept(instance, every, np.arange(every.size), all_nodes=0)
    assert (unsplit >= first).all()
    pairs, indptr = _type_pairs(instance)
    family = instance.type2family
    for p in np.flatnonzero(unsplit):
        k, pattern = int(every.machine_type[p]), every.patterns[p]
        found = any(
            splits(pattern, *(instance.demand[family[t]] for t in pair), *(instance.capacity[t] for t in pair))
            for pair in pairs[indptr[k] : indptr[k + 1]]
        )
        assert first[p] == (not found)


def test_copies_where_a_class_may_not_run_or_needs_nothing():
    assert most_copies(np.array([-1, -1]), np.array([9, 9]), 5) == 0
    assert most_copies(np.array([0, 0]), np.array([0, 0]), 5) == 5
    assert most_copies(np.array([2, 3]), np.array([9, 8]), 5) == 2


@pytest.mark.parametrize("seed", range(25))
def test_pairs_of_types_are_the_largest_that_are_not_too_dear(varied_instance, seed):
    """Every pair at most as dear as a type is inside one that is kept, and of those none is inside another."""
    instance = varied_instance(seed)
    family, capacity, price = instance.type2family, instance.capacity, instance.price

    def inside(t, u):
        return family[t] == family[u] and (capacity[t] <= capacity[u]).all()

    def within(pair, other):
        (a, b), (c, d) = pair, other
        return (inside(a, c) and inside(b, d)) or (inside(a, d) and inside(b, c))

    pairs, indptr = _type_pairs(instance)
    every = list(itertools.combinations_with_replacement(range(instance.num_types), 2))
    for k, most in enumerate(price):
        fitting = [pair for pair in every if price[list(pair)].sum() <= most]
        chosen = [tuple(map(int, pair)) for pair in pairs[indptr[k] : indptr[k + 1]]]
        assert set(chosen) <= set(fitting)
        assert all(any(within(pair, other) for other in chosen) for pair in fitting)
        assert not any(within(pair, other) for pair, other in itertools.permutations(chosen, 2))
