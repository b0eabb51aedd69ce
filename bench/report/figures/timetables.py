"""Schedules by time as files: of the first instance of each group the best schedule, and below it the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from schedgap.bench.records.runs import Record
from schedgap.bench.report.figures.drawing import LIGHT
from schedgap.bench.report.figures.packing import LETTERS, drawn_instances
from schedgap.bench.statistics.summary import verified_objective
from schedgap.instances.picture import MARK, PARTS, TICKS, Picture, Timetable

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


def draw_timetables(canvas: Figure, shown: Schedules) -> None:
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
        for look in sorted({mark[4] for mark in marks}):
            for band in sorted({mark[:2] for mark in marks if mark[4] == look}):
                spans = [(begin + tick * m[2], tick * m[3]) for m in marks if m[4] == look and m[:2] == band]
                top, high = (0.9 * part / PARTS for part in band)
                axes.broken_barh(spans, (place + top - 0.45, high), facecolors=COLOURS[look], edgecolor="white", lw=0.2)
    axes.set_yticks(range(len(table.rows)), [row.name for row in table.rows], fontsize=6, parse_math=False)
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
