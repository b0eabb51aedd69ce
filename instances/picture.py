"""What a solution looks like, as plain data: families make pictures of their solutions, the report draws them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

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
