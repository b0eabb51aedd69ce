import numpy as np

from schedgap.formulations.harvest.kernels_work import covering


def test_rows_count_the_columns_that_cover_their_slots():
    """Against every start of every group at every place."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        places, groups, slots, rows = 2, 3, 8, 5
        column = np.where(
            rng.random((places, groups, slots)) < 0.7, np.arange(places * groups * slots).reshape(2, 3, 8), -1
        )
        length, weight = rng.integers(1, 5, groups), rng.integers(0, 3, (2, groups))
        place, begin, kind = rng.integers(0, places, rows), rng.integers(0, slots - 1, rows), rng.integers(0, 2, rows)
        end = begin + rng.integers(1, 3, rows)
        wanted = [
            (r, int(column[place[r], g, s]), int(weight[kind[r], g]))
            for r in range(rows)
            for g in range(groups)
            for s in range(slots)
            if weight[kind[r], g] and column[place[r], g, s] >= 0 and s <= begin[r] and s + length[g] >= end[r]
        ]
        given, none = (column, length, weight, place, begin, end, kind), np.zeros(0, np.int64)
        count = covering(*given, none, none, none)
        out = [np.zeros(count, np.int64) for _ in range(3)]
        assert covering(*given, *out) == count
        assert sorted(zip(*(values.tolist() for values in out), strict=True)) == sorted(wanted)
