"""Intervals of means: against SciPy's bootstrap, and what is known without one."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from schedgap.bench.statistics.summary import MOST_RESAMPLED, RESAMPLES, mean_interval


@pytest.mark.parametrize("size", [2, 7, 60])
def test_as_scipy_has_it(size):
    """Two bootstraps of 10,000 draws differ by a few hundredths of their width, and no more."""
    values = np.random.default_rng(size).exponential(size=size)
    mean, low, high = mean_interval(values.tolist())
    drawn = bootstrap((values,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(7))
    assert mean == pytest.approx(values.mean(), rel=1e-12)
    width = drawn.confidence_interval.high - drawn.confidence_interval.low
    assert low == pytest.approx(drawn.confidence_interval.low, abs=0.05 * width)
    assert high == pytest.approx(drawn.confidence_interval.high, abs=0.05 * width)


def test_many_values_have_the_normal_interval():
    """0 and 1 in turn, 800 of each: mean 1/2, standard deviation 1/2, 1.96 / 2 / 40 on either side."""
    assert MOST_RESAMPLED < 1600
    mean, low, high = mean_interval([0.0, 1.0] * 800)
    assert mean == 0.5
    assert (low, high) == pytest.approx((0.5 - 0.0245, 0.5 + 0.0245), abs=1e-4)


def test_the_two_meet():
    """Just below the limit, resampling gives what the normal interval gives just above it."""
    values = np.random.default_rng(0).normal(size=MOST_RESAMPLED).tolist()
    drawn, normal = mean_interval(values), mean_interval([*values, float(np.mean(values))])
    width = normal[2] - normal[1]
    assert drawn == pytest.approx(normal, abs=0.05 * width)


def test_equal_values_and_one_value():
    assert mean_interval([0.25]) == (0.25, 0.25, 0.25)
    assert mean_interval([0.1] * 3) == pytest.approx((0.1, 0.1, 0.1), rel=1e-12)


def test_equal_values_get_equal_intervals():
    values = [0.1, 0.4, 0.2, 0.9]
    assert mean_interval(values) == mean_interval(values)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@pytest.mark.parametrize(("size", "least"), [(2, 2), (3, 3), (8, 3), (9, 4), (10, 4), (500, 4), (501, 4)])
def test_how_many_must_have_changed_for_the_interval_to_lie_above_zero(size, least):
    """As docs/compare.md has it: all are missed with probability (1 - 3/8)^8 = 2.3%, (1 - 3/9)^9 = 2.6%."""
    lows = [mean_interval([0.9] * changed + [0.0] * (size - changed))[1] for changed in (least - 1, least)]
    assert lows[0] <= 0 < lows[1]
