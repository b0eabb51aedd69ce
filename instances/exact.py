"""Sums and products of 64-bit integers that do not wrap: in 64 bits where they fit, else in Python's own integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import IntArray

# The first number that int64 does not hold.
LIMIT = 2**63


def widened(values: IntArray, most: int) -> NDArray[Any]:
    """Return the values as they are if `most`, the largest number that comes of them, fits 64 bits, else as objects."""
    return values if most < LIMIT else values.astype(object)


def largest(values: IntArray) -> int:
    """Return the largest size of a value, 0 if there are none; -2^63 has no int64 of that size."""
    return max(-int(values.min()), int(values.max())) if values.size else 0


def product(left: IntArray, right: IntArray) -> NDArray[Any]:
    """Multiply element by element, shapes broadcast; int64 or objects."""
    most = largest(left) * largest(right)
    result: NDArray[Any] = widened(left, most) * widened(right, most)
    return result


def dot(left: IntArray, right: IntArray) -> NDArray[Any]:
    """Return left @ right, (n,) with (n,) or (n, m); int64 or objects, a plain number where the result is one."""
    most = largest(left) * largest(right) * max(1, left.shape[-1])
    result: NDArray[Any] = widened(left, most) @ widened(right, most)
    return result


def sums(index: IntArray, values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return for each place of `size` the sum of the values (n, ...) that `index` (n,) puts there; int64 or objects."""
    if values.dtype != object:
        values = widened(values, largest(values) * max(1, values.shape[0]))
    total = np.zeros((size, *values.shape[1:]), values.dtype)
    np.add.at(total, index, values)
    return total
