import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.kernels_pattern import (
    FREE,
    NEVER,
    Goods,
    arrange,
    fill_values,
    new_stack,
    sort_by_worth,
)

NONE = np.zeros(0, np.int64)


def goods_of(value, size, table=None, spare=FREE):
    num = len(value)
    order = np.argsort(-np.asarray(value) / np.maximum(np.asarray(size)[:, 0], 0.5), kind="stable")
    table = np.zeros((0, 0), np.int64) if table is None else table
    starts = np.zeros(num + 1, np.int64)
    return Goods(
        np.asarray(value),
        np.asarray(size),
        order,
        np.argsort(order),
        table,
        spare,
        starts,
        NONE,
        starts,
        NONE,
        NONE,
        NONE,
        NONE,
    )


@pytest.mark.parametrize("spare", [FREE, 3, 0, -1])
@pytest.mark.parametrize("seed", range(5))
def test_the_table_holds_the_most_of_the_items_from_a_rank_on(seed, spare):
    rng = np.random.default_rng(seed)
    allowed = rng.integers(0, 3, 5)
    goods = goods_of(rng.integers(0, 50, 5), rng.integers(0, 6, (5, 1)), np.zeros((6, 11), np.int64), spare)
    fill_values(goods, allowed)
    for first, room in itertools.product(range(6), range(11)):
        items = goods.order[first:]
        contents = itertools.product(*(range(int(allowed[i]) + 1) for i in items))
        worths = [
            sum(n * goods.value[i] for n, i in zip(content, items, strict=True))
            for content in contents
            if 0 <= room - sum(n * goods.size[i, 0] for n, i in zip(content, items, strict=True)) <= spare
        ]
        if worths:
            assert goods.table[first, room] == max(worths)
        else:
            assert goods.table[first, room] < NEVER // 2


@pytest.fixture
def stack():
    """A stack with all of four items as candidates for a machine of 10 and 10."""
    stack = new_stack(5, 4, 2)
    stack.number[0], stack.cand[0], stack.rest[0] = 4, np.arange(4), 10
    stack.price[0] = 1.0
    return stack


def test_candidates_are_sorted_by_value_for_weight(stack):
    goods = goods_of([10, 40, 20, 30], [[5, 5], [5, 5], [5, 5], [5, 5]])
    arrange(goods, stack, 0, 20)
    assert stack.cand[0].tolist() == [1, 3, 2, 0]
    assert len(set(stack.weight[0].tolist())) == 1
    assert 0 < stack.weight[0, 0] * 2 <= stack.room[0] <= 2**20


def test_close_ratios_are_told_apart():
    value = np.array([2**53, 2**53 + 1, 5, 2**53 + 2])
    item, weight = np.array([0, 1, 2, 3]), np.array([3, 3, 0, 3])
    sort_by_worth(value, item, weight)
    assert (item.tolist(), weight.tolist()) == ([2, 3, 1, 0], [0, 3, 3, 3])


def test_what_weighs_nothing_comes_first(stack):
    """However little it is worth: what the fractional knapsack fills up before it must not hide it."""
    stack.price[0] = 1.0, 0.0
    goods = goods_of([100, 90, 3, 80], [[5, 0], [5, 0], [0, 5], [5, 0]])
    arrange(goods, stack, 0, 4)
    assert stack.cand[0].tolist() == [2, 0, 1, 3]
    assert stack.weight[0, 0] == 0
