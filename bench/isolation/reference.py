"""A fixed piece of work, timed just before each run: what a time means on this machine at this moment."""

from __future__ import annotations

import time

import numpy as np

_NUMBERS = 4096
_ROUNDS = 5


def reference_s() -> float:
    """Return the seconds that the work takes, the least of five rounds of about half a millisecond.

    Half of it is NumPy's (sorting, adding up), half is the interpreter's, as in most methods.
    """
    numbers = np.arange(_NUMBERS, dtype=np.int64) * 2654435761 % 1048583
    best = float("inf")
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        np.sort(numbers)
        np.cumsum(numbers * numbers)
        total = 0
        for i in range(4000):
            total += i & 7
        best = min(best, time.perf_counter() - start)
    return best
