from itertools import combinations

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.kernels_fill import fill_machine


def filled(demand, value, capacity, *, goal=np.inf, moves=300, seed=1):
    """Return the value and the (N,) bool content that is found."""
    demand, value = np.array(demand, np.int64), np.array(value, np.float64)
    best = np.ones(value.shape[0], np.bool_)
    random = np.array([seed], np.uint64)
    found = fill_machine(demand, value, np.array(capacity, np.int64), goal, moves, random, best)
    assert (demand[best].sum(axis=0) <= capacity).all()
    assert found == pytest.approx(value[best].sum())
    return found, best


@pytest.mark.parametrize("seed", range(12))
def test_small_machines_get_their_dearest_content(seed):
    rng = np.random.default_rng(seed)
    demand, value = rng.integers(0, 40, (9, 2)), rng.integers(0, 50, 9)
    capacity = [80, 60]
    contents = [some for size in range(10) for some in combinations(range(9), size)]
    most = max(
        value[list(some)].sum() for some in contents if (demand[list(some)].sum(axis=0, initial=0) <= capacity).all()
    )
    assert filled(demand, value, capacity, seed=seed + 1)[0] == most


def test_a_machine_is_filled_to_the_last_unit():
    # 200 sizes up to 16,000 of 96,000: 1,500 moves waste less than a thousandth of a percent.
    size = np.random.default_rng(3).integers(250, 16_000, (200, 1))
    found, _ = filled(size, size[:, 0], [96_000], goal=95_999.5, moves=1_500)
    assert found >= 95_999


def test_it_ends_at_the_goal():
    # The first content, by value, is good enough.
    _, best = filled([[1]] * 4, [1, 1, 1, 1], [2], goal=2)
    assert best.sum() == 2


def test_what_is_worth_nothing_or_does_not_fit_stays_out():
    found, best = filled([[1], [9], [1]], [0, 7, 3], [5])
    assert (found, best.tolist()) == (3, [False, False, True])


def test_no_tasks():
    assert filled(np.zeros((0, 2)), [], [5, 5])[0] == 0
