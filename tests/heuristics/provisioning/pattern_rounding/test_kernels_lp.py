import numpy as np
import pytest
from scipy.optimize import linprog

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Problem, cheapest_shares, resource_prices
from schedgap.heuristics.provisioning.pattern_rounding.kernels_lp import (
    Basis,
    Start,
    pattern_lp,
)


def drawn(seed):
    """Return a problem of two families, whose first type takes every class, and the number of tasks of each."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 4, (2, 4, 2))
    demand[1, rng.random(4) < 0.4] = -1
    counts = rng.integers(1, 9, 4)
    problem = Problem(np.array([0, 0, 1]), np.array([[8, 8], [4, 3], [5, 5]]), np.array([9, 4, 5]), demand, counts)
    return problem, counts


def relaxation(problem, counts):
    """Return the optimum of the relaxation, over all contents of all types."""
    contents = np.stack(np.meshgrid(*(range(n + 1) for n in counts)), axis=-1).reshape(-1, 4)
    columns, cost = [], []
    for k, f in enumerate(problem.type2family):
        demand = problem.demand[f]
        fits = (contents @ np.maximum(demand, 0) <= problem.capacity[k]).all(axis=1)
        fits &= ((contents == 0) | (demand[:, 0] >= 0)).all(axis=1)
        columns.append(contents[fits])
        cost += [problem.price[k]] * int(fits.sum())
    return linprog(cost, A_ub=-np.concatenate(columns).T, b_ub=-counts).fun


@pytest.mark.parametrize("seed", range(10))
def test_the_relaxation_of_small_problems_is_solved(seed):
    problem, counts = drawn(seed)
    weight, dual = np.zeros((2, 2)), np.empty(4)
    bound = resource_prices(problem, counts, 200, np.uint64(seed + 1), weight)
    cheapest_shares(problem.demand, weight, dual)
    fits = (problem.demand[problem.type2family] <= problem.capacity[:, None]).all(axis=2)
    fits &= problem.demand[problem.type2family, :, 0] >= 0
    alone = np.where(fits, problem.price[:, None], 100).argmin(axis=0)
    basis = Basis(
        np.empty(4, np.int64), np.empty((4, 4), np.int64), np.empty(4), np.empty(4), np.zeros((4, 4)), np.empty(4)
    )
    start = Start(alone, dual, np.empty(0, np.int64), np.empty((0, 4), np.int64))
    pattern_lp(problem, counts, start, 0.5, 1000, 500, np.uint64(seed + 1), np.maximum(weight, 1e-3), basis)
    optimum = relaxation(problem, counts)
    assert bound <= optimum * (1 + 1e-9)
    assert basis.x @ basis.pattern == pytest.approx(counts)
    used = basis.machine_type >= 0
    assert basis.x[used] @ problem.price[basis.machine_type[used]] == pytest.approx(optimum, rel=1e-3)
    assert basis.dual @ counts == pytest.approx(optimum, rel=1e-3)
