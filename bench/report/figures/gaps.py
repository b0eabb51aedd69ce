"""Figures of gaps with a point a run: a row for each method, and time against gap.

Curves of each method over all runs: performance profiles, and gaps over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from statistics import median

import numpy as np

from schedgap.bench.records.runs import Record
from schedgap.bench.report.figures.drawing import Axis, Figure, Series, mark
from schedgap.bench.report.figures.selection import RunPoint, Selection, thinned
from schedgap.bench.report.tables import seconds
from schedgap.bench.statistics import profiles
from schedgap.bench.statistics.profiles import Changes, gap_curves
from schedgap.bench.statistics.tables import percent

Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]

_NO_GAPS = (
    "No method proved a bound, so these are no gaps: the best known solution itself may be far from optimal. "
)  # fmt: skip


def gaps(selection: Selection) -> Figure | None:
    """Return the gaps of each method: points, a box around the middle half, a bar at the median, a mark at the mean."""
    if not any(scope == 0 for scope, _ in selection.gaps):
        return None
    rows = {method: i for i, method in enumerate(method for scope, method in selection.gaps if scope == 0)}
    series = _dots(selection, rows) + [
        _box(selection, scope, method, rows[method], own) for (scope, method), own in selection.gaps.items()
    ]
    return Figure(
        "gaps",
        "Gaps" if selection.has_bounds else "Distance to the best known solution",
        ("" if selection.has_bounds else _NO_GAPS) + "A point for each run, a box around the middle half with a bar at "
        "the median, the method's mark at the mean. Further left is better.",
        _axis(selection),
        Axis("", "rows", names=tuple(selection.methods[method] for method in rows)),
        tuple(series),
        is_broad=True,
    )


def scatter(selection: Selection) -> Figure | None:
    """Return time against gap: a point a run, and a mark at the medians of each method."""
    if not selection.points:
        return None
    medians = []
    for i, scope in enumerate(selection.scopes):
        chosen = sorted(p for p in selection.points if scope.group in (None, p.group))
        medians += [_medians(selection, i, list(own)) for _, own in groupby(chosen, key=lambda p: p.method)]
    return Figure(
        "scatter",
        f"Time against {'gap' if selection.has_bounds else 'distance'}",
        "A point for each run, a mark at the method's medians. Lower and further left is better; a point opens its "
        "instance.",
        Axis("time of a run", "log", "seconds"),
        _axis(selection),
        (*_dots(selection, None), *medians),
    )


def _axis(selection: Selection) -> Axis:
    return Axis("gap" if selection.has_bounds else "above the best known solution", "gap", "percent")


def _dots(selection: Selection, rows: dict[int, int] | None) -> list[Series]:
    """Return the points of each method and group, in rows by their gaps, or by time and gap."""
    series = []
    for (method, group), points in groupby(selection.points, key=lambda p: (p.method, p.group)):
        own = list(points)
        gap, walls = tuple(p.gap for p in own), tuple(p.wall_s for p in own)
        series.append(
            Series(
                method,
                selection.methods[method],
                gap if rows is not None else walls,
                () if rows is not None else gap,
                marks="dots",
                row=None if rows is None else rows[method],
                group=group,
                text=f"{{instance}}\n{selection.distance} {{{'y' if rows is None else 'x'}}} in {{seconds}}",
                seconds=walls,
                instances=tuple(p.instance for p in own),
            )
        )
    return series


def _box(selection: Selection, scope: int, method: int, row: int, own: tuple[float, ...]) -> Series:
    least, lower, middle, upper, most = np.quantile(own, (0, 0.25, 0.5, 0.75, 1)).tolist()
    mean = float(np.mean(own))
    return Series(
        method,
        selection.methods[method],
        (mean,),
        marks="all",
        row=row,
        spans=((least,), (most,)),
        box=(lower, middle, upper),
        scope=scope,
        text=f"mean {percent(mean)}, median {percent(middle)}\nhalf of the gaps from {percent(lower)} to "
        f"{percent(upper)}\nall from {percent(least)} to {percent(most)}; {_runs(len(own))}",
        said=f"median {percent(middle)}, worst {percent(most)}",
    )


def _medians(selection: Selection, scope: int, own: list[RunPoint]) -> Series:
    wall_s, gap = median(p.wall_s for p in own), median(p.gap for p in own)
    return Series(
        own[0].method,
        selection.methods[own[0].method],
        (wall_s,),
        (gap,),
        marks="large",
        scope=scope,
        text=f"median {selection.distance} {percent(gap)}, median time {seconds(wall_s)}\n{_runs(len(own))}",
        said=f"{percent(gap)} in {seconds(wall_s)}",
    )


def _runs(count: int) -> str:
    return f"{count:,} run" + "s" * (count != 1)


_SHARE = Axis("share of runs", "share", "share")


def time_profile(selection: Selection) -> Figure | None:
    """Return the shares of runs solved in at most so many times the fastest method's time."""
    return _figure(
        selection,
        profiles.time_profile,
        "time-profile",
        "Profile of times",
        "Share of runs solved in at most so many times the fastest method's time. Higher is better; the left end says "
        "who is fastest, the right end who solves most.",
        Axis("time / fastest method's", "log", "times", includes=1.0, told="within {} the fastest"),
        Axis("share of runs solved", "share", "share"),
    )


def gap_profile(selection: Selection) -> Figure | None:
    """Return the shares of runs with at most so large a gap; None without any bound."""
    if not selection.has_bounds:
        return None
    return _figure(
        selection,
        profiles.gap_profile,
        "gap-profile",
        "Profile of gaps",
        "Share of runs with at most this gap. Higher is better; the left end is proven optimal.",
        Axis("gap", "gap", "percent", told="gap at most {}"),
        _SHARE,
    )


def anytime(selection: Selection) -> Figure | None:
    """Return the mean gap of what was known after so much time; None without trajectories."""
    read: dict[str, Changes] = {}
    return _figure(
        selection,
        lambda records: gap_curves(records, read) if any(r.measurement.trajectory for r in records) else {},
        "anytime",
        "Gap over time",
        "Mean gap of the solution known after so much time, 100% before the first. Points on the way are the methods' "
        "own word, held against the verified end.",
        Axis("time since the start", "log", "seconds", told="after {}"),
        Axis("mean gap so far", "gap", "percent"),
    )


def _figure(
    selection: Selection,
    curves: Callable[[Sequence[Record]], Curves],
    name: str,
    title: str,
    note: str,
    x: Axis,
    y: Axis,
) -> Figure | None:
    series = []
    for i, scope in enumerate(selection.scopes):
        for label, curve in curves(scope.records).items():
            method = selection.numbers[label]
            xs, ys = thinned(*curve, selection.budget.curve)
            series.append(
                Series(
                    method, selection.methods[method], xs, ys, line="held", marks="few", dash=mark(method).dash, scope=i
                )
            )
    if not any(s.scope == 0 for s in series):
        return None
    return Figure(name, title, note, x, y, tuple(series), is_lower_better=y.scale == "gap")
