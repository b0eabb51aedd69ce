"""Any prices prove a bound; the sums are those of the definition."""

import numpy as np

from schedgap.formulations.waiting.fluid_bound import moments
from schedgap.formulations.waiting.machine_prices import Line, MachineTime
from schedgap.formulations.waiting.models import scale
from schedgap.instances.waiting import bursty


def test_any_prices_are_below_the_optimum(random_instance, optimum):
    """However many machines the optimum buys, the highest line there is not above it; nor is renting for all."""
    rng = np.random.default_rng(0)
    proved = 0
    for seed in range(120):
        instance = random_instance(seed)
        best, scaled = optimum(instance), scale(instance)
        if not scaled.num_jobs:
            continue
        until = scaled.horizon + int(rng.integers(0, scaled.horizon))
        problem = MachineTime(scaled, by_memory=bool(seed % 2), until=until)
        grid = moments(scaled, int(rng.integers(1, 12)), until)
        shape = problem.capacity.shape[0], grid.shape[0] - 1
        rates = [np.zeros(shape), *rng.exponential(size=(3, *shape))]
        amount = problem.least([problem.evaluate(grid, rate).line for rate in rates])[1]
        assert scaled.objective(min(amount, scaled.all_rented)) <= best
        proved += amount > scaled.always_rented
    assert proved > 30


def test_machines_are_paid_until_that_is_least():
    scaled = scale(bursty(300, seed=3, machine_cores=8, wait_price=0.05, horizon_h=50.0))
    problem = MachineTime(scaled, by_memory=False, until=2 * scaled.horizon)
    grid = moments(scaled, 40, problem.until)
    lengths, within = np.diff(grid), grid[1:] <= scaled.horizon
    rng = np.random.default_rng(0)
    for _ in range(20):
        rate = rng.exponential(size=(problem.capacity.shape[0], grid.shape[0] - 1))
        proof = problem.evaluate(grid, rate)
        left = np.cumsum((1 - rate.sum(axis=0)) * lengths) * float(scaled.instance.fixed_price << problem.bits)
        least = left[grid[1:] >= scaled.horizon].min()
        assert abs(proof.line.slope - least) <= 1e-5 * abs(left).max()
        assert (proof.paid >= within).all()
        assert left[int(proof.paid.sum()) - 1] == least


def test_the_least_of_the_highest_lines(random_instance):
    problem = MachineTime(scale(random_instance(5)), by_memory=False)
    rng = np.random.default_rng(0)
    for _ in range(100):
        lines = [Line(*rng.integers(-50, 50, 2).tolist()) for _ in range(4)] + [Line(0, 1)]
        costs = [max(line.at(number) for line in lines) for number in range(1, 1000)]
        number, amount = problem.least(lines)
        assert amount == (min(costs) >> problem.bits) + problem.scaled.always_rented
        assert costs[number - 1] == min(costs)


def test_evaluations_know_waits_of_the_last_one_and_need_none():
    scaled = scale(bursty(300, seed=3, machine_cores=8, wait_price=0.05))
    grid = moments(scaled, 50, scaled.horizon)
    problem = MachineTime(scaled, by_memory=False)
    rates = np.random.default_rng(0).exponential(size=(10, problem.capacity.shape[0], grid.shape[0] - 1))
    for rate in rates:
        line = problem.evaluate(grid, rate).line
        assert line == MachineTime(scaled, by_memory=False).evaluate(grid, rate).line
