"""Instances to look at one by one: what each method made of them, and pictures of the solutions.

Failures with their reasons, and what methods did not support.

Curves of solutions on the page: of as many instances as there is room for.

Pictures of solutions, packed for the page: what many of them share is written once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from schedgap.bench.records.runs import FAILED, Record, Run
from schedgap.bench.report.figures.drawing import Figure
from schedgap.bench.report.figures.packing import FigurePacker, MethodCurve, solution_figures
from schedgap.bench.report.figures.selection import Budget, clipped
from schedgap.bench.statistics.summary import Best, by_ending, reason_of, verified_objective
from schedgap.instances.method import Status
from schedgap.instances.picture import Bar, Picture, Timetable


@dataclass(frozen=True, slots=True)
class InstanceView:
    """One instance with all its runs, and the best that is known of it."""

    records: Sequence[Record]
    best: Best

    @property
    def run(self) -> Run:
        """Return a run on it, which tells all that is said of it."""
        return self.records[0].run

    @property
    def worst_gap(self) -> float | None:
        """Return the worst gap of its runs, None without any."""
        found = (self.best.gap(verified_objective(record)) for record in self.records)
        return max((gap for gap in found if gap is not None), default=None)

    @property
    def failed(self) -> int:
        """Return how many of its runs failed."""
        return sum(record.status in FAILED for record in self.records)


@dataclass(frozen=True, slots=True)
class Drilldown:
    """Instances in the suite's order. left_out : instances without a view, the least telling ones."""

    instances: tuple[InstanceView, ...]
    left_out: int


def build_drilldown(records: Sequence[Record], best: Mapping[str, Best], budget: Budget) -> Drilldown:
    """Return views of the instances, if there are too many of those with most failures and those with worst gaps."""
    by_digest: dict[str, list[Record]] = {}
    for record in records:
        by_digest.setdefault(record.run.digest, []).append(record)
    views = {digest: InstanceView(own, best[digest]) for digest, own in by_digest.items()}
    chosen = _chosen(views, budget)
    return Drilldown(tuple(view for digest, view in views.items() if digest in chosen), len(views) - len(chosen))


def picture_order(drilldown: Drilldown) -> list[str]:
    """Return the keys of the runs whose pictures are wanted, the most telling first.

    Of each instance first the worst and the best solution, then all others.
    """
    first: list[str] = []
    rest: list[str] = []
    for view in drilldown.instances:
        solved = [record for record in view.records if verified_objective(record) is not None]
        keys = [record.key for record in sorted(solved, key=lambda record: verified_objective(record) or 0)]
        first += keys[:1] + keys[1:][-1:]
        rest += keys[1:-1]
    return first + rest


def _chosen(views: Mapping[str, InstanceView], budget: Budget) -> set[str]:
    """Return the digests that there is room for, by turns of most failures and of worst gap."""
    failing = sorted(
        (digest for digest, view in views.items() if view.failed), key=lambda digest: -views[digest].failed
    )
    far = sorted(views, key=lambda digest: -(views[digest].worst_gap or 0.0))
    turns = [digest for pair in zip(failing, far, strict=False) for digest in pair] + failing + far
    chosen: set[str] = set()
    room = budget.runs
    for digest in dict.fromkeys(turns):
        if len(chosen) == budget.instances:
            break
        if len(views[digest].records) <= room:
            chosen.add(digest)
            room -= len(views[digest].records)
    return chosen


# Reasons often name the instance's own figures; so many of one kind say enough.
MAX_REASONS = 4
MAX_OUTPUT = 2000


@dataclass(frozen=True, slots=True)
class Reason:
    """How often a reason was given, on which instance first, and what that run printed."""

    text: str
    runs: int
    instance: str
    output: str


