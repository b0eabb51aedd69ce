"""What the figures of a suite's runs are drawn from: the methods with marks, choices of instances, single runs.

How much of a journal one page shows: a page stays small whatever the journal holds, and says what it left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from schedgap.bench.records.runs import Record
from schedgap.bench.statistics.summary import Best, Runs, bounds_only, by_label, is_solved, verified_objective

# More methods than these would share their marks in the figures.
MAX_METHODS = 48
# Besides all instances together, the figures show this many of the groups apart.
MAX_SCOPES = 8


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper limits of what a page holds.

    rows : of each table. points : single runs in the figures. curve : points of a curve. sweeps : figures over
    parameters. instances, runs : that can be looked at one by one. picture_bytes, curve_bytes : JSON of their pictures
    and of the curves in these. curve_figures : figures of curves for papers. text : characters of a name or a reason.
    """

    rows: int = 600
    points: int = 6000
    curve: int = 240
    sweeps: int = 24
    instances: int = 400
    runs: int = 6000
    picture_bytes: int = 1_000_000
    curve_bytes: int = 800_000
    curve_figures: int = 24
    text: int = 400

    def halved(self) -> Budget:
        """Return a budget of half the size."""
        return Budget(**{field.name: max(1, getattr(self, field.name) // 2) for field in fields(self)})


def clipped(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, with an ellipsis where it was cut.

    Half a surrogate pair, of which no font and no encoding knows, is replaced.
    """
    if not text.isascii():
        text = text.encode(errors="replace").decode()
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


# Gaps are shown on a logarithmic axis if the typical ones of two methods differ by more than this.
WIDE = 20.0


@dataclass(frozen=True, slots=True)
class Scope:
    """A choice of instances: all, or one group. group : its number, None for all."""

    name: str
    group: int | None
    records: Runs


class RunPoint(NamedTuple):
    """A run with a gap and a time: numbers of method, group and instance."""

    method: int
    group: int
    instance: int
    wall_s: float
    gap: float


@dataclass(frozen=True, slots=True)
class Selection:
    """methods, groups, instances : names. numbers : of methods by label. left_out : methods without a mark, not drawn.

    points : of runs, points_left_out : of how many more. rows : of the suite's own table, which may hold the paper's
    figures. gaps : of a method in a scope. fruitless : methods that solved nothing, whose curves would only lie on an
    axis. has_bounds : whether anybody proved a bound; where nobody did, gaps are distances to the best known
    objective, which are no gaps. is_wide : whether gaps are better shown on a logarithmic axis.
    """

    methods: tuple[str, ...]
    numbers: Mapping[str, int]
    left_out: int
    groups: tuple[str, ...]
    instances: tuple[str, ...]
    scopes: tuple[Scope, ...]
    points: tuple[RunPoint, ...]
    points_left_out: int
    rows: Sequence[Mapping[str, Any]]
    gaps: Mapping[tuple[int, int], tuple[float, ...]]
    fruitless: frozenset[int]
    has_bounds: bool
    is_wide: bool
    budget: Budget

    @property
    def distance(self) -> str:
        """Return what a gap is called here."""
        return "gap" if self.has_bounds else "above best known"


def select(
    records: Sequence[Record], rows: Sequence[Mapping[str, Any]], best: dict[str, Best], budget: Budget
) -> Selection:
    """Return what the figures of these runs are drawn from. rows : of the suite's own table."""
    labels = list(by_label(records))
    numbers = {label: i for i, label in enumerate(labels[:MAX_METHODS])}
    drawn = Runs((record for record in records if record.run.label in numbers), best)
    groups = {group: i for i, group in enumerate(dict.fromkeys(record.run.group for record in drawn))}
    has_bounds = any(known.bound is not None for known in best.values())
    if not has_bounds:
        best = {digest: Best(known.objective, known.objective) for digest, known in best.items()}
    scopes = _scopes(drawn, groups, budget)
    gaps = _gaps(scopes, numbers, best)
    points, names, points_left_out = _points(drawn, numbers, groups, best, budget)
    medians = [m for m in (float(np.median(own)) for (scope, _), own in gaps.items() if scope == 0) if m > 0]
    bounding = bounds_only(drawn)
    fruitful = {numbers[r.run.label] for r in drawn if r.measurement.wall_s is not None and is_solved(r, bounding)}
    return Selection(
        methods=tuple(clipped(label, budget.text) for label in numbers),
        numbers=numbers,
        left_out=len(labels) - len(numbers),
        groups=tuple(clipped(group, budget.text) for group in groups),
        instances=names,
        scopes=scopes,
        points=points,
        points_left_out=points_left_out,
        rows=[row for row in rows[: budget.rows] if row["method"] in numbers],
        gaps=gaps,
        fruitless=frozenset(numbers.values()) - fruitful - {method for scope, method in gaps if scope == 0},
        has_bounds=has_bounds,
        is_wide=bool(medians) and max(medians) > WIDE * min(medians),
        budget=budget,
    )


def thinned(x: Sequence[float], y: Sequence[float], limit: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return a step curve with at most `limit` points, the first and the last among them."""
    kept = evenly(len(x), limit)
    return tuple(x[i] for i in kept), tuple(y[i] for i in kept)


def evenly(count: int, limit: int) -> list[int]:
    """Return at most `limit` of the first `count` whole numbers, evenly, the first and the last among them."""
    places = np.unique(np.linspace(0, count - 1, min(limit, count)).round().astype(int))
    return [int(place) for place in places]


def _scopes(records: Runs, groups: Mapping[str, int], budget: Budget) -> tuple[Scope, ...]:
    """Return all instances and the largest groups, these in the suite's order."""
    members: dict[str, list[Record]] = {group: [] for group in groups}
    for record in records:
        members[record.run.group].append(record)
    chosen = sorted(groups, key=lambda group: -len(members[group]))[:MAX_SCOPES] if len(groups) > 1 else []
    scopes = [Scope("all instances", None, records)] if records else []
    for group in groups:
        if group in chosen:
            own = Runs(members[group], records.best)
            scopes.append(Scope(clipped(group or "no group", budget.text), groups[group], own))
    return tuple(scopes)


def _gaps(
    scopes: Sequence[Scope], numbers: Mapping[str, int], best: Mapping[str, Best]
) -> dict[tuple[int, int], tuple[float, ...]]:
    """Return the gaps by scope and method, in the order of the methods' first records."""
    found: dict[tuple[int, int], tuple[float, ...]] = {}
    gaps: dict[str, float | None] = {}
    for i, scope in enumerate(scopes):
        own: dict[str, list[float]] = {}
        for record in scope.records:
            key, run = record.key, record.run
            if key not in gaps:
                gaps[key] = best[run.digest].gap(verified_objective(record))
            gap = gaps[key]
            members = own.get(run.label)
            if members is None:
                members = own[run.label] = []
            if gap is not None:
                members.append(gap)
        found |= {(i, numbers[label]): tuple(members) for label, members in own.items() if members}
    return found


def _points(
    records: Sequence[Record],
    numbers: Mapping[str, int],
    groups: Mapping[str, int],
    best: Mapping[str, Best],
    budget: Budget,
) -> tuple[tuple[RunPoint, ...], tuple[str, ...], int]:
    """Return runs as points: if there are too many, as many of each method and group, evenly along its gaps."""
    cells: dict[tuple[int, int], list[tuple[float, float, str]]] = {}
    for record in records:
        gap = best[record.run.digest].gap(verified_objective(record))
        if gap is not None and record.measurement.wall_s is not None:
            cell = numbers[record.run.label], groups[record.run.group]
            cells.setdefault(cell, []).append((gap, record.measurement.wall_s, record.run.instance))
    total = sum(map(len, cells.values()))
    share = max(2, budget.points // max(1, len(cells)))
    names: dict[str, int] = {}
    kept: list[RunPoint] = []
    for cell, members in cells.items():
        members.sort()
        for i in evenly(len(members), share if total > budget.points else len(members)):
            gap, wall_s, instance = members[i]
            kept.append(RunPoint(*cell, names.setdefault(clipped(instance, budget.text), len(names)), wall_s, gap))
    return tuple(kept), tuple(names), total - len(kept)
