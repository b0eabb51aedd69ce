"""The dearest content of one node, against all contents."""

from itertools import combinations

import numpy as np
import pytest

from schedgap.formulations.placement import kernels_node
from schedgap.formulations.placement.kernels_node import Items, mix, relax, repair, search, tune

MANY = 10**6


def draw(seed):
    """Return items of a small node in their order, and what they are worth."""
    rng = np.random.default_rng(seed)
    whole, shares, rest = (int(n) for n in rng.integers(0, 3, 3))
    gpus = np.concatenate((-np.sort(-rng.integers(1, 4, whole)), np.ones(shares, int), np.zeros(rest, int)))
    size = np.concatenate((np.full(whole, 10), -np.sort(-rng.integers(2, 10, shares)), np.zeros(rest, int)))
    n = whole + shares + rest
    bins = -np.sort(-rng.choice([10, 10, 10, 6, 4], rng.integers(0, 4)))
    items = Items(
        whole,
        whole + shares,
        gpus,
        size,
        rng.integers(0, 5, (n, 2)),
        rng.integers(1, 4, n),
        rng.integers(3, 16, 2),
        bins,
        10,
    )
    return items, rng.integers(1, 30, n)


def brute(items, worth):
    """Return the dearest content's worth by trying every item on every GPU."""
    best = 0

    def go(i, free, left, value):
        nonlocal best
        best = max(best, value)
        for j in range(i, len(worth)):
            if number[j] < items.most[j] and (items.demand[j] <= free).all():
                number[j] += 1
                for some in combinations(range(len(left)), int(items.gpus[j])):
                    if all(left[g] >= items.size[j] for g in some):
                        after = [x - items.size[j] * (g in some) for g, x in enumerate(left)]
                        go(j, free - items.demand[j], after, value + worth[j])
                number[j] -= 1

    number = [0] * len(worth)
    go(0, items.free, items.bins.tolist(), 0)
    return best


def is_content(items, content):
    """Whether a content is one: in order of GPUs, within resources and numbers."""
    left = items.bins.copy()
    for b in range(len(left)):
        for i in range(items.shares):
            for _ in range(content[b, i]):
                left[b : b + items.gpus[i]] -= items.size[i]
                assert b + items.gpus[i] <= len(left)
    number = content.sum(axis=0)
    return (left >= 0).all() and (number <= items.most).all() and (number @ items.demand <= items.free).all()


@pytest.mark.parametrize("seed", range(60))
def test_the_search_is_exact_and_bounds_hold(seed):
    items, worth = draw(seed)
    best = brute(items, worth)
    price, content = np.zeros(2, np.int64), np.zeros((items.bins.size + 1, worth.size), np.int64)
    bound, found = tune(items, worth, price, content)
    assert found <= best <= bound
    assert is_content(items, content) and content.sum(axis=0) @ worth == found
    assert search(items, worth, price, bound, MANY, content) == (best, best)
    assert is_content(items, content) and content.sum(axis=0) @ worth == best


@pytest.mark.parametrize("seed", range(20))
def test_any_prices_of_resources_bound(seed):
    items, worth = draw(seed)
    price = np.random.default_rng(seed).integers(0, 5, 2)
    over, use = np.zeros((items.bins.size + 1, worth.size), np.int64), np.zeros(2, np.int64)
    assert relax(items, worth, price, over, use) >= brute(items, worth)
    under = over.copy()
    found = repair(items, worth, under, use)
    assert is_content(items, under) and under.sum(axis=0) @ worth == found
    best = under.copy()
    mixed = mix(items, worth, over, under, found, best)
    assert is_content(items, best) and best.sum(axis=0) @ worth == mixed >= found


def test_compiled_and_plain_code_agree():
    items, worth = draw(3)
    answers = []
    for compiled in (relax, kernels_node.relax.py_func):
        content, use = np.zeros((items.bins.size + 1, worth.size), np.int64), np.zeros(2, np.int64)
        answers.append((compiled(items, worth, np.ones(2, np.int64), content, use), content.tolist(), use.tolist()))
    assert answers[0] == answers[1]
