"""What leaves the problem once user 0 of two stopped at a quarter, and user 1 rises on."""

import numpy as np
import pytest

from schedgap.formulations.fairness.level_program import Cut, bound_of, cut_from, excesses_of, fluid_of
from schedgap.formulations.fairness.levels import Remainder


@pytest.fixture
def stopped(two_levels):
    fluid = fluid_of(two_levels)
    share = np.full(2, 0.25 / fluid.scale)
    cut = cut_from(fluid, fluid.open, np.array([[1.0], [0.0]]), np.zeros(2))
    assert cut.weights @ share == pytest.approx(bound_of(cut, np.ones((2, 1))))
    rest = Remainder(fluid)
    rest.amounts[0, 0] = 1.0
    rest.drop_priced(cut, share, 0.0, 1.0)
    return fluid, share, rest


def test_who_does_not_count_loses_what_is_priced(stopped):
    _, _, rest = stopped
    assert rest.columns.tolist() == [[True, False], [False, True]]


def test_a_slack_closes_nothing(two_levels):
    fluid = fluid_of(two_levels)
    rest = Remainder(fluid)
    rest.drop_priced(Cut(np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), np.zeros(2)), np.ones(2), 1.0, 1.0)
    assert np.array_equal(rest.columns, fluid.open)


def test_who_has_one_column_leaves_with_what_it_uses(stopped):
    fluid, share, rest = stopped
    rest.leave(np.array([False, True]), share)
    assert rest.present.tolist() == [False, True]
    assert rest.room == pytest.approx(np.array([[0.0], [1.0]]), abs=1e-12)
    assert rest.amounts[0] == pytest.approx([1.0, 0.0])
    # A price of what it uses is paid by its weight.
    cut = rest.completed(Cut(np.array([[2.0], [1.0]]), np.array([0.0, 1.0]), np.zeros(2)))
    assert excesses_of(fluid, cut)[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert cut.weights[1] == 1.0


def test_who_runs_all_its_tasks_keeps_the_best_columns(two_levels):
    """Two tasks of user 1, worth more on the second class by its speed."""
    instance = two_levels.replace(name="capped", tasks=[-1, 2], performance=[[1000, 1000], [1000, 2000]])
    rest = Remainder(fluid_of(instance, merge=False))
    cap = rest.caps()
    assert np.isinf(cap[0])
    rest.drop_capped(np.array([False, True]), cap)
    assert rest.columns.tolist() == [[True, False], [False, True]]
