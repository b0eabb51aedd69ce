"""Figures as short JSON for the page: columns of numbers that several series share are written once.

Curves of the solutions of one instance, those of all methods over each other: a figure for each title.

Schedules by time as files: of the first instance of each group the best schedule, and below it the worst.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from statistics import median
from textwrap import shorten
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from schedgap.bench.records.runs import Record
from schedgap.bench.report.figures.drawing import LIGHT, Axis, Figure, Series, mark
from schedgap.bench.report.figures.selection import Budget, clipped, thinned
from schedgap.bench.statistics.summary import verified_objective
from schedgap.instances.picture import MARK, PARTS, TICKS, Curve, Picture, Timetable

# A chart is a few hundred pixels high: values are kept to this share of their axis' length, as a power of ten.
_DIGITS = 4
_DEFAULTS = {
    kind: {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    for kind in (Axis, Figure, Series)
}


class FigurePacker:
    """Packs figures. methods : their names. columns : with their numbers. size : bytes of JSON so far."""

    def __init__(self, methods: Sequence[str] = ()) -> None:
        self.methods = methods
        self.columns: dict[tuple[float, ...], int] = {}
        self.size = 0

    def pack(self, figure: Figure) -> dict[str, Any]:
        """Return a figure as the page's script reads it: what has its default is left out, columns are numbers.

        A series has no name where that is its method's.
        """
        packed = _told(figure) | {
            "x": _told(figure.x),
            "y": _told(figure.y),
            "series": [self._series(series) for series in figure.series],
        }
        self.size += _bytes(packed)
        return packed

    def _series(self, series: Series) -> dict[str, Any]:
        packed = _told(series)
        if self.methods[series.method : series.method + 1] == (series.name,):
            del packed["name"]
        for name in ("x", "y", "seconds", "instances"):
            if name in packed:
                packed[name] = self._number(getattr(series, name))
        if series.spans is not None:
            packed["spans"] = [self._number(ends) for ends in series.spans]
        if series.box is not None:
            packed["box"] = short_column(series.box)
        return packed

    def _number(self, column: Sequence[float]) -> int:
        short = short_column(column)
        if short not in self.columns:
            self.columns[short] = len(self.columns)
            self.size += _bytes(short)
        return self.columns[short]


def _told(spec: Axis | Figure | Series) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    defaults = _DEFAULTS[type(spec)]
    given = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return {name: value for name, value in given.items() if name not in defaults or value != defaults[name]}


def _bytes(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def short_column(values: Sequence[float]) -> tuple[float, ...]:
    """Return values with as many digits as a chart can show, as whole numbers where they are: shorter to write.

    Decimals are those that an axis of this length shows, and of small values as many that count.
    """
    size = max(values) - min(values)
    shown = _decimals(size) if size > 0 else 0
    rounded = (
        round(value, shown if value == 0 or 10 * abs(value) >= size > 0 else max(shown, _decimals(10 * abs(value))))
        for value in values
    )
    return tuple(int(value) if float(value).is_integer() else value for value in rounded)


def _decimals(length: float) -> int:
    return _DIGITS - math.floor(math.log10(length))


# An axis is logarithmic if half of the points are within so small a share of it.
SQUEEZED = 0.05
# Of an instance's name above the axes of a file.
LETTERS = 70


class MethodCurve(NamedTuple):
    """A curve of the solution of the method with this number; name : with the repetition, where there are several."""

    method: int
    name: str
    curve: Curve


def is_squeezed(along: Sequence[Sequence[float]]) -> bool:
    """Whether most points of these curves would lie in a small part of a linear axis, next to 0.

    So it is with the quantiles of what has a long tail, and never with what goes on evenly.
    """
    values = [value for x in along for value in x]
    return min(values) >= 0 and 0 < median(values) < SQUEEZED * max(values)


def drawn_instances(records: Sequence[Record]) -> list[list[Record]]:
    """Return the runs with a verified solution on the first instance of each group that has any."""
    chosen: dict[str, list[Record]] = {}
    for record in records:
        if verified_objective(record) is not None:
            own = chosen.setdefault(record.run.group, [])
            if not own or own[0].run.digest == record.run.digest:
                own.append(record)
    return list(chosen.values())


def build_curve_figures(
    records: Sequence[Record], pictures: Mapping[str, Picture], methods: Sequence[str], budget: Budget
) -> tuple[Figure, ...]:
    """Return figures for papers: for each group of instances those of its first, with one run a method.

    methods : that have marks; others are not drawn.
    """
    numbers = {method: i for i, method in enumerate(methods)}
    figures: list[Figure] = []
    for own in drawn_instances(records):
        # Of a stochastic method the first repetition.
        first: dict[int, Record] = {}
        for record in own:
            number = numbers.get(clipped(record.run.label, budget.text))
            if number is not None and record.key in pictures:
                first.setdefault(number, record)
        curves = [
            MethodCurve(number, methods[number], curve)
            for number, record in first.items()
            for curve in pictures[record.key].curves
            if curve.x
        ]
        instance = clipped(own[0].run.instance, budget.text)
        figures += solution_figures(curves, instance, budget, len(figures) + 1)
    return tuple(figures[: budget.curve_figures])


def solution_figures(curves: Iterable[MethodCurve], instance: str, budget: Budget, first: int = 1) -> list[Figure]:
    """Return a figure for each title of these curves, numbered from `first`."""
    found: dict[tuple[str, str, str], list[Series]] = {}
    for method, name, curve in curves:
        head = (
            clipped(curve.title, budget.text),
            clipped(curve.x_label, budget.text),
            clipped(curve.y_label, budget.text),
        )
        x, y = thinned(curve.x, curve.y, budget.curve)
        line = Series(method, name, x, y, line="step" if curve.is_step else "line", marks="few", dash=mark(method).dash)
        found.setdefault(head, []).append(line)
    return [
        Figure(
            f"curve-{i}",
            title,
            f"{y} by {x}",
            Axis(x, "log" if is_squeezed([line.x for line in lines]) else "linear", told=f"{x} {{}}\n{y}"),
            Axis(y),
            tuple(lines),
            heading=(title, shorten(instance, LETTERS, placeholder="…")),
        )
        for i, ((title, x, y), lines) in enumerate(found.items(), start=first)
    ]


# As on the page: runs, other, waits, moves, lost, idle, away.
COLOURS = (LIGHT[0], LIGHT[2], LIGHT[1], LIGHT[3], "#b3261e", "#d5d8dc", "#9aa0a6")
# Inches: of the figure's width, of a row, and of all else.
WIDTH, ROW, REST = 8.0, 0.17, 0.8
SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}


class Schedules(NamedTuple):
    """What one file shows: an instance, and the schedules of methods."""

    instance: str
    tables: tuple[tuple[str, Timetable], ...]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, sum(_height(table) for _, table in self.tables)


def build_timetables(records: Sequence[Record], pictures: Mapping[str, Picture], most: int) -> tuple[Schedules, ...]:
    """Return what is to be drawn, of at most so many groups."""
    found = []
    for own in drawn_instances(records):
        timed = [(r, pictures[r.key].timetable) for r in own if r.key in pictures]
        drawn = sorted(
            (
                (verified_objective(r) or 0, r.run.label, table)
                for r, table in timed
                if table is not None and table.rows
            ),
            key=lambda entry: entry[0],
        )
        if drawn:
            ends = drawn[:1] + drawn[1:][-1:]
            found.append(Schedules(own[0].run.instance, tuple((label, table) for _, label, table in ends)))
    return tuple(found[:most])


def draw_timetables(canvas: Canvas, shown: Schedules) -> None:
    """Draw the schedules below each other on one axis of time."""
    heights = [_height(table) for _, table in shown.tables]
    unit = max((table.unit for _, table in shown.tables), key=lambda name: SECONDS[name])
    all_axes = canvas.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})[
        :, 0
    ]
    words: dict[int, str] = {}
    for axes, (label, table) in zip(all_axes, shown.tables, strict=True):
        _draw_one(axes, table, SECONDS[table.unit] / SECONDS[unit])
        axes.set_title(shorten(label, LETTERS, placeholder="…"), loc="left", fontsize=8, parse_math=False)
        words |= {look: word for look, word in enumerate(table.looks) if word}
    canvas.suptitle(shorten(shown.instance, LETTERS, placeholder="…"), fontsize=9, parse_math=False)
    all_axes[-1].set_xlabel(unit)
    patches = [Patch(color=COLOURS[look], label=words[look]) for look in sorted(words)]
    canvas.legend(patches, [words[look] for look in sorted(words)], loc="outside lower left", ncols=4)


def _height(table: Timetable) -> float:
    return REST + ROW * len(table.rows)


def _draw_one(axes: Axes, table: Timetable, factor: float) -> None:
    begin, tick = table.begin * factor, (table.end - table.begin) * factor / TICKS
    for place, row in enumerate(table.rows):
        marks = [row.marks[i : i + MARK] for i in range(0, len(row.marks), MARK)]
        for look in sorted({m[4] for m in marks}):
            for band in sorted({m[:2] for m in marks if m[4] == look}):
                spans = [(begin + tick * m[2], tick * m[3]) for m in marks if m[4] == look and m[:2] == band]
                top, high = (0.9 * part / PARTS for part in band)
                axes.broken_barh(spans, (place + top - 0.45, high), facecolors=COLOURS[look], edgecolor="white", lw=0.2)
    axes.set_yticks(range(len(table.rows)), [row.name for row in table.rows], fontsize=6, parse_math=False)
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
