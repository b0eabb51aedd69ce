"""Boxes for $1 that hold 2 of some items and 1 of others, in a master without other rows, and in one that limits boxes."""

import numpy as np
import pytest

from schedgap.formulations.column_generation.master import Master

ONE = 1_000_000
# Three items of which any two fill a box.
PAIRS = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
NONE = np.zeros(3, np.int64)


class Limited(Master):
    """At most so many boxes."""

    def __init__(self, asked, most):
        super().__init__(np.array([ONE]), np.array(asked), np.array([-np.inf]), np.array([float(most)]))

    def others(self, kind, patterns):
        return np.ones((kind.shape[0], 1), np.int64)


@pytest.fixture
def master():
    master = Master(np.array([ONE]), np.ones(3, np.int64), np.zeros(0), np.zeros(0))
    assert master.add(NONE, PAIRS) == 3
    return master


def test_columns_are_known_once_and_empty_ones_never(master):
    assert master.add(NONE, PAIRS) == 0
    assert master.add(NONE[:1], np.zeros((1, 3), np.int64)) == 0
    assert (master.num_columns, master.kind.tolist(), master.patterns.tolist()) == (3, [0, 0, 0], PAIRS.tolist())
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_there_is_room_for_any_number_of_columns():
    master = Master(np.array([ONE]), np.array([10_000]), np.zeros(0), np.zeros(0))
    patterns = np.arange(1, 1001)[:, None]
    assert master.add(np.zeros(1000, np.int64), patterns) == 1000
    assert (master.patterns == patterns).all()
    assert master.solve(10.0).objective == pytest.approx(10)


def test_what_no_column_covers_costs_ten_machines():
    master = Master(np.array([ONE, 3 * ONE]), np.array([2]), np.zeros(0), np.zeros(0))
    assert master.solve(10.0).objective == pytest.approx(60)
    assert master.slack.tolist() == pytest.approx([2])


def test_what_is_left_forbids_columns_with_more(master):
    master.restrict(np.array([1, 1, 0]))
    assert master.solve(10.0).x.tolist() == pytest.approx([1, 0, 0])
    assert master.solve_integer(10.0).sum() == 2
    master.restrict(np.ones(3, np.int64))
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_limits_of_other_rows():
    master = Limited([1, 1, 1], 2)
    master.add(NONE, PAIRS)
    assert master.rows(NONE, PAIRS)[:, 3].tolist() == [1, 1, 1]
    assert master.solve_integer(10.0).sum() == 2
    master.limit(np.array([-np.inf]), np.array([1.0]))
    assert master.solve_integer(10.0) is None
    # One box with two items at most: the third is left out at $10, and half of it would do.
    assert master.solve(10.0).objective == pytest.approx(1 + 10)
    master.limit(np.array([-np.inf]), np.array([2.0]))
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_columns_that_improve(master):
    duals = np.array([0.6, 0.6, 0.4])
    assert master.reduced_costs(NONE, PAIRS, duals).tolist() == pytest.approx([-0.2, 0.0, 0.0])
    assert master.improving(NONE, PAIRS, duals).tolist() == [0]
    master.restrict(np.array([1, 0, 1]))
    assert master.improving(NONE, PAIRS, duals).tolist() == []


def test_the_cheapest_whole_solution_below_the_cutoff(master):
    assert master.solve_integer(10.0, 2 * ONE) is None
    assert master.solve_integer(10.0, 2 * ONE + 1).sum() == 2
    assert Limited([1], 1).solve_integer(10.0) is None
