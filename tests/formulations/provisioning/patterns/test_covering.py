import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.covering import Cover, exact_duals, solve_cover
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


def cover(**changes):
    # Three tasks of one class by patterns of 2 (cost 5) and 1 (cost 3): 2 + 1 costs 8; the LP's 1.5 x 5 = 7.5.
    fields = {
        "name": "pairs",
        "patterns": np.array([[2], [1]]),
        "cost": np.array([5, 3]),
        "counts": np.array([3]),
        "unit": 10,
    }
    return Cover(**{**fields, **changes})


def test_a_bound_above_the_last_cheaper_cost_is_a_proof():
    # 7.5 rounds up to 8, so no integer program is needed to prove what the first step finds.
    found = solve_cover(cover(), "highs", None, 1)
    assert (found.status, found.bound) == (Status.OPTIMAL, 8)
    assert found.repeat @ [2, 1] >= 3
    assert found.repeat @ [5, 3] == 8
    assert (found.trajectory[0].objective, found.trajectory[0].bound) == (None, 80)
    assert (found.trajectory[-1].objective, found.trajectory[-1].bound) == (80, 80)


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "scip", "cbc"])
def test_random_covers_match_each_other(backend):
    rng = np.random.default_rng(1)
    patterns = rng.integers(0, 4, (20, 4))
    program = Cover("random", patterns, 3 + 7 * patterns.sum(axis=1) + rng.integers(0, 20, 20), np.full(4, 11), 1)
    reference = solve_cover(program, "highs", None, 1)
    found = solve_cover(program, backend, None, 1)
    assert (found.status, found.bound) == (Status.OPTIMAL, reference.bound)
    assert found.repeat @ program.cost == found.bound
    assert (found.repeat @ patterns >= 11).all()


def test_any_duals_give_an_exact_bound_and_reduced_costs():
    # y = 3 prices the pattern of two at 6 > 5: 3 * 3 less one too much on each of at most 2 machines is 7 <= 8.
    duals, reduced, low = exact_duals(cover(), np.array([3.0]))
    assert duals.tolist() == [3 * 2**20]
    assert low == 7 * 2**20
    assert reduced.tolist() == [0, 0]
    _, reduced, low = exact_duals(cover(), np.array([-1.0]))
    assert (reduced.tolist(), low) == ([5 * 2**20, 3 * 2**20], 0)


def test_no_time_gives_no_solution():
    found = solve_cover(cover(), "highs", 0.0, 1)
    assert (found.status, found.repeat) == (Status.NO_SOLUTION, None)


def test_a_solver_of_linear_programs_alone_is_refused():
    with pytest.raises(BackendError, match="glop solves LPs only"):
        solve_cover(cover(), "glop", None, 1)


def test_a_large_program_is_proven_above_its_bound():
    # A share of 1e-9 of a cost near 5.8e8 is more than half a unit. Around the LP's 16e6 and 58e6 machines of the first
    # two patterns every number is tried; single tasks fill what is missing.
    patterns, cost = np.array([[2, 1], [1, 3], [1, 0], [0, 1]]), np.array([7, 8, 4, 4])
    counts = np.array([90_000_009, 190_000_012])
    found = solve_cover(Cover("large", patterns, cost, counts, 1), "highs", None, 1)
    assert (found.status, found.repeat @ cost) == (Status.OPTIMAL, found.bound)
    assert (found.repeat @ patterns >= counts).all()
    a, b = np.meshgrid(np.arange(-30, 31) + 16_000_000, np.arange(-30, 31) + 58_000_000)
    missing = np.maximum(counts[0] - 2 * a - b, 0) + np.maximum(counts[1] - a - 3 * b, 0)
    assert found.bound == (7 * a + 8 * b + 4 * missing).min()
    # The last program's objective is counted from the bound and claims no cost.
    assert min(point.objective for point in found.trajectory if point.objective is not None) == found.bound
    assert max(point.bound for point in found.trajectory) == found.bound


@pytest.mark.parametrize("unit", [1, 10**12, 10**15 + 1])
def test_costs_beyond_64_bits_have_exact_duals_too(unit):
    """Duals are multiples of 2^-20: 5 x 10^15 times 2^20 is 2^72."""
    instance = cover(cost=np.array([5 * unit, 3 * unit + 1]))
    found = solve_cover(instance, "highs", None, 1)
    least = min(
        int(a * instance.cost[0] + b * instance.cost[1])
        for a, b in itertools.product(range(7), repeat=2)
        if (np.array([a, b]) @ instance.patterns >= instance.counts).all()
    )
    assert int(found.repeat @ instance.cost) == least
    assert 0.9 * least <= found.bound <= least


@pytest.mark.parametrize("backend", ["highs", "cp-sat", "scip", "cbc"])
def test_prices_that_a_solver_cannot_tell_apart_prove_nothing(backend):
    # Two patterns of 2^53 - 1 and a dear one: whatever is found, no bound above it and no "infeasible".
    patterns, cost = np.array([[1, 0], [0, 1], [1, 1]]), np.array([1, 2**53 - 1, 2**53 - 3])
    found = solve_cover(Cover("spread", patterns, cost, np.array([3, 2]), 1), backend, None, 1)
    # Two of the last and one of the first.
    assert found.bound is None or found.bound <= 2 * (2**53 - 3) + 1
    assert found.status in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION)
    assert found.status is Status.OPTIMAL or "arithmetic" in found.details["reason"]
