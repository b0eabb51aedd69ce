import numpy as np

from schedgap.formulations.harvest.kernels_work import earliest_ends


def test_loops_against_plain_python():
    """The compiled loops against the definition, on random segments of many VMs."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        begin = np.sort(rng.integers(0, 50, 8))
        ends = np.append(begin[:-1] + rng.integers(1, 30, 7), 1 << 62)
        arrival, length = np.sort(rng.integers(0, 60, 10)), rng.integers(1, 40, 10)
        found = _earliest(begin, ends, arrival, length)
        for ready, size, end in zip(arrival, length, found, strict=True):
            starts = np.maximum(begin, ready)
            assert end == (starts[ends - starts >= size]).min() + size


def _earliest(begin, end, ready, length):
    found = np.empty_like(ready)
    stack = np.empty_like(begin)
    earliest_ends(begin, end, np.maximum.accumulate(end), np.arange(10)[::-1].copy(), ready, length, stack, found)
    return found
