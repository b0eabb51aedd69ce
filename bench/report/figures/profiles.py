"""Curves of each method over all runs: performance profiles, and gaps over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.report.figures.figure import Axis, Figure, Series
from schedgap.bench.report.figures.palette import mark
from schedgap.bench.report.figures.selection import Selection, thinned
from schedgap.bench.statistics import profiles
from schedgap.bench.statistics.anytime import Changes, gap_curves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedgap.bench.records.record import Record

    Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]

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
