import numpy as np
import pytest

from schedgap.formulations.backends import highs_lp as highs_warm_lp
from schedgap.formulations.backends.highs_lp import Basis, WarmLp
from schedgap.instances.errors import BackendError

INF = np.inf


def two_rows():
    """Minimise -3a - 2b with a + b <= 4 and a + 3b <= 6: a = 4, at a price of 3 for the first row."""
    lp = WarmLp([-INF, -INF], [4.0, 6.0])
    lp.add_entries([-3.0, -2.0], np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 1.0, 3.0]))
    return lp


def test_solves_and_tells_its_basis():
    lp = two_rows()
    solution = lp.solve_surely(INF)
    assert (solution.x.tolist(), solution.row_duals.tolist(), solution.objective) == ([4, 0], [-3, 0], -12)
    basis = lp.basis()
    assert (basis.columns.tolist(), basis.rows.tolist()) == ([True, False], [False, True])


def test_a_good_basis_leaves_nothing_to_do():
    lp = two_rows()
    lp.set_basis(Basis(np.array([True, False]), np.array([False, True])))
    assert lp.solve_surely(INF).x.tolist() == [4, 0]
    assert lp.iterations == 0


def test_entries_change():
    lp = two_rows()
    lp.solve_surely(INF)
    lp.set_entries(0, np.array([0, 1]), np.array([2.0, 2.0]))
    # a = 3/2, b = 1: 4.5 + 2.
    assert lp.solve_surely(INF).x.tolist() == pytest.approx([1.5, 1.0])


def test_no_time_is_no_solution():
    assert two_rows().solve_surely(0.0) is None


def test_what_has_no_optimum_is_named():
    lp = WarmLp([5.0], [4.0])
    lp.add_entries([1.0], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(BackendError, match=f"'Infeasible' .* in {len(highs_warm_lp.ATTEMPTS)} ways"):
        lp.solve_surely(INF)
