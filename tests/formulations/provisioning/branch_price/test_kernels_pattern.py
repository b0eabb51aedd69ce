"""The search against trying all contents."""

import functools
import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.kernels_pattern import (
    FREE,
    Effort,
    Goods,
    fill_values,
    new_stack,
    search_pattern,
)

ALL = Effort(10**9, 10**9, 20)


def drawn(seed, num_resources, *, is_hard, spare=FREE):
    """Return goods with rivals and cuts where they are hard, capacity and allowed copies."""
    rng = np.random.default_rng(seed)
    num = 7
    value, size = rng.integers(0, 100, num), rng.integers(0, 9, (num, num_resources))
    size[(size == 0).all(axis=1), 0] = 1
    pairs = [(0, 1), (2, 5)] if is_hard else []
    rivals = sorted([*pairs, *((b, a) for a, b in pairs)])
    cuts = [((0, 2, 3), 40), ((1, 3, 4), 25), ((2, 3, 6), 60)] if is_hard else []
    entries = sorted((i, c) for c, (items, _) in enumerate(cuts) for i in items)
    order = np.argsort(-value / np.maximum(size[:, 0], 0.5), kind="stable")
    has_table = num_resources == 1
    goods = Goods(
        value,
        size,
        order,
        np.argsort(order),
        np.zeros((num + 1, 16) if has_table else (0, 0), np.int64),
        spare,
        np.searchsorted([a for a, _ in rivals], np.arange(num + 1)),
        np.array([b for _, b in rivals], np.int64),
        np.searchsorted([i for i, _ in entries], np.arange(num + 1)),
        np.array([c for _, c in entries], np.int64),
        np.ones(len(entries), np.int64),
        np.full(len(cuts), 2),
        np.array([penalty for _, penalty in cuts], np.int64),
    )
    allowed = np.ones(num, np.int64) if is_hard else rng.integers(0, 4, num)
    if has_table:
        fill_values(goods, allowed)
    return goods, np.full(num_resources, 15), allowed, pairs, cuts


