"""Any prices prove a bound; the sums are those of the definition."""

import numpy as np

from schedgap.formulations.waiting.fluid_bound import moments
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
