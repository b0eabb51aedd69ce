import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.certificate import lp_bound
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
