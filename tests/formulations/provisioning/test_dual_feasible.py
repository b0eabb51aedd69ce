import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedgap.formulations.provisioning.bounds import (
    large_or_nothing,
    resource_rows,
    rounded_halves,
    rounded_shares,
)


def test_by_hand():
    demand = np.array([6, 5, 4, 3, 2])
    # u^(1) of x = 0.6, 0.5, 0.4, ...: 2x = 1.2 -> 1, 1.0 -> x itself, below 1 -> 0; times 1 * 2.
    assert [rounded_shares(demand, 10, 1)[0].tolist(), rounded_shares(demand, 10, 1)[1]] == [[2, 1, 0, 0, 0], 2]
    # Threshold 4: above 6 all, from 4 to 6 itself, below 4 nothing.
    assert large_or_nothing(demand, 10, 4)[0].tolist() == [6, 5, 4, 0, 0]
    assert large_or_nothing(np.array([7]), 10, 4)[0].tolist() == [10]
    # Threshold 3: capacity holds 3; 6 leaves 4, one threshold: 2 * (3 - 1); the half: 3; 4 and 3 hold one: 2.
    assert [rounded_halves(demand, 10, 3)[0].tolist(), rounded_halves(demand, 10, 3)[1]] == [[4, 3, 2, 2, 0], 6]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=7), st.integers(1, 30), st.integers(1, 15), st.integers(1, 9))
def test_what_fits_still_fits(sizes, capacity, threshold, k):
    demand = np.minimum(np.array(sizes), capacity)
    fitting = demand[np.cumsum(demand) <= capacity]
    rows = [rounded_shares(demand, capacity, k)]
    if 2 * threshold <= capacity:
        rows += [large_or_nothing(demand, capacity, threshold), rounded_halves(demand, capacity, threshold)]
    rows += resource_rows(demand, capacity)
    for size, room in rows:
        assert size[: fitting.size].sum() <= room
        assert (size >= 0).all()


def test_a_resource_that_nobody_has_or_wants_has_no_rows():
    assert resource_rows(np.array([0, 0]), 10) == []
    assert resource_rows(np.array([0, 0]), 0) == []
