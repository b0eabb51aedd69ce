"""Proven bounds under a trade-off: the same instance with several prices of one figure against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.bench.statistics.measure_rows import Line, figure
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record

NAME = "proven bound"
POINTS = 60


def bound_line(
    records: Sequence[Record], x: tuple[float, float], price: str, worth: str, *, is_log_x: bool
) -> Line | None:
    """Return the upper envelope of y >= bound - worth x, one straight line an instance; None where it would prove nothing.

    The objective is y + worth x, so each instance's bound holds for all schedules of the others, if they differ in the
    price only: instances that differ in more have no common line.

    records : of all methods. x : from where to where, both positive if `is_log_x`. price : the parameter of the
    instances' sources that tells them apart. worth : the measure that says what a unit of x is worth.
    """
    best = best_of(records)
    lines: dict[str, tuple[float, float]] = {}
    sources = set()
    for record in records:
        slope, known = figure(record, worth), best[record.run.digest]
        if slope is None or known.bound is None:
            continue
        lines[record.run.digest] = known.bound / find_family(record.run.family).objective_scale, slope
        sources.add(tuple(sorted((key, str(value)) for key, value in record.run.source.items() if key != price)))
    if len(sources) != 1:
        return None
    grid = np.geomspace(*x, POINTS) if is_log_x else np.linspace(*x, POINTS)
    heights = np.max([bound - slope * grid for bound, slope in lines.values()], axis=0)
    ys = tuple(heights.tolist())
    return Line(NAME, True, "", {}, tuple(grid.tolist()), ys, ys, ys)
