"""Random draws of the replayed data centre, from uniform numbers only: those do not change with NumPy."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.draws import lognormal
from schedgap.instances.units import HOUR_S

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

# The rate of arrivals follows the day, and differs from hour to hour: assumed, like the mean of seconds that VMs are late.
DAY_AMPLITUDE, HOUR_SIGMA = 0.4, 0.35
LATE_S = 25.0
OVERSAMPLED = 15


def moments(rng: np.random.Generator, per_day: float, length_s: int) -> IntArray:
    """Return seconds, in order, of a Poisson process whose rate follows the day and differs from hour to hour."""
    hours = -(-length_s // HOUR_S)
    noise = lognormal(rng, HOUR_SIGMA, hours) * math.exp(-(HOUR_SIGMA**2) / 2)
    rate = (1 + DAY_AMPLITUDE * np.sin(2 * np.pi * (np.arange(hours) % 24) / 24)) * noise * per_day / 24
    total = np.concatenate(([0.0], np.cumsum(rate)))
    parts = []
    reached = 0.0
    while reached < total[-1]:
        steps = reached - np.cumsum(np.log1p(-rng.random(1024 + int(total[-1] / 8))))
        parts.append(steps)
        reached = float(steps[-1])
    seconds = np.interp(np.concatenate(parts), total, HOUR_S * np.arange(hours + 1), right=np.inf)
    return seconds[seconds < length_s].astype(np.int64)


def late_s(rng: np.random.Generator, share: float, number: int) -> IntArray:
    """Draw seconds: 0, but for some share of them exponential ones."""
    late = rng.random(number) < share
    return np.where(late, -LATE_S * np.log1p(-rng.random(number)), 0.0).astype(np.int64)


def lognormal_weights(rng: np.random.Generator, sigma: float, number: int) -> FloatArray:
    """Return the middles of so many equal parts of the lognormal distribution with median 1, in random order.

    The largest of weights drawn one by one, to which most VMs go, would make each cluster another.
    """
    normal = NormalDist()
    values = np.array([math.exp(sigma * normal.inv_cdf((k + 0.5) / number)) for k in range(number)])
    return values[np.argsort(rng.random(number), kind="stable")]


def betas(rng: np.random.Generator, shape: FloatArray, number: int) -> FloatArray:
    """Return about the middles of so many equal parts of the Beta distribution with two shapes, in random order.

    Found among OVERSAMPLED times as many draws by Joehnk's rejection, which is quick for shapes up to about 2.
    """
    values = np.zeros(OVERSAMPLED * number)
    left = np.arange(values.size)
    while left.size:
        powers = rng.random((left.size, 2)) ** (1 / shape)
        total = powers.sum(axis=1)
        good = (total <= 1) & (total > 0)
        values[left[good]] = powers[good, 0] / total[good]
        left = left[~good]
    middles = np.sort(values)[OVERSAMPLED // 2 :: OVERSAMPLED]
    return middles[np.argsort(rng.random(number), kind="stable")]