@dataclass(frozen=True, slots=True)
class FailedRuns:
    """All runs of a method that ended in one status. more : how many of them have other reasons than those shown."""

    method: str
    status: str
    runs: int
    reasons: tuple[Reason, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Failures:
    """left_out : kinds of failure that there was no room for."""

    failed: tuple[FailedRuns, ...]
    unsupported: tuple[FailedRuns, ...]
    left_out: int


def build_failures(records: Sequence[Record], budget: Budget) -> Failures:
    """Return what failed and what was not supported, by method and status in the order of the records."""
    failed = by_ending(record for record in records if record.status in FAILED)
    unsupported = by_ending(record for record in records if record.status is Status.UNSUPPORTED)
    room = max(1, budget.rows // 4)
    left_out = max(0, len(failed) - room) + max(0, len(unsupported) - room)
    return Failures(
        tuple(_failure(own, budget) for own in failed[:room]),
        tuple(_failure(own, budget) for own in unsupported[:room]),
        left_out,
    )


def _failure(records: Sequence[Record], budget: Budget) -> FailedRuns:
    reasons: dict[str, list[Record]] = {}
    for record in records:
        reasons.setdefault(reason_of(record), []).append(record)
    shown = sorted(reasons.items(), key=lambda item: -len(item[1]))[:MAX_REASONS]
    return FailedRuns(
        clipped(records[0].run.label, budget.text),
        str(records[0].status),
        len(records),
        tuple(
            Reason(
                clipped(text, budget.text),
                len(own),
                clipped(own[0].run.instance, budget.text),
                clipped(own[0].measurement.output.strip(), min(MAX_OUTPUT, 5 * budget.text)),
            )
            for text, own in shown
        ),
        len(records) - sum(len(own) for _, own in shown),
    )


# Bytes of a point in JSON, at most.
POINT_BYTES = 20


@dataclass(frozen=True, slots=True)
class InstanceCurves:
    """figures : by number of the instance. left_out : instances that there was no room for all curves of."""

    figures: Mapping[int, Sequence[Figure]]
    left_out: int


def build_instance_curves(
    pictures: Mapping[str, Picture], drilldown: Drilldown, methods: Sequence[str], budget: Budget
) -> InstanceCurves:
    """Return figures of these methods, those that have marks: by turns of the groups, as long as there is room.

    Of an instance there is one run of each method or none; further repetitions only as far as there is room.
    """
    numbers = {method: i for i, method in enumerate(methods)}
    turns: Counter[str] = Counter()
    waiting: list[tuple[int, int, list[MethodCurve], list[MethodCurve]]] = []
    for i, view in enumerate(drilldown.instances):
        first, more = _of_instance(view, pictures, numbers, budget)
        if first:
            group = clipped(view.run.group, budget.text)
            waiting.append((turns[group], i, first, more))
            turns[group] += 1
    packer = FigurePacker()
    figures: dict[int, Sequence[Figure]] = {}
    left_out = 0
    for _, i, first, more in sorted(waiting, key=itemgetter(0)):
        room = budget.curve_bytes - packer.size
        kept = more[: max(0, room - _bytes(first, budget)) // max(1, _bytes(more[:1], budget))]
        left_out += room <= 0 or len(kept) < len(more)
        if room > 0:
            figures[i] = solution_figures(
                first + kept, clipped(drilldown.instances[i].run.instance, budget.text), budget
            )
            for figure in figures[i]:
                packer.pack(figure)
    return InstanceCurves(figures, left_out)


def _bytes(curves: Sequence[MethodCurve], budget: Budget) -> int:
    """Return about how many bytes the page takes for these curves."""
    return sum(POINT_BYTES * min(len(curve.curve.x), budget.curve) for curve in curves)


def _of_instance(
    view: InstanceView, pictures: Mapping[str, Picture], numbers: Mapping[str, int], budget: Budget
) -> tuple[list[MethodCurve], list[MethodCurve]]:
    """Return the curves of the first runs of the methods, and those of further repetitions."""
    first: dict[str, list[MethodCurve]] = {}
    more: list[MethodCurve] = []
    for record in view.records:
        run, method = record.run, clipped(record.run.label, budget.text)
        if record.key in pictures and method in numbers:
            name = method + (f", repetition {run.repetition}" if run.stochastic else "")
            own = [MethodCurve(numbers[method], name, curve) for curve in pictures[record.key].curves if curve.x]
            if method in first:
                more += own
            else:
                first[method] = own
    return [curve for own in first.values() for curve in own], more


class PackedPictures:
    """Pictures as numbers: `axes`, `containers` (label, kept, capacity...) and `parts` (label, amounts...) are tables.

    A picture is [axes, left out, bars, notes, split, timetable], a bar is [container, repeat, part, count, part, count, ...].
    `words` is a table of texts; a timetable is [unit, begin, end, looks, labels, rows, note] with their numbers, a row is
    [name, peak, mark, mark, ...]. What a picture lacks is 0.
    """

    def __init__(self) -> None:
        self.axes: dict[tuple[Any, ...], int] = {}
        self.containers: dict[tuple[Any, ...], int] = {}
        self.parts: dict[tuple[Any, ...], int] = {}
        self.words: dict[Any, int] = {}
        self.pictures: dict[str, list[Any]] = {}
        self.size = 0

    def add(self, key: str, picture: Picture) -> None:
        """Pack a picture; `size` grows by the bytes of its JSON."""
        axes = self._number(self.axes, picture.axes)
        bars = [self._bar(bar) for bar in picture.bars]
        split: Any = 0
        if (given := picture.split) is not None:
            losses = [[loss.name, loss.count, short(loss.price), short(loss.worth)] for loss in given.losses]
            split = [given.unit, short(given.bound), losses]
        table = 0 if picture.timetable is None else self._timetable(picture.timetable)
        packed = [axes, picture.left_out, bars, picture.notes, split, table]
        self.pictures[key] = packed
        self.size += len(json.dumps([key, packed], separators=(",", ":")))

    def to_json(self) -> dict[str, Any]:
        """Return tables and pictures as the page's script reads them."""
        return {
            "axes": list(self.axes),
            "containers": list(self.containers),
            "parts": list(self.parts),
            "words": list(self.words),
            "pictures": self.pictures,
        }

    def _bar(self, bar: Bar) -> list[int]:
        packed = [self._number(self.containers, (bar.label, bar.kept, *map(short, bar.capacity))), bar.repeat]
        for part in bar.parts:
            packed += [self._number(self.parts, (part.label, *map(short, part.amounts))), part.count]
        return packed

    def _timetable(self, given: Timetable) -> list[Any]:
        looks, labels = ([self._number(self.words, word) for word in words] for words in (given.looks, given.labels))
        rows = [[self._number(self.words, row.name), row.peak, *row.marks] for row in given.rows]
        return [given.unit, short(given.begin), short(given.end), looks, labels, rows, given.note]

    def _number(self, table: dict[Any, int], entry: Any) -> int:
        if entry not in table:
            table[entry] = len(table)
            self.size += len(json.dumps(entry))
        return table[entry]


def pack(pictures: Mapping[str, Picture], order: Iterable[str], limit: int) -> PackedPictures:
    """Return the first pictures in this order that fit into `limit` bytes; the others are left out."""
    packed = PackedPictures()
    for key in order:
        if key in pictures:
            if packed.size >= limit:
                break
            packed.add(key, pictures[key])
    return packed


def short(value: float, digits: int = 6) -> float:
    """Return a number with as many digits as the page can show, as a whole number where it is one: shorter to write."""
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded
