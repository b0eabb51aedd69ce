"""The cheapest starts against trying every one."""

import itertools

import numpy as np

from schedgap.formulations.waiting.machine_prices import Cheapest, PricedJobs, Prices, cheapest_starts


def test_cheapest_starts_against_trying_every_start():
    rng = np.random.default_rng(1)
    for _ in range(200):
        count, points = int(rng.integers(1, 5)), int(rng.integers(2, 7))
        grid = np.concatenate(([0], np.sort(rng.choice(np.arange(1, 30), points - 1, replace=False))))
        measures = int(rng.integers(1, 3))
        price = rng.integers(0, 6, (measures, points))
        sums = np.pad(np.cumsum(price[:, :-1] * np.diff(grid), axis=1), ((0, 0), (1, 0)))
        submit, runtime = np.sort(rng.integers(0, 30, count)), rng.integers(1, 20, count)
        size = rng.integers(0, 4, (measures, count))
        rent, longest = rng.integers(1, 90, count), rng.integers(0, 15, count)
        wait_price = int(rng.integers(0, 3))
        value, wait, load = np.empty(count, np.int64), rng.integers(-1, longest + 1), np.zeros(price.shape)
        jobs = PricedJobs(submit, runtime, size, rent, longest)
        cheapest_starts(jobs, wait_price, Prices(grid, price, sums), Cheapest(value, wait, load))
        at = price[:, np.searchsorted(grid, np.arange(80), side="right") - 1]
        used = np.zeros((measures, 80))
        for j in range(count):
            costs = [
                wait_price * w + size[:, j] @ at[:, submit[j] + w : submit[j] + w + runtime[j]].sum(axis=1)
                for w in range(longest[j] + 1)
            ]
            assert value[j] == min(rent[j], *costs)
            assert (wait[j] < 0) == (min(costs) >= rent[j])
            if wait[j] >= 0:
                assert costs[wait[j]] == min(costs)
                used[:, submit[j] + wait[j] : submit[j] + wait[j] + runtime[j]] += size[:, j, None]
        expected = [used[:, a:b].sum(axis=1) for a, b in itertools.pairwise(grid)]
        assert load[:, :-1].T.tolist() == np.array(expected).tolist()


def test_products_of_more_than_64_bits_cost_more_than_any_rent():
    """A size of 2^10 for a priced time of 2^60 is 0 in 64 bits; by two measures just below the limit it is negative."""
    for sizes, rent in (((1 << 10, 0), 1 << 61), ((1 << 10, 1 << 10), 1 << 61), ((2, 2), (1 << 61) - 1)):
        one = np.array([0])
        jobs = PricedJobs(one, one + (1 << 20), np.array(sizes).reshape(2, 1), one + rent, one)
        prices = Prices(np.array([0, 1]), np.full((2, 2), 1 << 40), np.array([[0, 1 << 40]] * 2))
        found = Cheapest(np.empty(1, np.int64), np.full(1, -1), np.zeros((2, 2)))
        cheapest_starts(jobs, 1, prices, found)
        assert found.value.tolist() == [rent]
        assert found.wait.tolist() == [-1]
