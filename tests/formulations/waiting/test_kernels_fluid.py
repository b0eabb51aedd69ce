"""Work that overflows, against a queue that is served unit of time by unit of time."""

import numpy as np

from schedgap.formulations.waiting.kernels_fluid import overflow


def plain(moments, demand, served, longest):
    """Return the work that does not fit into a queue of served x longest."""
    queue = lost = 0
    for k, cores in enumerate(demand):
        for _ in range(int(moments[k + 1] - moments[k])):
            queue = max(0, queue + int(cores) - served)
            lost += max(0, queue - served * longest)
            queue = min(queue, served * longest)
    return lost


def test_a_queue_by_units_of_time():
    """Of the slope, too: with all amounts times 1000, one core more for so long serves so much more work."""
    some = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        number, longest = int(rng.integers(1, 8)), int(rng.integers(0, 4))
        moments = np.concatenate(([0], np.cumsum(rng.integers(1, 6, number))))
        demand, served = 1000 * rng.integers(0, 7, number), 1000 * int(rng.integers(0, 5))
        times = np.empty(number, np.int64)
        lost, congested = overflow(moments, demand, served, longest, times)
        assert lost == plain(moments, demand, served, longest)
        assert congested == times.sum() <= moments[-1]
        assert (times <= np.diff(moments)).all()
        # Beyond the last moment nothing is served that is asked for; units of time are not cut.
        if times[-1] == 0:
            assert congested == lost - plain(moments, demand, served + 1, longest)
            some += congested > 0
    assert some > 10


def test_congested_time_is_the_slope():
    """Two cores served, 3 asked for from 0 to 4: 1 x 4 too much, 2 x 1 may queue for an hour, so 2 overflow.

    From 4 to 6 one is asked for, and the queue of 2 is served by 6. Short of machines: 0 to the last overflow at 4,
    and an hour more. One more core serves all.
    """
    moments, demand = np.array([0, 4, 6, 9]), np.array([3, 1, 0])
    times = np.empty(3, np.int64)
    assert overflow(moments, demand, 2, 1, times) == (2, 5)
    assert times.tolist() == [4, 1, 0]
    assert overflow(moments, demand, 3, 1, times) == (0, 0)
    assert overflow(moments, demand, 2, 2, times) == (0, 0)


def test_overflow_is_linear_in_the_intervals():
    """Nobody is served, so work overflows in every interval, and every one is short for all of its length.

    With waits as long as all intervals together each overflow reaches to the end: quadratic where all are written anew.
    320,000 intervals took three minutes so.
    """
    count = 320_000
    times = np.empty(count, np.int64)
    assert overflow(np.arange(count + 1), np.ones(count, np.int64), 0, count, times) == (count, count)
    assert (times == 1).all()
