"""Sorting by merging, compiled: O(N log N). Numba's own sorts take seconds to compile."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import kernel, lean_kernel

# Blocks of so many are sorted by insertion before they are merged.
BLOCK = 16


@lean_kernel
def sort(values: IntArray, scratch: IntArray, size: int) -> None:
    """Sort the first `size` values, ascending, by merging; `scratch` is at least as long. O(size log size)."""
    for start in range(0, size, BLOCK):
        for i in range(start + 1, min(start + BLOCK, size)):
            value, place = values[i], i
            while place > start and values[place - 1] > value:
                values[place] = values[place - 1]
                place -= 1
            values[place] = value
    width = BLOCK
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, stop):
                if i < middle and (j >= stop or values[i] <= values[j]):
                    scratch[k] = values[i]
                    i += 1
                else:
                    scratch[k] = values[j]
                    j += 1
        for k in range(size):
            values[k] = scratch[k]
        width *= 2


@kernel
def argsort(keys: IntArray | FloatArray) -> IntArray:
    """Return the places of keys in ascending order, (N,) int64; equal ones in the order in which they are."""
    order = np.arange(keys.shape[0])
    sort_places(keys, order, np.empty_like(order), keys.shape[0])
    return order


@lean_kernel
def sort_places(keys: IntArray | FloatArray, order: IntArray, scratch: IntArray, size: int) -> None:
    """Put the first `size` places of `order` in the order of their keys without allocating; equal ones stay as they are."""
    for start in range(0, size, BLOCK):
        for i in range(start + 1, min(start + BLOCK, size)):
            place, at = order[i], i
            while at > start and keys[order[at - 1]] > keys[place]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = place
    width = BLOCK
    while width < size:
        for start in range(0, size, 2 * width):
            middle, stop = min(start + width, size), min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, stop):
                if i < middle and (j >= stop or keys[order[i]] <= keys[order[j]]):
                    scratch[k] = order[i]
                    i += 1
                else:
                    scratch[k] = order[j]
                    j += 1
        for k in range(size):
            order[k] = scratch[k]
        width *= 2
