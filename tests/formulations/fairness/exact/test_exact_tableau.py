import time
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from schedgap.formulations.fairness.exact_filling import ExactTableau, OutOfTimeError

FOREVER = float("inf")


def test_a_vertex_of_fractions():
    """Maximise z with 3 x >= z, 5 y >= z, x + y <= 1: x = 5/8, y = 3/8 and z = 15/8; all rows cost something."""
    tableau = ExactTableau(np.array([[1, 1], [-3, 0], [0, -5]], object), [1, 0, 0])
    level = tableau.add_objective([1, 2], [1, 1])
    tableau.maximise(FOREVER)
    assert tableau.values() == {0: Fraction(5, 8), 1: Fraction(3, 8)}
    duals = tableau.duals()
    # 15 to 5 to 3: what a unit of the sum is worth, and of x and y.
    assert [Fraction(duals[row], duals[0]) for row in range(3)] == [1, Fraction(1, 3), Fraction(1, 5)]
    assert tableau.fix(level, tableau.first_slack + 1) == Fraction(15, 8)


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_floating_point(seed):
    """A level for several users of random numbers, many of them equal, so that many vertices are degenerate."""
    rng = np.random.default_rng(seed)
    users, rooms = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    uses = rng.integers(1, 4, (rooms, users * rooms)) * np.repeat(np.eye(rooms, dtype=int), users, axis=1)
    gains = -rng.integers(1, 4, (users, users * rooms)) * np.tile(np.eye(users, dtype=int), rooms)
    matrix, room = np.vstack((uses, gains)), [int(each) for each in rng.integers(1, 9, rooms)] + [0] * users
    tableau = ExactTableau(matrix.astype(object), room)
    level = tableau.add_objective(range(rooms, rooms + users), [1] * users)
    tableau.maximise(FOREVER)
    column = np.concatenate((np.zeros(rooms), np.ones(users)))
    found = linprog(np.append(np.zeros(matrix.shape[1]), -1.0), np.column_stack((matrix, column)), room)
    assert float(tableau.value[tableau.basic.index(level)]) == pytest.approx(-found.fun, rel=1e-9)


def test_the_deadline():
    tableau = ExactTableau(np.array([[1]], object), [1])
    tableau.add_objective([0], [1])
    with pytest.raises(OutOfTimeError):
        tableau.maximise(time.perf_counter() - 1)
