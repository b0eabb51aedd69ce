"""How sure a mean is: the bootstrap interval of a mean over instances (Efron and Tibshirani, 1993, chapter 13)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import FloatArray

RESAMPLES = 10_000
SEED = 20_260_101
# Resampling more values than this says what the normal interval says, to about a hundredth of its width.
MOST_RESAMPLED = 500
_LEVEL = (0.025, 0.975)
_NORMAL = 1.959963984540054


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of the values and its 95% interval: percentiles of 10,000 resampled means.

    The draws are fixed, so equal values get equal intervals. Beyond 500 values the interval is the normal one. One value
    has no spread: it is its own interval.

    Raises
    ------
    ValueError
        for no values at all.
    """
    if not values:
        raise ValueError("the mean of no values")
    sample = np.asarray(values, dtype=np.float64)
    mean = math.fsum(values) / len(values)
    if sample.size == 1 or np.ptp(sample) == 0:
        return mean, mean, mean
    if sample.size > MOST_RESAMPLED:
        half = _NORMAL * float(sample.std(ddof=1)) / math.sqrt(sample.size)
        return mean, mean - half, mean + half
    low, high = np.quantile(_shares(sample.size) @ sample, _LEVEL)
    return mean, float(low), float(high)


@lru_cache(maxsize=2)
def _shares(size: int) -> FloatArray:
    """Return how much of each resample is of each value: (RESAMPLES, size), rows add up to 1.

    Methods of one suite have as many instances each, so one table serves their gaps and one their times. O(RESAMPLES
    size), 40 MB at most.
    """
    cells = np.random.default_rng(SEED).integers(size, size=(RESAMPLES, size))
    cells += size * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=RESAMPLES * size)
    del cells
    return counts.reshape(RESAMPLES, size) / size
