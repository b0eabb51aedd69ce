"""Choosing items at fixed rates against trying every choice."""

from itertools import product

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.kernels_items import (
    RATE_UNIT,
    Candidates,
    best_items,
    fitting,
    order_by_efficiency,
    that_fit,
)


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    workload, demand = rng.integers(-1, 2, n), rng.integers(0, 4, (n, 2))
    if rng.random() < 0.3:
        demand[rng.integers(n)] = -1
    return Candidates(
        worth=rng.integers(0, 1000, n) * 1000,
        speed_worth=np.where(workload < 0, 0, rng.integers(0, 1000, n) * 1000),
        workload=workload,
        group=rng.integers(0, 3, n),
        limit=rng.integers(1, 4, 3),
        demand=demand,
        capacity=rng.integers(1, 9, 2),
    )


def fits_alone(c, i):
    """How many of an item fit together."""
    if c.worth[i] + c.speed_worth[i] == 0 or (c.demand[i] < 0).any():
        return 0
    most = [c.capacity[r] // c.demand[i, r] for r in range(2) if c.demand[i, r] > 0]
    return min([c.limit[c.group[i]], *most])


@pytest.mark.parametrize("seed", range(30))
def test_what_fits_is_listed_by_workload(seed):
    c = drawn(seed)
    item, fit = that_fit(c)
    wanted = [i for i in range(c.worth.shape[0]) if fits_alone(c, i)]
    assert item.tolist() == sorted(wanted, key=lambda i: (c.workload[i] < 0, c.workload[i], i))
    assert fit.tolist() == [fits_alone(c, i) for i in item]


@pytest.mark.parametrize("seed", range(60))
def test_the_best_items_are_found(seed):
    c, rng = drawn(seed), np.random.default_rng(1000 + seed)
    f = fitting(c, 2)
    numbers, rate = rng.integers(0, 2, 2), rng.integers(1, RATE_UNIT + 1, 2)
    most = 0
    for content in product(range(4), repeat=c.worth.shape[0]):
        used, in_group = np.array(content) @ np.maximum(c.demand, 0), np.bincount(c.group, content, 3)
        there = [sum(n for n, w in zip(content, c.workload, strict=True) if w == v) for v in range(2)]
        allowed = all(n == 0 or fits_alone(c, i) for i, n in enumerate(content))
        if allowed and there == numbers.tolist() and (used <= c.capacity).all() and (in_group <= c.limit).all():
            own = [
                c.worth[i] + (-(-int(c.speed_worth[i] * rate[w]) // RATE_UNIT) if w >= 0 else 0)
                for i, w in enumerate(c.workload)
            ]
            most = max(most, sum(n * int(w) for n, w in zip(content, own, strict=True)))
    for m in range(f.rent.shape[0]):
        picked, content = np.zeros(f.item.shape[0], np.int64), np.zeros(c.worth.shape[0], np.int64)
        if all(f.fit[f.first[w] : f.first[w + 1]].sum() >= numbers[w] for w in range(2)):
            best, _ = best_items(c, f, m, numbers, rate, 0, 10**9, picked, content)
            assert best == most


def test_what_does_not_run_comes_in_order_of_its_worth_for_its_price():
    item, fit = np.arange(4), np.array([1, 2, 3, 4])
    base, speed, rent = np.array([9, 1, 8, 6]), np.zeros(4, np.int64), np.array([[1, 2, 2, 1]])
    order_by_efficiency(1, item, fit, base, speed, rent)
    assert item.tolist() == [0, 3, 2, 1]
    assert (fit.tolist(), base.tolist(), rent.tolist()) == ([1, 4, 3, 2], [9, 6, 8, 1], [[1, 1, 2, 2]])
