import numpy as np
import pytest

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Problem, cheapest_shares, resource_prices


@pytest.mark.parametrize("seed", range(10))
def test_prices_make_no_type_worth_more_than_it_costs(seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 4, (2, 4, 2))
    demand[1, rng.random(4) < 0.4] = -1
    counts, dual = rng.integers(1, 9, 4), np.empty(4)
    problem = Problem(np.array([0, 0, 1]), np.array([[8, 8], [4, 3], [5, 5]]), np.array([9, 4, 5]), demand, counts)
    found = []
    for trials in (0, 20, 200):
        weight = np.zeros((2, 2))
        found.append(resource_prices(problem, counts, trials, np.uint64(seed + 1), weight))
        for k, f in enumerate(problem.type2family):
            assert weight[f] @ problem.capacity[k] <= problem.price[k] * (1 + 1e-9)
        cheapest_shares(demand, weight, dual)
        shares = np.where(demand[:, :, 0] >= 0, np.einsum("fr,fcr->fc", weight, demand), np.inf)
        assert dual == pytest.approx(shares.min(axis=0))
        assert found[-1] == pytest.approx(dual @ counts)
    assert found == sorted(found)
