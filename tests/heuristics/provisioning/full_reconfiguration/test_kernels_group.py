import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_pack import (
    class_demand,
    group_rows,
    list_members,
    reservation_ranks,
)


@pytest.mark.parametrize("seed", range(10))
def test_rows_are_numbered_as_they_come(seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 2, (2, 20, 2))
    row2class, first = np.empty(20, np.int32), np.empty(20, np.int32)
    odd = rng.integers(-(2**40), 2**40, (2, 2)) * 2 + 1
    number = group_rows(demand, odd, np.full(64, -1, np.int32), row2class, first)
    rows = [demand[:, t].tobytes() for t in range(20)]
    known = list(dict.fromkeys(rows))
    assert number == len(known)
    assert row2class.tolist() == [known.index(row) for row in rows]
    assert first[:number].tolist() == [rows.index(row) for row in known]


@pytest.mark.parametrize("seed", range(5))
def test_members_are_listed_by_class_in_order(seed):
    task2class = np.random.default_rng(seed).integers(0, 4, 12).astype(np.int32)
    start, members = np.empty(5, np.int64), np.empty(12, np.int32)
    list_members(task2class, start, members)
    for c in range(4):
        assert members[start[c] : start[c + 1]].tolist() == np.flatnonzero(task2class == c).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_a_row_that_fits_no_type_of_a_family_is_not_there(seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(-1, 5, (3, 6, 2))
    rows, families, largest = np.array([0, 2, 5], np.int32), np.array([2, 0]), rng.integers(0, 5, (2, 2))
    out = np.empty((2, 3, 2), np.int32)
    class_demand(demand, rows, families, largest, out)
    for g, f in enumerate(families):
        for c, row in enumerate(rows):
            need = demand[f, row]
            usable = (need >= 0).all() and (need <= largest[g]).all()
            assert out[g, c].tolist() == (need.tolist() if usable else [-1, -1])


@pytest.mark.parametrize("seed", range(10))
def test_a_reservation_type_is_the_first_that_fits(seed):
    rng = np.random.default_rng(seed)
    demand, type2group, capacity = rng.integers(-1, 5, (2, 4, 2)), rng.integers(0, 2, 5), rng.integers(0, 5, (5, 2))
    by_price, rank = rng.permutation(5), np.empty(4, np.int32)
    found = reservation_ranks(demand, type2group, capacity, by_price, rank)
    expected = []
    for c in range(4):
        able = [
            i
            for i, k in enumerate(by_price)
            if demand[type2group[k], c, 0] >= 0 and (demand[type2group[k], c] <= capacity[k]).all()
        ]
        expected.append(able[0] if able else -1)
    assert rank.tolist() == expected
    assert found == (expected.index(-1) if -1 in expected else -1)
