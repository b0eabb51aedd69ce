"""Draws have the distribution that they are asked for."""

import numpy as np
import pytest

from schedgap.instances.draws import drawn, generator, lognormal, shuffled


def test_shares_may_be_any_multiple():
    """100,000 draws: a share lies within 4 standard errors, 0.6 %."""
    values = drawn(generator("test", 1), [7, 8], [3, 1], 100_000)
    assert (values == 7).mean() == pytest.approx(0.75, abs=0.006)
    assert set(values.tolist()) == {7, 8}


def test_lognormal_has_median_1():
    """Of 100,000 logarithms, mean and standard deviation lie within 4 standard errors."""
    logs = np.log(lognormal(generator("test", 2), 1.5, 100_000))
    assert logs.mean() == pytest.approx(0, abs=0.019)
    assert logs.std() == pytest.approx(1.5, abs=0.014)


def test_shuffled_keeps_the_values():
    values = shuffled(generator("test", 3), np.arange(100))
    assert sorted(values.tolist()) == list(range(100))
    assert values.tolist() != list(range(100))
