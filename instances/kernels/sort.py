"""Sorting without allocating, for lean kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import lean_kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
