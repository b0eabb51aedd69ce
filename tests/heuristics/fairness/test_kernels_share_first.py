"""Compiled code against itself in Python; `test_lowest_share_first` has a plain way to do the same."""

import numpy as np
import pytest

from schedgap.heuristics.fairness import lowest_share_first
from schedgap.heuristics.fairness.lowest_share_first import FULL, Left, Turns, Users, place_by_share


def drawn(seed):
    """Five users and three classes of two machines each, whose capacities some users' tasks exceed."""
    rng = np.random.default_rng(seed)
    order = np.array([rng.permutation(3) for _ in range(5)])
    order[0, 2] = order[1, 1:] = -1
    users = Users(
        rng.integers(1, 5, (5, 2)), rng.random((5, 3)), rng.random(5), order, np.arange(0, 7, 2), rng.permutation(5)
    )
    return users, Left(
        rng.integers(0, 6, 5), rng.integers(0, 4, (5, 3)), rng.integers(0, 10, (6, 2)), *np.zeros((2, 5))
    )


@pytest.mark.parametrize("seed", range(10))
def test_compiled_kernel_is_the_python_one(monkeypatch, seed):
    ways = []
    for compiled in (True, False):
        users, left = drawn(seed)
        before = left.left.copy()
        if not compiled:
            for name in ("_next_machine", "_sink", "rounded"):
                monkeypatch.setattr(lowest_share_first, name, getattr(lowest_share_first, name).py_func)
        place = place_by_share if compiled else place_by_share.py_func
        out = np.full((2, 40), -1)
        number = place(users, left, Turns(*np.empty((3, 5), np.int64)), *out)
        used = np.zeros_like(before)
        np.add.at(used, out[1, :number], users.demand[out[0, :number]])
        assert (before - left.left == used).all()
        assert (left.left >= 0).all()
        ways.append((number, out.tolist(), [array.tolist() for array in left]))
    assert ways[0] == ways[1]


def test_it_says_when_its_arrays_are_full():
    users, left = drawn(1)
    left = left._replace(tasks=np.full(5, 3), quota=np.full((5, 3), 3), left=np.full((6, 2), 100))
    assert place_by_share(users, left, Turns(*np.empty((3, 5), np.int64)), *np.empty((2, 4), np.int64)) == FULL
