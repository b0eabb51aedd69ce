"""Random draws that are the same everywhere: only uniform numbers of `numpy.random.Generator(PCG64)` are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import derived_seed


def generator(family: str, kind: str, *parts: object) -> np.random.Generator:
    """Return the generator of an instance of a kind, of a size and with a seed."""
    return np.random.Generator(np.random.PCG64(derived_seed(family, kind, *parts)))


def drawn(rng: np.random.Generator, values: ArrayLike, shares: ArrayLike, number: int) -> IntArray | FloatArray:
    """Draw so many of the values, with the given shares or any multiple of them."""
    bounds = np.cumsum(np.asarray(shares, np.float64))
    found: IntArray | FloatArray = np.asarray(values)[
        np.searchsorted(bounds[:-1], rng.random(number) * bounds[-1], side="right")
    ]
    return found


def shuffled(rng: np.random.Generator, values: IntArray) -> IntArray:
    """Return the values in random order."""
    return values[np.argsort(rng.random(values.shape[0]), kind="stable")]


def lognormal(rng: np.random.Generator, sigma: float, number: int) -> FloatArray:
    """Draw from the lognormal distribution with median 1, by Box and Muller's transformation."""
    radius, angle = np.sqrt(-2 * np.log1p(-rng.random(number))), 2 * np.pi * rng.random(number)
    values: FloatArray = np.exp(sigma * radius * np.cos(angle))
    return values
