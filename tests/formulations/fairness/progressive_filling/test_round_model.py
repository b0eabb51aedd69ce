"""The program of a round: solved, its numbers are in the instance's units."""

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.fairness.progressive_filling import RoundModel


def solved(instance, active, kept, kept_tasks=None, backend="highs"):
    model = RoundModel(instance)
    found = solve(model.build(np.array(active), np.array(kept), kept_tasks), backend)
    return model, model.point(found.x), found.row_duals


@pytest.mark.parametrize("backend", ["highs", "glop"])
def test_first_round(two_levels, backend):
    """The level is 1/4; what 8 tasks' worth of share costs is what the class of user 0 costs: 8 / 2 a core there."""
    model, point, duals = solved(two_levels, [True, True], [0.0, 0.0], backend=backend)
    assert point.level == pytest.approx(0.25, rel=1e-12)
    assert point.shares.min() == pytest.approx(0.25, rel=1e-12)
    weights, prices = model.weights(duals), model.prices(duals)
    assert weights[1] == 0
    # A task of user 0 adds 1/8 and takes 1000 thousandths of a core.
    assert prices[0, 0] * 1000 == pytest.approx(weights[0] / 8, rel=1e-12)
    assert prices[1, 0] == 0


def test_others_keep_their_shares(two_levels):
    _, point, _ = solved(two_levels, [False, True], [0.125, 0.0])
    assert point.tasks[0, 0] == pytest.approx(1, rel=1e-9)
    assert point.level == pytest.approx(7 / 8, rel=1e-12)


def test_others_keep_their_numbers_of_tasks(two_levels):
    """User 1 keeps two tasks, of any speed; user 0 has both cores that it can use."""
    fast = two_levels.replace(performance=[[1000, 1000], [1000, 3000]])
    model, point, _ = solved(fast, [True, False], [0.0, 0.0], np.array([0.0, 2.0]))
    assert point.tasks[0].tolist() == pytest.approx([2, 0], rel=1e-9)
    assert point.tasks[1].sum() >= 2 - 1e-9
    assert model.gain[1] == pytest.approx([1 / 20, 3 / 20])


def test_only_useful_pairs_are_variables(two_levels):
    """Class `both` is not user 1's any more, and adds nothing to user 0's share on `one`, where it may not run."""
    assert list(zip(RoundModel(two_levels).user, RoundModel(two_levels).machine_class, strict=True)) == [
        (0, 0),
        (1, 0),
        (1, 1),
    ]
    slow = two_levels.replace(performance=[[1000, 1000], [0, 1000]])
    assert RoundModel(slow).user.tolist() == [0, 1]


def test_numbers_of_tasks_limit(two_levels):
    _, point, _ = solved(two_levels.replace(tasks=[-1, 1]), [False, True], [0.0, 0.0])
    assert point.tasks[1].sum() == pytest.approx(1, rel=1e-9)
    assert point.level == pytest.approx(1 / 8, rel=1e-12)
