"""What a solution looks like, as plain data: families make pictures of their solutions, the report draws them.

A schedule by time: machines as rows, what happens on them as marks. Families say spans, everything else is done here.

A row with few spans has each of them, on lanes if they overlap; one with more tells how many there are at a time, on average
between the edges of cells. So the largest schedule takes no more room than `MAX_MARKS` marks, or little more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.units import DAY_S, HOUR_S

# A picture shows at most this many bars: more could not be told apart on a page.
MAX_BARS = 60
# A curve has at most this many points, for the same reason.
MAX_POINTS = 120
# Places in the time of a timetable, and in the height of a row, are whole parts of it.
TICKS, PARTS = 100_000, 120
# Numbers of a mark in a row.
MARK = 6


@dataclass(frozen=True, slots=True)
class Part:
    """Equal things stacked in a bar. amounts : of one of them on each axis, in the axis' unit."""

    label: str
    count: int
    amounts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A container and its contents. repeat : how many look the same. capacity : on each axis.

    kept : names of the containers, if they were there before; empty for new ones.
    """

    label: str
    repeat: int
    capacity: tuple[float, ...]
    parts: tuple[Part, ...]
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity against another, drawn over those of other methods.

    x, y : (N,) each, finite; x does not fall. is_step : the quantity keeps each value until the next.

    Raises `ValueError` otherwise.
    """

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_step: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"curve '{self.title}' has {len(self.x)} x and {len(self.y)} y; give one each")
        if not all(map(isfinite, (*self.x, *self.y))) or any(b < a for a, b in pairwise(self.x)):
            raise ValueError(f"curve '{self.title}' has a number that is not finite, or an x that falls")


@dataclass(frozen=True, slots=True)
class Row:
    """A machine. marks : six numbers each: top and height (`PARTS`), begin and length (`TICKS`), look, label.

    peak : where marks are means, how many at a time fill the row's height; 0 where each mark is one span.
    """

    name: str
    marks: tuple[int, ...]
    peak: float = 0.0


