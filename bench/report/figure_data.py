"""What the figures show, drawn by the page's script and by matplotlib alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.report.budget import MAX_METHODS, MAX_SCOPES, clipped
from schedgap.bench.statistics.anytime import gap_curves
from schedgap.bench.statistics.profiles import gap_profile, time_profile
from schedgap.bench.statistics.summary import Best, by_label, verified_objective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.report.budget import Budget

# x ascending, and what holds from each x up to the next.
Curve = tuple[tuple[float, ...], tuple[float, ...]]
Curves = dict[int, Curve]
# Gaps are shown on a logarithmic axis if the typical ones of two methods differ by more than this.
WIDE = 20.0


@dataclass(frozen=True, slots=True)
class Spread:
    """The gaps of one method: how many, quantiles and mean."""

    count: int
    least: float
    lower: float
    median: float
    upper: float
    most: float
    mean: float


@dataclass(frozen=True, slots=True)
class Scope:
    """Figures of all instances, or of one group. group : its number, None for all. Keys are numbers of methods."""

    name: str
    group: int | None
    spreads: Mapping[int, Spread]
    time_profile: Curves
    gap_profile: Curves
    anytime: Curves


@dataclass(frozen=True, slots=True)
class Points:
    """Single runs with a gap and a time: numbers of method, group and instance, each (N,). left_out : of how many more."""

    method: tuple[int, ...]
    group: tuple[int, ...]
    instance: tuple[int, ...]
    wall_s: tuple[float, ...]
    gap: tuple[float, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class PaperPair:
    """A figure of the paper beside ours, cost over optimum. sizes are means and standard deviations, None for none."""

    group: str
    method: int
    ours: float
    ours_std: float | None
    paper: float
    paper_std: float | None


@dataclass(frozen=True, slots=True)
class Growth:
    """Median seconds of a method by number of tasks, ascending, in one group; the paper's where it has them."""

    group: int
    method: int
    tasks: tuple[int, ...]
    median_s: tuple[float, ...]
    paper: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class FigureData:
    """methods, groups, instances : their names. left_out : methods that have no mark of their own and are not drawn.

    fruitless : numbers of methods that solved nothing, whose curves would only lie on an axis. has_bounds :
    whether anybody proved a bound; where nobody did, spreads and points are distances to the best known objective, which
    are no gaps. is_wide : whether gaps are better shown on a logarithmic axis.
    """

    methods: tuple[str, ...]
    left_out: int
    groups: tuple[str, ...]
    instances: tuple[str, ...]
    scopes: tuple[Scope, ...]
    points: Points
    pairs: tuple[PaperPair, ...]
    growth: tuple[Growth, ...]
    fruitless: frozenset[int]
    has_bounds: bool
    is_wide: bool


def build_figures(
    records: Sequence[Record], rows: Sequence[Mapping[str, Any]], best: Mapping[str, Best], budget: Budget
) -> FigureData:
    """Return what the figures show. rows : of the suite's own table, which may hold the paper's figures."""
    labels = list(by_label(records))[:MAX_METHODS]
    numbers = {label: i for i, label in enumerate(labels)}
    drawn = [record for record in records if record.run.label in numbers]
    groups = {group: i for i, group in enumerate(dict.fromkeys(record.run.group for record in drawn))}
    has_bounds = any(known.bound is not None for known in best.values())
    if not has_bounds:
        best = {digest: Best(known.objective, known.objective) for digest, known in best.items()}
    scopes = _scopes(drawn, numbers, groups, best, budget)
    points, names = _points(drawn, numbers, groups, best, budget)
    medians = [spread.median for spread in scopes[0].spreads.values() if spread.median > 0] if scopes else []
    return FigureData(
        tuple(clipped(label, budget.text) for label in labels),
        len(by_label(records)) - len(labels),
        tuple(clipped(group, budget.text) for group in groups),
        names,
        scopes,
        points,
        tuple(_pairs(rows, numbers, budget)),
        tuple(_growth(rows, numbers, groups)),
        _fruitless(scopes),
        has_bounds,
        bool(medians) and max(medians) > WIDE * min(medians),
    )


def _scopes(
    records: Sequence[Record],
    numbers: Mapping[str, int],
    groups: Mapping[str, int],
    best: Mapping[str, Best],
    budget: Budget,
) -> tuple[Scope, ...]:
    """Return the figures of all instances and of the largest groups, these in the suite's order."""
    members: dict[str, list[Record]] = {group: [] for group in groups}
    for record in records:
        members[record.run.group].append(record)
    chosen = sorted(groups, key=lambda group: -len(members[group]))[:MAX_SCOPES] if len(groups) > 1 else []
    scopes = [_scope("all instances", None, records, numbers, best, budget)] if records else []
    for group in groups:
        if group in chosen:
            name = clipped(group or "no group", budget.text)
            scopes.append(_scope(name, groups[group], members[group], numbers, best, budget))
    return tuple(scopes)


