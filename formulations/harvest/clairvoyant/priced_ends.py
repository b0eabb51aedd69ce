"""When jobs should end by the prices of cores: whole ends that cost least, as far as no prices tried rule them out.

The prices' relaxation may end half of a job early and half of it late. The program over whole ends alone, with a row for each of
the best prices, has nearly the same value, and says which jobs wait for which.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.ends_program import Row, ends_program

if TYPE_CHECKING:
    from schedgap.formulations.harvest.price_bound.price_bound import Priced
    from schedgap.instances.arrays import FloatArray, IntArray

# Prices of the best bounds whose rows the program has, its slots of time, its jobs at most, and nodes of branching.
ROWS, SLOTS, MOST, NODES = 60, 200, 500, 100


def priced_ends(priced: Priced, ends: IntArray, deadline: float) -> FloatArray | None:
    """Return (G,) float64, due dates of jobs, ms after the first arrival; None if there are too many, or no time.

    ends : (G,) int64, ms after the first arrival, of some schedule. deadline : on `time.perf_counter`'s clock.
    """
    problem = priced.problem
    if problem is None or ends.shape[0] > MOST:
        return None
    cell = problem.cell
    stride = max(1, -(-int(ends.max()) // (cell * SLOTS)))
    number = -(-int(ends.max()) // (cell * stride))
    by = np.minimum(stride * np.arange(1, number + 1), priced.tried[0][1].shape[0]) - 1
    rows = []
    for _, price in sorted(priced.tried, key=lambda each: -each[0])[:ROWS]:
        if time.perf_counter() >= deadline:
            return None
        paid, limit = problem.paid(price)
        rows.append(Row(np.pad(paid[:, by], ((0, 0), (0, 1))), limit))
    earliest = (problem.groups.earliest - 1) // (cell * stride)
    at = np.concatenate(([0], np.cumsum(number - 1 - earliest)))
    if at[-1] == 0:
        return None
    left_s = None if math.isinf(deadline) else deadline - time.perf_counter()
    found = solve(ends_program(rows, earliest, at), time_limit_s=left_s, nodes=NODES)
    if found.x is None:
        return None
    later = np.diff(np.concatenate(([0], np.cumsum(np.rint(found.x))))[at])
    due: FloatArray = np.maximum((earliest + later + 1) * float(cell * stride), problem.groups.earliest)
    return due
