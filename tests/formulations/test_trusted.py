from math import inf, nan

from schedgap.formulations.linear_model import DUAL_SCALE, proven_cost, trusted


def test_a_float_bound_proves_the_next_whole_number():
    assert [proven_cost(b) for b in (7.5, 8.0, 8.0000001, 8.01, None, inf, nan, -3.0)] == [8, 8, 8, 9, 0, 0, 0, 0]
    assert trusted(-3.5) == -3


def test_a_shifted_bound_is_exact():
    assert proven_cost(0.5, 3 * DUAL_SCALE) == 4
    assert proven_cost(0.0, 3 * DUAL_SCALE + 1) == 3


def test_a_billionth_of_a_large_bound_is_not_believed():
    assert trusted(1e12) == 10**12 - 1000