def _scope(
    name: str,
    group: int | None,
    records: Sequence[Record],
    numbers: Mapping[str, int],
    best: Mapping[str, Best],
    budget: Budget,
) -> Scope:
    def curves(found: Mapping[str, tuple[list[float], list[float]]]) -> Curves:
        return {numbers[label]: thinned(x, [round(y, 9) for y in ys], budget.curve) for label, (x, ys) in found.items()}

    spreads = {
        numbers[label]: spread for label, own in by_label(records).items() if (spread := _spread(own, best)) is not None
    }
    anytime = gap_curves(records) if any(record.measurement.trajectory for record in records) else {}
    return Scope(name, group, spreads, curves(time_profile(records)), curves(gap_profile(records)), curves(anytime))


def _spread(records: Sequence[Record], best: Mapping[str, Best]) -> Spread | None:
    found = (best[record.run.digest].gap(verified_objective(record)) for record in records)
    values = np.array([gap for gap in found if gap is not None])
    if not values.size:
        return None
    least, lower, median, upper, most = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(values.size, least, lower, median, upper, most, float(values.mean()))


def thinned(x: Sequence[float], y: Sequence[float], limit: int) -> Curve:
    """Return a step curve with at most `limit` points, the first and the last among them."""
    kept = np.unique(np.linspace(0, len(x) - 1, min(limit, len(x))).round().astype(int)).tolist()
    return tuple(x[i] for i in kept), tuple(y[i] for i in kept)


def _points(
    records: Sequence[Record],
    numbers: Mapping[str, int],
    groups: Mapping[str, int],
    best: Mapping[str, Best],
    budget: Budget,
) -> tuple[Points, tuple[str, ...]]:
    """Return runs as points: if there are too many, as many of each method and group, evenly along its gaps."""
    cells: dict[tuple[int, int], list[tuple[float, float, str]]] = {}
    for record in records:
        gap = best[record.run.digest].gap(verified_objective(record))
        if gap is not None and record.measurement.wall_s is not None:
            cell = numbers[record.run.label], groups[record.run.group]
            cells.setdefault(cell, []).append((gap, record.measurement.wall_s, record.run.instance))
    total = sum(map(len, cells.values()))
    names: dict[str, int] = {}
    kept: list[tuple[int, int, int, float, float]] = []
    share = max(2, budget.points // max(1, len(cells)))
    for (method, group), members in cells.items():
        members.sort()
        if total > budget.points:
            places = np.unique(np.linspace(0, len(members) - 1, min(share, len(members))).round().astype(int))
            members = [members[i] for i in places.tolist()]
        for gap, wall_s, instance in members:
            number = names.setdefault(clipped(instance, budget.text), len(names))
            kept.append((method, group, number, wall_s, gap))
    method_of, group_of, instance_of, walls, gaps = zip(*kept, strict=True) if kept else ((), (), (), (), ())
    return Points(method_of, group_of, instance_of, walls, gaps, total - len(kept)), tuple(names)


def _pairs(rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], budget: Budget) -> list[PaperPair]:
    return [
        PaperPair(
            clipped(row["group"], budget.text),
            numbers[row["method"]],
            row["normalised_cost_mean"],
            row["normalised_cost_std"],
            row["paper_mean"],
            row["paper_std"],
        )
        for row in rows[: budget.rows]
        if row["method"] in numbers and row.get("paper_mean") and row.get("normalised_cost_mean")
    ]


def _growth(rows: Sequence[Mapping[str, Any]], numbers: Mapping[str, int], groups: Mapping[str, int]) -> list[Growth]:
    """Return how times grow with the number of tasks, from the rows of a `runtime` table."""
    lines: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.get("tasks") and row["method"] in numbers and row["time_median_s"]:
            lines.setdefault((groups[row["group"]], numbers[row["method"]]), []).append(row)
    return [
        Growth(
            group,
            method,
            tuple(row["tasks"] for row in own),
            tuple(row["time_median_s"] for row in own),
            tuple((row["tasks"], row["paper_time_s"]) for row in own if row["paper_time_s"]),
        )
        for (group, method), own in lines.items()
        if len(own) > 1
    ]


def _fruitless(scopes: Sequence[Scope]) -> frozenset[int]:
    return frozenset(
        method
        for scope in scopes[:1]
        for method, (_, shares) in scope.time_profile.items()
        if method not in scope.spreads and not any(shares)
    )


def without_gap(records: Sequence[Record], best: Mapping[str, Best]) -> tuple[int, int]:
    """Return how many runs have no gap because they failed, and because solution or bound is missing."""
    failed = sum(record.status in FAILED for record in records)
    missing = sum(
        record.status not in FAILED and best[record.run.digest].gap(verified_objective(record)) is None
        for record in records
    )
    return failed, missing
