"""The cheapest starts against trying every one."""

import itertools

import numpy as np

from schedgap.formulations.waiting.kernels_prices import Cheapest, PricedJobs, Prices, cheapest_starts


def test_cheapest_starts_against_trying_every_start():
    rng = np.random.default_rng(1)
    for _ in range(200):
        count, points = int(rng.integers(1, 5)), int(rng.integers(2, 7))
        grid = np.concatenate(([0], np.sort(rng.choice(np.arange(1, 30), points - 1, replace=False))))
        price = rng.integers(0, 6, points)
        sums = np.concatenate(([0], np.cumsum(price[:-1] * np.diff(grid))))
        submit, runtime = np.sort(rng.integers(0, 30, count)), rng.integers(1, 20, count)
        size, rent, longest = rng.integers(1, 4, count), rng.integers(1, 90, count), rng.integers(0, 15, count)
        wait_price = int(rng.integers(0, 3))
        value, wait, load = np.empty(count, np.int64), rng.integers(-1, longest + 1), np.zeros(points)
        jobs = PricedJobs(submit, runtime, size, rent, longest)
        cheapest_starts(jobs, wait_price, Prices(grid, price, sums), Cheapest(value, wait, load))
        at = price[np.searchsorted(grid, np.arange(80), side="right") - 1]
        used = np.zeros(80)
        for j in range(count):
            costs = [
                wait_price * w + size[j] * at[submit[j] + w : submit[j] + w + runtime[j]].sum()
                for w in range(longest[j] + 1)
            ]
            assert value[j] == min(rent[j], *costs)
            assert (wait[j] < 0) == (min(costs) >= rent[j])
            if wait[j] >= 0:
                assert costs[wait[j]] == min(costs)
                used[submit[j] + wait[j] : submit[j] + wait[j] + runtime[j]] += size[j]
        expected = [used[a:b].sum() for a, b in itertools.pairwise(grid)]
        assert load[:-1].tolist() == expected
