import numpy as np

from schedgap.formulations.harvest.kernels_work import NO_WINDOW, Prices, cheapest_windows


def test_windows_against_every_start():
    """Each millisecond as a start: the cheapest that ends in each cell, or by it."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        begin = np.unique(rng.integers(0, 20, 3))
        reach = np.append(np.sort(rng.integers(5, 30, begin.size - 1)), 1 << 62)
        ready, length, cell, cells = (int(rng.integers(low, high)) for low, high in ((0, 15), (1, 12), (1, 7), (6, 12)))
        price = rng.integers(0, 5, cells)
        sums = np.concatenate(([0], np.cumsum(price * cell)))
        least, since = np.empty(cells, np.int64), np.empty(cells, np.int64)
        cheapest_windows(ready, length, begin, reach, Prices(cell, price, sums, 0), cells, least, since)
        each_ms = np.repeat(price, cell)
        wanted = np.full(cells, NO_WINDOW)
        for start in range(ready, cells * cell - length + 1):
            q = np.searchsorted(begin, start, side="right") - 1
            if q >= 0 and start + length <= reach[q]:
                c = (start + length - 1) // cell
                wanted[c] = min(wanted[c], each_ms[start : start + length].sum())
        # What begins in a cell before and is as cheap need not be found again.
        assert (np.minimum.accumulate(least) == np.minimum.accumulate(wanted)).all()
