"""Subset-row cuts of three items: the search for violated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray


@kernel
def violated_triples(
    pair: FloatArray, start: IntArray, column: IntArray, holds: FloatArray, x: FloatArray, least: float, most: int
) -> tuple[IntArray, FloatArray]:
    """Return at most `most` triples (m, 3) of items that machines hold two of too often, and by how much, from `least` on.

    pair : (n, n), the machines that hold both items of a pair. start : (n + 1,) and column : the columns that hold an item.
    holds : (P, n), 1 where a column holds an item. x : (P,). A triple is violated by the machines that hold two or three of
    its items, less 1. O(n^3 / 6) sums, and columns for those that are large enough.
    """
    num = pair.shape[0]
    found = np.empty((most, 3), np.int64)
    by = np.zeros(most)
    number, worst = 0, 0
    for i in range(num):
        for j in range(i + 1, num):
            for k in range(j + 1, num):
                total = pair[i, j] + pair[i, k] + pair[j, k]
                if total < 1.0 + least:
                    continue
                for e in range(start[i], start[i + 1]):
                    p = column[e]
                    if holds[p, j] > 0 and holds[p, k] > 0:
                        total -= 2.0 * x[p]
                if total < 1.0 + least or (number == most and total - 1.0 <= by[worst]):
                    continue
                place = number if number < most else worst
                number = min(number + 1, most)
                found[place, 0], found[place, 1], found[place, 2] = i, j, k
                by[place] = total - 1.0
                if number == most:
                    worst = int(np.argmin(by))
    return found[:number], by[:number]
