"""What a hole of a GPU is worth: by the prices of shares at which cutting whole GPUs into the expected ones breaks even.

Gilmore and Gomory's cutting stock (1961): the dual prices of  min GPUs  s.t.  each share as often as expected. They are found by
multiplicative weights (Plotkin, Shmoys, Tardos, 1995): the shares that are covered least have the highest weights, and the GPU
that is worth most by them is cut next. Near the exact duals, without a solver, in 20 ms for twenty shares.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from schedgap.instances.jit import inner_kernel, kernel

ROUNDS, STEP = 4000, 0.1


@inner_kernel
def _fill(sizes: Any, prices: Any, worth: Any, last: Any) -> None:
    """Fill `worth`, (L + 1,), with the most that shares in so much of a GPU are worth; `last` : the one to take first, or -1."""
    for length in range(worth.shape[0]):
        worth[length] = worth[length - 1] if length > 0 else 0.0
        last[length] = -1
        for s in range(sizes.shape[0]):
            if sizes[s] <= length and worth[length - sizes[s]] + prices[s] > worth[length]:
                worth[length] = worth[length - sizes[s]] + prices[s]
                last[length] = s


@kernel
def hole_prices(sizes: Any, pods: Any, worth: Any) -> None:
    """Fill `worth`, (L + 1,) float64, with the worth of so much of a GPU that has L units, 1 for all of it.

    sizes : (S,) int64, of shares, in units. pods : (S,) float64, how many of each are expected. O(`ROUNDS` L S).
    """
    num, length = sizes.shape[0], worth.shape[0] - 1
    last = np.empty(length + 1, np.int64)
    covered, prices, total, times = np.zeros(num), np.empty(num), np.zeros(num), np.zeros(num)
    for turn in range(ROUNDS):
        least = covered.min()
        for s in range(num):
            prices[s] = math.exp(least - covered[s]) / pods[s]
        _fill(sizes, prices, worth, last)
        times[:] = 0.0
        left = length
        while left > 0:
            if last[left] < 0:
                left -= 1
            else:
                times[last[left]] += 1.0
                left -= sizes[last[left]]
        step = STEP / (times / pods).max()
        for s in range(num):
            covered[s] += step * times[s] / pods[s]
            # The first half is for finding the way.
            if turn >= ROUNDS // 2:
                total[s] += step * prices[s] / worth[length]
    _fill(sizes, total, worth, last)
    whole = worth[length]
    for i in range(length + 1):
        worth[i] /= whole
