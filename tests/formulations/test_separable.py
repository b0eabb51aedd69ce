import numpy as np
import pytest
from scipy.sparse import csc_array

from schedgap.formulations.backends import BACKENDS, solve
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.separable import EXACT, SEPARABLE, inseparable, separated
from schedgap.instances.method import Status

MIP = [name for name, backend in BACKENDS.items() if backend.mip]


def program(row, row_lower, row_upper, *, cost=None, integral=True, name="knapsack"):
    size = len(row)
    return LinearModel(
        "tiny",
        [1.0] * size if cost is None else cost,
        csc_array(np.array([row], dtype=float)),
        [row_lower],
        [row_upper],
        [0.0] * size,
        [3.0] * size,
        [integral] * size if isinstance(integral, bool) else integral,
        row_names=(name,),
    )


def test_whole_rows_count_in_their_greatest_common_divisor():
    # 3 and 2^22 have the step 1; 3 and 2^22 times 5 have the step 5, and 2^21 times 6 and 9 the step 3 x 2^21.
    assert inseparable(program([3, SEPARABLE], 0, np.inf)) is None
    assert "knapsack of the program has coefficients up to 4.19e+06" in inseparable(program([3, 2**22], 0, np.inf))
    assert inseparable(program([3 * 5, 2**20 * 5], 0, np.inf)) is None
    assert inseparable(program([6 * 2**21, 9 * 2**21], 0, np.inf)) is None
    # A step of 5 against the largest, 2^22: still too far apart.
    assert inseparable(program([3 * 5, 2**22 * 5], 0, np.inf)) is not None


def test_rows_with_fractions_or_shares_count_in_their_smallest_coefficient():
    assert inseparable(program([0.5, 2**19], 0, np.inf)) is None
    assert inseparable(program([0.5, 2**21], 0, np.inf)) is not None
    # Gcd 1, but the row also has a variable that need not be whole: what counts is 6 against 6 x 2^21 + 1.
    mixed = program([6, 6 * 2**21 + 1], 0, np.inf, integral=[True, False])
    assert inseparable(mixed) is not None
    assert inseparable(program([6, 6 * 2**21], 0, np.inf, integral=[True, False])) is None


def test_linear_programs_and_empty_rows_need_nothing():
    assert inseparable(program([1, 2**40], 0, np.inf, integral=False)) is None
    assert inseparable(program([0, 0], 0, np.inf)) is None


@pytest.mark.parametrize("fields", [{"row": [EXACT]}, {"row": [1], "cost": [2.0**53]}])
def test_numbers_that_floats_do_not_hold_prove_nothing(fields):
    model = program(fields["row"], 0, np.inf, cost=fields.get("cost"))
    assert "floats hold them all up to" in inseparable(model)


def test_sides_out_of_reach_do_no_harm():
    # x + y <= 6.
    assert inseparable(program([1, 1], EXACT, np.inf)) is None
    assert inseparable(program([2**20, 1], -np.inf, 2**60)) is None


def test_wide_rows_are_divided_by_their_step_and_others_stay():
    # 2^22 (2 x + 3 y) >= 2^22 4 + 1 is 2 x + 3 y >= 5.
    given, reason = separated(program([2 * 2**22, 3 * 2**22], 4 * 2**22 + 1, 9 * 2**22 + 1))
    assert reason is None
    assert (given.matrix.toarray().tolist(), given.row_lower[0], given.row_upper[0]) == ([[2, 3]], 5, 9)
    small = program([4, 6], 5, np.inf)
    assert separated(small)[0] is small


@pytest.mark.parametrize("backend", MIP)
def test_a_search_that_proves_nothing_claims_nothing(backend):
    # x + 2^22 y = 2^22 + 1: x = y = 1. Nothing makes (2^22 - 1) x + 2^23 y = 2^21.
    found = solve(program([1, 2**22], 2**22 + 1, 2**22 + 1), backend)
    assert (found.status, found.bound, found.objective) == (Status.FEASIBLE, None, 2)
    assert found.trajectory == ()
    assert "tolerances" in found.unproven
    found = solve(program([2**22 - 1, 2**23], 2**21, 2**21), backend)
    assert (found.status, found.bound, found.x) == (Status.NO_SOLUTION, None, None)
    assert found.unproven is not None
    # The same with a step of 2^22: an equation without a solution, proven.
    assert solve(program([2**22, 2**23], 2**22 + 1, 2**22 + 1), backend).status is Status.INFEASIBLE


def test_costs_count_in_units():
    assert inseparable(program([1, 1], 1, np.inf, cost=[1, 2**38])) is None
    assert "a cost of the program is 2.75e+11 units" in inseparable(program([1, 1], 1, np.inf, cost=[1, 2**38 + 1]))
    # CBC calls covering programs with such costs infeasible.
    assert inseparable(program([1, 1], 1, np.inf, cost=[10**15, 10**15])) is not None
    assert inseparable(program([1, 1], 1, np.inf, cost=[0.5, 2**38])) is None
    assert inseparable(program([1, 1], 1, np.inf, cost=[0.5, -(2**39)])) is not None


def test_rows_with_shares_are_scaled_to_one_and_their_sides_with_them():
    """Whole machines and shares of tasks: no row of large numbers reaches a solver, which takes 2 + 3e-10 for 2."""
    given = program([2**20, -(2**18)], 2**19, 2**22, integral=[True, False])
    scaled, reason = separated(given)
    assert reason is None
    assert scaled.matrix.toarray().tolist() == [[1.0, -0.25]]
    assert (scaled.row_lower.tolist(), scaled.row_upper.tolist()) == ([0.5], [4.0])
    assert separated(program([2**20, 2**18], 0, 2**22))[0].matrix.max() == 2**20
