"""Instances to look at one by one: what each method made of them, and pictures of the solutions.

Failures with their reasons, and what methods did not support.

Curves of solutions on the page: of as many instances as there is room for.

Pictures of solutions, packed for the page: what many of them share is written once.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.runs import FAILED
from schedgap.bench.report.figures.packing import FigurePacker, MethodCurve, solution_figures
from schedgap.bench.report.figures.selection import Budget, clipped
from schedgap.bench.statistics.summary import Best, by_ending, reason_of, verified_objective
from schedgap.instances.family import find_family
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedgap.bench.records.runs import Record
    from schedgap.bench.report.figures.drawing import Figure
    from schedgap.instances.picture import Bar, Picture, Timetable


@dataclass(frozen=True, slots=True)
class RunView:
    """One run. objective, bound : in the family's shown unit; the bound is its own. gap : to the best proven bound.

    measures : what the family reads off the verified solution.
    """

    key: str
    method: str
    repetition: int | None
    status: str
    objective: float | None
    bound: float | None
    gap: float | None
    wall_s: float | None
    peak_memory_mib: float | None
    reason: str
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """One instance with all its runs. source : what made it, by words. bound, objective : the best known."""

    name: str
    digest: str
    group: str
    source: str
    unit: str
    bound: float | None
    objective: float | None
    is_proven: bool
    worst_gap: float | None
    failed: int
    runs: tuple[RunView, ...]


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
    chosen = _chosen(by_digest, best, budget)
    views = tuple(_view(by_digest[digest], best[digest], budget) for digest in by_digest if digest in chosen)
    return Drilldown(views, len(by_digest) - len(views))


def picture_order(drilldown: Drilldown) -> list[str]:
    """Return the keys of the runs whose pictures are wanted, the most telling first.

    Of each instance first the worst and the best solution, then all others.
    """
    first: list[str] = []
    rest: list[str] = []
    for view in drilldown.instances:
        solved = sorted((run for run in view.runs if run.objective is not None), key=lambda run: run.objective or 0)
        first += [run.key for run in solved[:1] + solved[1:][-1:]]
        rest += [run.key for run in solved[1:-1]]
    return first + rest


def _chosen(by_digest: Mapping[str, list[Record]], best: Mapping[str, Best], budget: Budget) -> set[str]:
    """Return the digests that there is room for, by turns of most failures and of worst gap."""
    failures = {digest: sum(record.status in FAILED for record in own) for digest, own in by_digest.items()}
    worst = {digest: _worst(own, best[digest]) or 0.0 for digest, own in by_digest.items()}
    failing = sorted((d for d in by_digest if failures[d]), key=lambda digest: -failures[digest])
    far = sorted(by_digest, key=lambda digest: -worst[digest])
    turns = [digest for pair in zip(failing, far, strict=False) for digest in pair] + failing + far
    chosen: set[str] = set()
    room = budget.runs
    for digest in dict.fromkeys(turns):
        if len(chosen) == budget.instances:
            break
        if len(by_digest[digest]) <= room:
            chosen.add(digest)
            room -= len(by_digest[digest])
    return chosen


def _view(records: Sequence[Record], best: Best, budget: Budget) -> InstanceView:
    run = records[0].run
    family = find_family(run.family)
    return InstanceView(
        clipped(run.instance, budget.text),
        run.digest,
        clipped(run.group, budget.text),
        clipped(", ".join(f"{key} {value}" for key, value in run.source.items()), budget.text),
        family.objective_unit,
        _shown(best.bound, family.objective_scale),
        _shown(best.objective, family.objective_scale),
        best.is_proven,
        _worst(records, best),
        sum(record.status in FAILED for record in records),
        tuple(_run_view(record, best, family.objective_scale, budget) for record in records),
    )


def _run_view(record: Record, best: Best, scale: int, budget: Budget) -> RunView:
    measurement = record.measurement
    return RunView(
        record.key,
        clipped(record.run.label, budget.text),
        record.run.repetition if record.run.stochastic else None,
        str(record.status),
        _shown(verified_objective(record), scale),
        None if record.status in FAILED else _shown(measurement.bound, scale),
        best.gap(verified_objective(record)),
        measurement.wall_s,
        measurement.peak_memory_mib,
        clipped(measurement.reason or "", budget.text),
        {} if record.status in FAILED else measurement.measures,
    )


def _worst(records: Iterable[Record], best: Best) -> float | None:
    found = (best.gap(verified_objective(record)) for record in records)
    return max((gap for gap in found if gap is not None), default=None)


def _shown(value: int | None, scale: int) -> float | None:
    return None if value is None else value / scale


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
class Failure:
    """All runs of a method that ended in one status. more : how many of them have other reasons than those shown."""

    method: str
    status: str
    runs: int
    reasons: tuple[Reason, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Failures:
    """left_out : kinds of failure that there was no room for."""

    failed: tuple[Failure, ...]
    unsupported: tuple[Failure, ...]
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


def _failure(records: Sequence[Record], budget: Budget) -> Failure:
    reasons: dict[str, list[Record]] = {}
    for record in records:
        reasons.setdefault(reason_of(record), []).append(record)
    shown = sorted(reasons.items(), key=lambda item: -len(item[1]))[:MAX_REASONS]
    return Failure(
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
        first, more = _of_instance(view, pictures, numbers)
        if first:
            waiting.append((turns[view.group], i, first, more))
            turns[view.group] += 1
    packer = FigurePacker()
    figures: dict[int, Sequence[Figure]] = {}
    left_out = 0
    for _, i, first, more in sorted(waiting, key=itemgetter(0)):
        room = budget.curve_bytes - packer.size
        kept = more[: max(0, room - _bytes(first, budget)) // max(1, _bytes(more[:1], budget))]
        left_out += room <= 0 or len(kept) < len(more)
        if room > 0:
            figures[i] = solution_figures(first + kept, drilldown.instances[i].name, budget)
            for figure in figures[i]:
                packer.pack(figure)
    return InstanceCurves(figures, left_out)


def _bytes(curves: Sequence[MethodCurve], budget: Budget) -> int:
    """Return about how many bytes the page takes for these curves."""
    return sum(POINT_BYTES * min(len(curve.curve.x), budget.curve) for curve in curves)


def _of_instance(
    view: InstanceView, pictures: Mapping[str, Picture], numbers: Mapping[str, int]
) -> tuple[list[MethodCurve], list[MethodCurve]]:
    """Return the curves of the first runs of the methods, and those of further repetitions."""
    first: dict[str, list[MethodCurve]] = {}
    more: list[MethodCurve] = []
    for run in view.runs:
        if run.key in pictures and run.method in numbers:
            name = run.method + ("" if run.repetition is None else f", repetition {run.repetition}")
            own = [MethodCurve(numbers[run.method], name, curve) for curve in pictures[run.key].curves if curve.x]
            if run.method in first:
                more += own
            else:
                first[run.method] = own
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
            losses = [[loss.name, loss.count, _rounded(loss.price), _rounded(loss.worth)] for loss in given.losses]
            split = [given.unit, _rounded(given.bound), losses]
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
        packed = [self._number(self.containers, (bar.label, bar.kept, *map(_rounded, bar.capacity))), bar.repeat]
        for part in bar.parts:
            packed += [self._number(self.parts, (part.label, *map(_rounded, part.amounts))), part.count]
        return packed

    def _timetable(self, given: Timetable) -> list[Any]:
        looks, labels = ([self._number(self.words, word) for word in words] for words in (given.looks, given.labels))
        rows = [[self._number(self.words, row.name), row.peak, *row.marks] for row in given.rows]
        return [given.unit, _rounded(given.begin), _rounded(given.end), looks, labels, rows, given.note]

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


def _rounded(amount: float) -> float:
    """Return an amount to six digits, as a whole number where it is one: shorter to write."""
    short = float(f"{amount:.6g}")
    return int(short) if short.is_integer() else short
