"""The linear program of a level, on two users of two classes."""

import numpy as np
import pytest

from schedgap.formulations.fairness.level_program import LevelProgram, bound_of, fluid_of
from schedgap.formulations.fairness.levels import first_start, near_cut
from schedgap.instances.errors import BackendError

INF = float("inf")


@pytest.fixture
def program(two_levels):
    fluid = fluid_of(two_levels)
    everyone, room = np.ones(2, np.bool_), np.ones((2, 1))
    start = first_start(fluid, fluid.open, near_cut(fluid, fluid.open, np.full(2, INF), room))
    return LevelProgram(fluid, everyone, fluid.open, room, np.ones(2), np.zeros(2), start)


def test_how_far_both_rise(two_levels, program):
    """To a quarter, all that user 0 can have: a quarter of the way to a share of 1 each."""
    one = 1 / program.fluid.scale
    point = program.solve(np.full(2, one), INF)
    assert point.theta == pytest.approx(0.25, rel=1e-9)
    assert bound_of(point.cut, np.ones((2, 1))) == pytest.approx(point.cut.weights @ np.full(2, one / 4), rel=1e-9)
    assert point.cut.weights[0] > 0
    assert point.cut.weights[1] == 0
    assert program.solve(np.full(2, one), 0.0) is None


@pytest.mark.parametrize("target", [0.0, -1.0, INF, np.nan])
def test_targets_to_which_nobody_can_rise(program, target):
    """HiGHS would never end on numbers that are not finite."""
    with pytest.raises(BackendError, match="above what all users have; accuracy was lost"):
        program.solve(np.full(2, target), INF)
