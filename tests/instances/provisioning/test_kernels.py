"""The knapsack kernels, against all contents of a machine by recursion."""

import numpy as np
import pytest

from schedgap.instances.provisioning.kernels import (
    fill_table,
    improve_multipliers,
    read_table,
    search_pattern,
    suffix_bounds,
)


def items(seed):
    """Four items with three resources, and a capacity, for the kernels."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 4, (4, 3))
    demand[np.arange(4), rng.integers(0, 3, 4)] += 1
    return rng.integers(1, 30, 4), demand, rng.integers(1, 6, 4), rng.integers(0, 7, 3)


def knapsack(value, demand, bound, capacity):
    """The best value of a bounded knapsack, by recursion over the items."""
    if not len(value):
        return 0
    best = 0
    for number in range(bound[0] + 1):
        rest = capacity - number * demand[0]
        if (rest < 0).any():
            break
        best = max(best, number * value[0] + knapsack(value[1:], demand[1:], bound[1:], rest))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_every_cell_of_a_table_is_right(seed):
    value, demand, bound, capacity = items(seed)
    table = np.empty(capacity + 1, np.int64)
    copies = np.empty((4, *(capacity + 1)), np.uint16)
    fill_table(value, demand, bound, table, copies)
    content = np.empty(4, np.int64)
    for cell in np.ndindex(*table.shape):
        read_table(demand, copies, np.array(cell), content)
        assert table[cell] == content @ value == knapsack(value, demand, bound, np.array(cell))
        assert (content @ demand <= cell).all()
        assert (content <= bound).all()
    plain, plain_copies = np.empty_like(table), np.empty_like(copies)
    fill_table.py_func(value, demand, bound, plain, plain_copies)
    assert np.array_equal(plain, table)
    assert np.array_equal(plain_copies, copies)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("node_limit", [0, 3, 10**6])
def test_any_multipliers_give_a_valid_search(seed, node_limit):
    value, demand, bound, capacity = items(seed)
    multiplier = np.random.default_rng(seed).integers(0, 12, (3, 3))
    suffix = np.empty((5, 3), np.int64)
    suffix_bounds(value, demand, bound, multiplier, suffix)
    best = knapsack(value, demand, bound, capacity)
    for target in (0, best - 1, best, best + 5):
        content = np.empty(4, np.int64)
        args = (value, demand, bound, capacity, multiplier, suffix, max(target, 0), node_limit)
        found, upper, nodes = search_pattern(*args, content)
        assert upper >= max(best, target)
        assert (content @ demand <= capacity).all()
        assert found == (content @ value if content.any() else max(target, 0))
        if nodes <= node_limit:
            assert found == upper == max(best, target, 0)


@pytest.mark.parametrize("seed", range(8))
def test_better_multipliers_are_still_a_bound(seed):
    value, demand, bound, capacity = items(seed)
    rest = capacity + 1
    for first in range(5):

        def worth(price, first=first):
            surplus = np.maximum(0, value - demand @ price)[first:]
            return price @ rest + bound[first:] @ surplus

        start = np.random.default_rng(seed).random(3) * 12
        price = start.copy()
        reached = improve_multipliers(value, demand, bound, np.arange(first, 4), rest, 40, price)
        assert reached == pytest.approx(worth(price))
        assert (price >= 0).all()
        assert knapsack(value[first:], demand[first:], bound[first:], rest) - 1e-9 <= reached <= worth(start) + 1e-9
