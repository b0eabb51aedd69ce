import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.contract import excluded, lp_bound
from schedgap.formulations.linear_model import LinearModel

INF = np.inf


def covering(upper=INF):
    # min 4a + 3b, 2a + b >= 4, a + 2b >= 5, a, b >= 0: a = 1, b = 2, y = (5/3, 2/3), value 10.
    return LinearModel(
        "covering",
        [4, 3],
        csc_array([[2.0, 1], [1, 2]]),
        [4, 5],
        [INF, INF],
        [0, 0],
        [upper, upper],
        [False, False],
    )


def test_exact_duals_give_the_optimum_less_rounding():
    assert 10 - 1e-12 < lp_bound(covering(), np.array([5 / 3, 2 / 3])) <= 10


def test_duals_that_price_an_unbounded_column_too_high_are_scaled_down():
    # (2, 1) prices a at 5 > 4, b at 4 > 3: scaled by 3/4 it is feasible with value 0.75 * (2 * 4 + 5) = 9.75.
    assert lp_bound(covering(), np.array([2.0, 1.0])) == pytest.approx(9.75, abs=1e-9)


def test_a_bounded_column_pays_for_its_reduced_cost_instead():
    # Reduced costs -1, -1 at x <= 3: 13 - 3 - 3 = 7.
    assert lp_bound(covering(upper=3), np.array([2.0, 1.0])) == pytest.approx(7, abs=1e-9)


def test_a_free_direction_without_cost_has_no_bound():
    model = LinearModel("free", [0], csc_array([[1.0]]), [1], [INF], [0], [INF], [False])
    assert lp_bound(model, np.array([1.0])) is None


def test_a_dual_of_a_side_that_does_not_exist_counts_nothing():
    assert lp_bound(covering(), np.array([-1.0, -1.0])) == 0


@given(st.integers(0, 10**6), st.floats(0, 3))
def test_any_duals_bound_from_below(seed, noise):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 9, (4, 5)).astype(float)
    model = LinearModel(
        "random",
        rng.integers(-5, 30, 5),
        csc_array(matrix),
        matrix @ rng.integers(0, 4, 5) - rng.integers(0, 3, 4),
        np.full(4, INF),
        np.zeros(5),
        np.full(5, 4.0),
        np.zeros(5),
    )
    result = solve(model, "highs")
    bound = lp_bound(model, result.row_duals + noise * rng.normal(size=4))
    assert bound <= result.objective + 1e-9
    if noise == 0:
        assert bound == pytest.approx(result.objective, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_excluded_is_in_no_cheaper_solution(seed):
    """At most 4 of each of 3 things, at least some of each of 2 kinds: all 125 solutions are tried."""
    rng = np.random.default_rng(seed)
    matrix, needed = rng.integers(0, 4, (2, 3)), rng.integers(0, 6, 2)
    model = LinearModel(
        "made",
        rng.integers(1, 9, 3),
        csc_array(matrix.astype(float)),
        needed,
        np.full(2, np.inf),
        np.zeros(3),
        np.full(3, 4.0),
        np.ones(3, bool),
    )
    cutoff = int(rng.integers(1, 60))
    out = excluded(model, rng.random(2) * rng.integers(0, 5), cutoff)
    every = np.array(list(itertools.product(range(5), repeat=3)))
    fits = (every @ matrix.T >= needed).all(axis=1) & (every @ model.cost < cutoff)
    assert not every[fits][:, out].any()


def test_an_optimal_dual_excludes_what_is_too_costly():
    """Two of something, for 1 or for 3 each: with one of the dear ones it is 4, which is not below 4 but below 5."""
    model = LinearModel(
        "made", [1, 3], csc_array([[1.0, 1.0]]), [2], [2], np.zeros(2), np.full(2, 2.0), np.ones(2, bool)
    )
    assert excluded(model, np.ones(1), 3.999).tolist() == [False, True]
    assert excluded(model, np.ones(1), 5).tolist() == [False, False]