@dataclass(frozen=True, slots=True)
class Timetable:
    """What happens on machines from `begin` to `end`, times in `unit`. looks : in the family's words, empty if never."""

    unit: str
    begin: float
    end: float
    looks: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether all marks are whole and name a look and a label that there are."""
        marks = [row.marks for row in self.rows]
        return all(
            len(own) % MARK == 0
            and all(0 <= look < len(self.looks) for look in own[4::MARK])
            and all(-1 <= label < len(self.labels) for label in own[5::MARK])
            for own in marks
        )


@dataclass(frozen=True, slots=True)
class Loss:
    """What equal machines of a solution cost beyond what a bound's prices say that their contents are worth.

    price, worth : of all of them, in the objective's shown unit.
    """

    name: str
    count: int
    price: float
    worth: float


@dataclass(frozen=True, slots=True)
class Split:
    """Where the gap to a bound comes from: what `losses` lose adds up to the objective less `bound`."""

    unit: str
    bound: float
    losses: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """Containers as stacked bars, one stack an axis (a resource), and curves.

    left_out : containers that no bar stands for. notes : facts about all of it, for people. timetable : what happens when,
    of a schedule. split : where the gap comes from, where prices tell.
    """

    axes: tuple[str, ...]
    bars: tuple[Bar, ...]
    left_out: int = 0
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()
    timetable: Timetable | None = None
    split: Split | None = None


def rounded(values: FloatArray) -> tuple[float, ...]:
    """Return six digits that count, which no drawing shows: half the bytes."""
    return tuple(float(f"{value:.6g}") for value in values.tolist())


def passed(points: FloatArray, since: IntArray, amount: IntArray) -> FloatArray:
    """Return (P,), the amounts times how long ago they began, of all that began before each point. O(N log N + P log N)."""
    order = np.argsort(since, kind="stable")
    began = since[order] - points[0]
    weight = amount[order].astype(np.float64)
    number = np.searchsorted(began, points - points[0], side="right")
    total = np.concatenate(([0.0], np.cumsum(weight)))[number]
    moment = np.concatenate(([0.0], np.cumsum(weight * began)))[number]
    sums: FloatArray = total * (points - points[0]) - moment
    return sums


# What may happen on a row, which decides its colour in all families.
RUNS, OTHER, WAITS, MOVES, LOST, IDLE, AWAY = range(7)
NUM_LOOKS = 7
# The row of those who wait, above all others.
WAITING = -2
# Of a timetable; a row has at least `MIN_MARKS` and at most `MAX_LANES` spans beside each other before it tells means.
MAX_ROWS, MAX_MARKS, MIN_MARKS, MAX_LANES, MAX_CELLS = 32, 1500, 24, 24, 100
# Sorting more of them would take longer than judging the schedule.
MAX_SPANS = 1_000_000
_MEANS = "rows with too much on them tell how many there are at a time, on average"
_UNITS = ((3 * DAY_S, DAY_S, "days"), (3 * HOUR_S, HOUR_S, "hours"), (600, 60, "minutes"), (0, 1, "seconds"))


class Spans(NamedTuple):
    """What happens when and where. row, begin, end, look, label : (N,) int64; label is a number that the family names."""

    row: IntArray
    begin: IntArray
    end: IntArray
    look: IntArray
    label: IntArray

    @classmethod
    def of(cls, *parts: IntArray | int) -> Spans:
        """Return spans of arrays, and of numbers that all of them have."""
        return cls(*np.broadcast_arrays(*parts))


def timetable(
    given: list[Spans],
    row_name: Callable[[int], str],
    label_name: Callable[[int], str],
    words: Mapping[int, str],
    per_second: int = 1,
    rows: IntArray | None = None,
) -> Timetable | None:
    """Return the timetable of these spans, None if there is none that lasts.

    words : of the looks. per_second : of the spans' times. rows : that are there also without a span. Negative rows, such
    as `WAITING`, stand above all others and are always shown. O(N log N).
    """
    number = sum(spans.row.size for spans in given)
    if number > MAX_SPANS:
        too_many = f"{number:,} spans of time are more than the {MAX_SPANS:,} that are drawn"
        return Timetable("", 0.0, 0.0, (), (), (), too_many)
    spans = Spans(*map(np.concatenate, zip(*given, strict=True)))
    spans = _chosen(spans, spans.end > spans.begin)
    if not spans.row.size:
        return None
    known = np.unique(spans.row if rows is None else np.concatenate((spans.row, rows)))
    heads, others = known[known < 0], known[known >= 0]
    shown = others[np.unique(np.linspace(0, others.size - 1, min(MAX_ROWS, others.size)).astype(np.int64))]
    shown = np.concatenate((heads, shown))
    begin, end = int(spans.begin.min()), int(spans.end.max())
    place = np.minimum(np.searchsorted(shown, spans.row), shown.size - 1)
    spans = _chosen(spans, shown[place] == spans.row)
    spans = _chosen(spans, np.lexsort((spans.begin, spans.row)))
    cuts = np.searchsorted(spans.row, np.append(shown, shown[-1] + 1)).tolist()
    numbers: dict[int, int] = {}
    drawn = []
    for row, first, last in zip(shown.tolist(), cuts[:-1], cuts[1:], strict=True):
        name = "waiting" if row == WAITING else row_name(row)
        drawn.append(_row(name, _chosen(spans, slice(first, last)), begin, end, shown.size, numbers))
    notes = [f"{others.size:,} rows, of which {shown.size - heads.size} are shown, evenly chosen"]
    notes = notes * (others.size > MAX_ROWS) + [_MEANS] * any(row.peak for row in drawn)
    size, unit = next((per_second * size, unit) for least, size, unit in _UNITS if end - begin >= least * per_second)
    looks = tuple(words.get(look, "") if (spans.look == look).any() else "" for look in range(NUM_LOOKS))
    labels = tuple(label_name(label) for label in numbers)
    return Timetable(unit, begin / size, end / size, looks, labels, tuple(drawn), "; ".join(notes))


def _row(name: str, spans: Spans, begin: int, end: int, rows: int, numbers: dict[int, int]) -> Row:
    """Return a row of spans, which are in order of their begin. numbers : of the labels so far."""
    room = max(MIN_MARKS, MAX_MARKS // rows)
    # What is there while nothing else is takes the whole height.
    alone = spans.look >= IDLE
    spans = _chosen(spans, np.argsort(~alone, kind="stable"))
    first = int(alone.sum())
    lanes = _lanes(_chosen(spans, slice(first, None))) if spans.row.size <= room else [MAX_LANES]
    most = max(lanes, default=0)
    if most >= MAX_LANES:
        return _means(name, spans, begin, end, max(MIN_MARKS, min(MAX_CELLS, room // 2)))
    # In floats, which hold any time: whole numbers of microseconds times ticks would not fit.
    per_tick = (end - begin) / TICKS
    marks: list[int] = []
    tops = [round(PARTS * lane / (most + 1)) for lane in range(most + 2)]
    places = [(0, PARTS)] * first + [(tops[lane], tops[lane + 1] - tops[lane]) for lane in lanes]
    for place, since, until, look, label in zip(
        places, spans.begin.tolist(), spans.end.tolist(), spans.look.tolist(), spans.label.tolist(), strict=True
    ):
        left, right = round((since - begin) / per_tick), round((until - begin) / per_tick)
        number = -1 if label < 0 else numbers.setdefault(label, len(numbers))
        marks += (*place, left, max(right - left, 1), look, number)
    return Row(name, tuple(marks))


def _lanes(spans: Spans) -> list[int]:
    """Return the first lane that is free for each span."""
    free: list[int] = []
    lanes = []
    for begin, end in zip(spans.begin.tolist(), spans.end.tolist(), strict=True):
        lane = next((lane for lane, since in enumerate(free) if since <= begin), len(free))
        free[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _means(name: str, spans: Spans, begin: int, end: int, cells: int) -> Row:
    """Return a row that tells how many spans of each look there are on average in each cell, stacked."""
    edges = np.linspace(begin, end, cells + 1)
    heights = np.zeros((NUM_LOOKS, cells))
    for look in np.unique(spans.look).tolist():
        own = _chosen(spans, spans.look == look)
        ones = np.ones(own.row.size, np.int64)
        between = np.diff(passed(edges, own.begin, ones) - passed(edges, own.end, ones))
        heights[look] = np.maximum(between / np.diff(edges), 0.0)
    peak = float(heights.sum(axis=0).max())
    tops = np.rint(np.vstack((np.zeros(cells), heights.cumsum(axis=0))) * PARTS / peak).astype(np.int64)
    ticks = np.rint(np.linspace(0, TICKS, cells + 1)).astype(np.int64)
    marks: list[int] = []
    for look, cell in np.argwhere(np.diff(tops, axis=0) > 0).tolist():
        top, below = int(tops[look, cell]), int(tops[look + 1, cell])
        marks += (PARTS - below, below - top, int(ticks[cell]), int(ticks[cell + 1] - ticks[cell]), look, -1)
    return Row(name, tuple(marks), float(f"{peak:.4g}"))


def _chosen(spans: Spans, which: IntArray | BoolArray | slice) -> Spans:
    return Spans(*(part[which] for part in spans))
