"""Performance profiles (Dolan and More, 2002, https://doi.org/10.1007/s101070100263): shares of problems as step curves.

A problem is a pair of instance and seed (see `paired.problems`). A method's share is of all the problems that the records
hold for it: one that it failed on, found nothing on or does not support never counts as reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.statistics.paired import problems
from schedgap.bench.statistics.summary import best_of, bounds_only, is_solved, verified_objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record

# The clock's resolution, seconds: shorter times count as this, so that no ratio is by zero.
RESOLUTION_S = 1e-6

Curves = dict[str, tuple[list[float], list[float]]]


def time_profile(records: Sequence[Record]) -> Curves:
    """Return, by method, the share of problems that it solved in at most x times what the fastest method took there.

    A problem is solved by any verified solution, or by a proven bound if the method gives bounds alone.
    x ascends from 1 to the largest ratio of all methods; the share holds from its x up to the next. Where nobody solved
    a problem, nobody reached it.
    """
    bounding = bounds_only(records)
    ratios: dict[str, list[float | None]] = {}
    for problem in problems(records):
        times = {
            label: max(wall_s, RESOLUTION_S)
            for label, record in problem.items()
            if (wall_s := record.measurement.wall_s) is not None and is_solved(record, bounding)
        }
        least = min(times.values(), default=None)
        for label in problem:
            time = times.get(label)
            ratios.setdefault(label, []).append(None if time is None or least is None else time / least)
    return _curves(ratios, 1.0)


def gap_profile(records: Sequence[Record]) -> Curves:
    """Return, by method, the share of problems that it solved with a gap of at most x to the best proven bound.

    x ascends from 0 to the largest gap of all methods; the share holds from its x up to the next. A ratio of gaps, which
    a profile of times would suggest, has no meaning where the best gap is 0. Problems whose instance has no proven
    bound, and methods that give bounds alone, are left out.
    """
    best, bounding = best_of(records), bounds_only(records)
    gaps: dict[str, list[float | None]] = {}
    for problem in problems(records):
        # All of one instance.
        known = best[next(iter(problem.values())).run.digest]
        if known.bound is None:
            continue
        for label, record in problem.items():
            if label not in bounding:
                gaps.setdefault(label, []).append(known.gap(verified_objective(record)))
    return _curves(gaps, 0.0)


def _curves(values: dict[str, list[float | None]], first: float) -> Curves:
    """Return a step curve for each method, from `first` to the largest value of all; None is never reached."""
    last = max((value for own in values.values() for value in own if value is not None), default=first)
    curves: Curves = {}
    for label, own in values.items():
        x, share = [first], [0.0]
        for reached, value in enumerate(sorted(value for value in own if value is not None), start=1):
            if value > x[-1]:
                x.append(value)
                share.append(0.0)
            share[-1] = reached / len(own)
        if x[-1] < last:
            x.append(last)
            share.append(share[-1])
        curves[label] = x, share
    return curves
