"""Dives among the three ways to put two of three items into a box: 1.5 boxes in the relaxation, and no solution below 2."""

import time

import numpy as np
import pytest

from schedgap.formulations.column_generation.master import Depths, Dive, Master, whole_parts

ONE = 1_000_000
CONTENTS = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


class Boxes:
    """Boxes of two kinds of price; every machine counts in a row of its own."""

    def __init__(self, asked=(1, 1, 1)):
        class Counted(Master):
            def others(self, kind, patterns):
                return np.ones((kind.shape[0], 1), np.int64)

        self.master = Counted(np.array([ONE]), np.array(asked), np.array([-np.inf]), np.array([20.0]))
        self.master.add(np.zeros(6, np.int64), CONTENTS)
        self.seen = []

    def restrict(self, left, cutoff):
        self.master.restrict(left)

    def near(self, left, fixed, deadline, cutoff):
        self.seen.append((left.tolist(), sum(part.times for part in fixed), float(self.master.high[0]), cutoff))
        found = self.master.solve(deadline - time.perf_counter())
        return found if found is not None and found.objective * ONE < cutoff else None


def dive(boxes, cutoff, depths=(0, 0)):
    search = Dive(boxes, time.perf_counter() + 60, cutoff, 0.8)
    return search.run(Depths(*depths)), search.nodes


def test_a_dive_covers_everything_once():
    boxes = Boxes((5, 5, 5))
    parts, _ = dive(boxes, None)
    assert sum(part.times * part.pattern for part in parts).tolist() == [5, 5, 5]
    assert sum(part.times for part in parts) == 8


def test_limits_and_cutoffs_are_for_what_is_left():
    boxes = Boxes((5, 5, 5))
    boxes.master.limit(np.array([-np.inf]), np.array([9.0]))
    dive(boxes, 10 * ONE)
    assert all(high == 9 - machines and cutoff == (10 - machines) * ONE for _, machines, high, cutoff in boxes.seen)
    assert len(boxes.seen) > 1


def test_stepping_back_looks_at_more_and_leaves_the_master_as_it_was():
    boxes = Boxes()
    (first, few), (second, many) = dive(boxes, 2 * ONE), dive(boxes, 2 * ONE, (3, 2))
    assert first == second == []
    assert many > few
    assert boxes.master.left.tolist() == [1, 1, 1]
    assert boxes.master.high.tolist() == [20]
    assert boxes.master.solve(10.0).objective == pytest.approx(1.5)


def test_a_thousand_steps_are_no_thousand_calls():
    """Nothing is whole, so each step fixes one machine."""
    boxes = Boxes((1, 1, 1))
    boxes.master.asked = boxes.master.left = np.array([1500, 0, 0])
    boxes.near = lambda left, *_: type("Found", (), {"x": np.array([0, 0, 0, 0.5, 0, 0])})
    boxes.restrict = lambda left, cutoff: None
    parts, nodes = dive(boxes, None)
    assert (len(parts), nodes) == (1500, 1500)


@pytest.mark.parametrize(
    ("x", "left", "chosen"),
    [
        ([2.9, 0.2, 0], [9, 9, 9], [(0, 3)]),
        ([2.9, 0.2, 0], [2, 9, 9], [(0, 2)]),
        ([0.4, 0.5, 0.3], [9, 9, 9], [(1, 1)]),
        ([0.4, 0.5, 0.3], [9, 9, 0], [(0, 1)]),
        ([0.0, 0.0, 0.0], [9, 9, 9], []),
    ],
)
def test_whole_parts(x, left, chosen):
    assert whole_parts(np.array(x), CONTENTS[:3], np.array(left), 0.8) == chosen


def test_whole_parts_without_what_is_left_out():
    assert whole_parts(np.array([0.4, 0.5, 0.3]), CONTENTS[:3], np.array([9, 9, 9]), 0.8, frozenset({1})) == [(0, 1)]
