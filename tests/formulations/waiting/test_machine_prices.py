"""Any prices prove a bound; the sums are those of the definition."""

import itertools

import numpy as np

from schedgap.formulations.waiting.fluid_bound import moments
from schedgap.formulations.waiting.kernels_prices import cheapest_starts
from schedgap.formulations.waiting.machine_prices import MachineTime, Side
from schedgap.formulations.waiting.scaled import scale


def bound_of(problem, price, machines, side):
    found = problem.evaluate(price, machines, side)
    return None if found is None else problem.scaled.objective(found.amount)


def test_any_prices_are_below_the_optimum(random_instance, optimum):
    """With at least 0 machines every schedule is covered; so it is by both sides of k together."""
    rng = np.random.default_rng(0)
    proved = 0
    for seed in range(120):
        instance = random_instance(seed)
        best, scaled = optimum(instance), scale(instance)
        if not scaled.num_jobs:
            continue
        problem = MachineTime(scaled, moments(scaled, int(rng.integers(1, 12))), by_memory=bool(seed % 2))
        shares = rng.dirichlet(np.full(problem.lengths.shape[0], 0.5))
        assert bound_of(problem, problem.whole_prices(shares, Side.AT_LEAST), 0, Side.AT_LEAST) <= best
        k = int(rng.integers(0, 3))
        low = bound_of(problem, problem.whole_prices(2 * shares, Side.AT_MOST), k, Side.AT_MOST)
        high = bound_of(problem, problem.whole_prices(0.6 * shares, Side.AT_LEAST), k + 1, Side.AT_LEAST)
        assert min(low, high) <= best
        proved += min(low, high) > 0
    assert proved > 30


def test_prices_that_prove_nothing_are_refused(random_instance):
    scaled = scale(random_instance(5))
    problem = MachineTime(scaled, moments(scaled, 4), by_memory=False)
    spent = problem.whole_prices(np.full(problem.lengths.shape[0], 3.0), Side.AT_MOST)
    assert problem.spent(spent) > problem.budget
    assert problem.evaluate(spent, 1, Side.AT_LEAST) is None
    assert problem.evaluate(np.zeros_like(spent), 1, Side.AT_MOST) is None


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
        value, wait, load = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(points)
        cheapest_starts(submit, runtime, size, rent, longest, wait_price, grid, price, sums, value, wait, load)
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