def worths(goods, capacity, allowed, pairs, cuts):
    """Return (value, content) of each content that fits."""
    contents = np.array(list(itertools.product(*(range(int(n) + 1) for n in allowed))))
    left = capacity - contents @ goods.size
    fits = (left >= 0).all(axis=1) & (left[:, 0] <= goods.spare)
    for a, b in pairs:
        fits &= (contents[:, a] == 0) | (contents[:, b] == 0)
    worth = contents @ goods.value
    for items, price in cuts:
        worth -= price * (contents[:, items].sum(axis=1) // 2)
    return list(zip(worth[fits].tolist(), contents[fits], strict=True))


def searched(goods, capacity, allowed, target, effort=ALL, price=None, rows=1):
    """Return the most that a content found is worth, the bound, the nodes and the contents."""
    found = np.zeros((rows, goods.value.shape[0]), np.int64)
    stack = new_stack(int(allowed.sum()) + 2, goods.value.shape[0], goods.size.shape[1])
    price = np.full(goods.size.shape[1], 1.0) if price is None else price
    number, *rest = search_pattern(goods, capacity, allowed, target, effort, price, stack, found)
    return *rest, found[:number]


@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize("num_resources", [1, 2, 4])
@pytest.mark.parametrize("seed", range(12))
def test_finds_what_trying_all_contents_finds(seed, num_resources, is_hard):
    goods, capacity, allowed, pairs, cuts = drawn(seed, num_resources, is_hard=is_hard)
    most = max(worth for worth, _ in worths(goods, capacity, allowed, pairs, cuts))
    top, upper, _, found = searched(goods, capacity, allowed, 0)
    best = found.sum(axis=0)
    assert top == upper == most
    penalty = sum(price * (best[list(items)].sum() // 2) for items, price in cuts)
    assert int(goods.value @ best) - penalty == most or most == 0
    assert (best @ goods.size <= capacity).all()
    assert (best <= allowed).all()
    assert not any(best[a] and best[b] for a, b in pairs)


@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize("spare", [0, 1, 4])
@pytest.mark.parametrize("seed", range(12))
def test_leaves_no_more_free_than_it_may(seed, spare, is_hard):
    goods, capacity, allowed, pairs, cuts = drawn(seed, 1, is_hard=is_hard, spare=spare)
    goods = goods._replace(value=np.maximum(goods.value, 1))
    fill_values(goods, allowed)
    most = max((worth for worth, _ in worths(goods, capacity, allowed, pairs, cuts)), default=0)
    top, upper, _, found = searched(goods, capacity, allowed, 0)
    best = found.sum(axis=0)
    assert top == upper == max(most, 0)
    assert (top == 0) == (not best.any())
    assert not best.any() or 0 <= (capacity - best @ goods.size)[0] <= spare


@pytest.mark.parametrize("seed", range(6))
def test_finds_nothing_at_a_target_that_no_content_passes(seed):
    goods, capacity, allowed, pairs, cuts = drawn(seed, 2, is_hard=True)
    most = max(worth for worth, _ in worths(goods, capacity, allowed, pairs, cuts))
    top, upper, _, found = searched(goods, capacity, allowed, most)
    assert (top, upper, found.size) == (most, most, 0)
    assert searched(goods, capacity, allowed, most - 1)[0] == most


@pytest.mark.parametrize("most", [0, 1, 3, 10])
@pytest.mark.parametrize("seed", range(6))
def test_a_search_cut_short_still_bounds(seed, most):
    goods, capacity, allowed, pairs, cuts = drawn(seed, 3, is_hard=False)
    best = max(worth for worth, _ in worths(goods, capacity, allowed, pairs, cuts))
    top, upper, _, _ = searched(goods, capacity, allowed, 0, Effort(most, most, 20))
    assert top <= best <= upper


@pytest.mark.parametrize("each", [1, 2, 5, 10**9])
@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_finds_a_content_for_each_candidate_of_the_root(seed, is_hard, each):
    goods, capacity, allowed, pairs, cuts = drawn(seed, 2, is_hard=is_hard)
    worth = {tuple(content): worth for worth, content in worths(goods, capacity, allowed, pairs, cuts)}
    target, most = int(np.median(list(worth.values()))), max(worth.values())
    top, upper, _, found = searched(goods, capacity, allowed, target, Effort(10**9, each, 20), rows=7)
    values = [worth[tuple(content)] for content in found]
    assert all(value > target for value in values)
    assert max(values, default=target) == top <= most <= upper
    assert len({tuple(content) for content in found}) == len(found)
    assert each < 10**9 or top == upper


@functools.cache
def long_list(seed, num, is_hard):
    """Return goods of which a machine holds at most three, capacity, and the worth of every content that fits."""
    rng = np.random.default_rng(seed)
    goods, _, _, _, _ = drawn(seed, 3, is_hard=False)
    none, order = np.zeros(num + 1, np.int64), np.arange(num)
    size, capacity = rng.integers(26, 60, (num, 3)), np.full(3, 100)
    goods = goods._replace(value=rng.integers(50, 100, num), size=size, order=order, rank=order)
    goods = goods._replace(rival_start=none, cut_start=none)
    if is_hard:
        # Items 0 and 1 may not meet; of items 0, 2 and 3 two together are worth 40 less.
        inside = np.isin(order, (0, 2, 3))
        goods = goods._replace(
            rival_start=np.minimum(np.arange(num + 1), 2),
            rival=np.array([1, 0]),
            cut_start=np.concatenate(([0], np.cumsum(inside))),
            cut=np.zeros(3, np.int64),
            part=np.ones(3, np.int64),
            divisor=np.array([2]),
            penalty=np.array([40]),
        )
    worth = {}
    for number in (1, 2, 3):
        items = np.array(list(itertools.combinations(range(num), number)))
        fits = (size[items].sum(axis=1) <= capacity).all(axis=1)
        value = goods.value[items].sum(axis=1)
        if is_hard:
            fits &= np.isin(items, (0, 1)).sum(axis=1) < 2
            value -= 40 * (np.isin(items, (0, 2, 3)).sum(axis=1) // 2)
        worth.update(zip(map(tuple, items[fits].tolist()), value[fits].tolist(), strict=True))
    return goods, capacity, worth


@pytest.mark.parametrize("is_hard", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 60])
@pytest.mark.parametrize("seed", range(20))
def test_candidates_that_are_left_out_are_in_no_content_above_the_target(seed, rows, is_hard):
    goods, capacity, worth = long_list(seed, 60, is_hard)
    most = max(worth.values())
    for target in (most, most - 1, most - 5, most - 30):
        top, upper, _, found = searched(goods, capacity, np.ones(60, np.int64), target, rows=rows)
        assert top == upper == most
        contents = [tuple(np.flatnonzero(content)) for content in found]
        assert all(worth[content] > target for content in contents)
        assert (len(contents) == 0) == (target == most)


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_where_weights_are_coarse(seed, first):
    """Of values near 2^57 the whole prices have three bits: most items weigh nothing, and count before all that weighs."""
    goods, capacity, allowed, pairs, cuts = drawn(seed, 3, is_hard=False)
    goods = goods._replace(value=goods.value << 50)
    most = max(worth for worth, _ in worths(goods, capacity, allowed, pairs, cuts))
    price = np.where(np.arange(3) == first, 1.0, 0.01)
    assert searched(goods, capacity, allowed, 0, Effort(10**9, 10**9, 0), price)[:2] == (most, most)
