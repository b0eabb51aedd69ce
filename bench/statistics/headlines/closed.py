"""The headline `closed`: how many instances of a public set are proven optimal, beside what is published of them."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines.headline import (
    GROUP,
    MEAN_TIME,
    METHOD,
    RUNS,
    Column,
    Headline,
    by_group_and_label,
    times_of,
)
from schedgap.bench.statistics.summary import mean, verified_objective
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.headlines.headline import Given, Row
    from schedgap.bench.suites.collection import Listed
    from schedgap.bench.suites.suite import Suite

ALL = "all"


def _rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method, and one of all groups of a method where there are several."""
    published, scale = suite.published, find_family(suite.family).objective_scale
    rows, of_method = [], defaultdict(list)
    for row, own in by_group_and_label(records):
        rows.append(_row(row, own, published, scale))
        of_method[row["method"]].append((row, own))
    if len({row["group"] for row in rows}) > 1:
        for parts in of_method.values():
            sums = {key: sum(row[key] for row, _ in parts) for key in ("runs", "failed")}
            together = [record for _, own in parts for record in own]
            rows.append(_row({**parts[0][0], "group": ALL, **sums}, together, published, scale))
    return rows


def _row(row: Row, own: Sequence[Record], published: dict[tuple[str, str], Listed], scale: int) -> Row:
    counts = dict.fromkeys(("closed", "closed_before", "better_bounds", "better_solutions"), 0)
    wrong = []
    for record in own:
        objective, bound = verified_objective(record), None if record.status in FAILED else record.measurement.bound
        known = published.get((record.run.group, record.run.instance))
        counts["closed"] += objective is not None and objective == bound
        if known is None:
            continue
        counts["closed_before"] += known.is_closed
        lower, upper = _whole(known.best_bound, scale), _whole(known.best_solution, scale)
        counts["better_bounds"] += bound is not None and lower is not None and bound > lower
        counts["better_solutions"] += objective is not None and upper is not None and objective < upper
        wrong += _contradictions(known.name, objective, bound, lower, upper, scale)
    return {**row, **counts, "wrong": len(wrong), "contradictions": wrong, "time_mean_s": mean(times_of(own))}


def _whole(figure: float | None, scale: int) -> int | None:
    """Return a published figure in the unit of objectives, which are whole: what is finer is rounding, a paper's or ours."""
    return None if figure is None else round(Fraction(str(figure)) * scale)


def _contradictions(
    name: str, objective: int | None, bound: int | None, lower: int | None, upper: int | None, scale: int
) -> list[str]:
    """Return what of a run cannot be if the published figures are right."""
    found = []
    if bound is not None and upper is not None and bound > upper:
        found.append(f"{name}: bound {bound / scale:g} above the published {upper / scale:g}")
    if objective is not None and lower is not None and objective < lower:
        found.append(f"{name}: solution {objective / scale:g} below the published bound {lower / scale:g}")
    return found


def contradictions_to_published(suite: Suite, records: Sequence[Record]) -> list[str]:
    """Return a sentence for each result that cannot be if what is published of the suite's instances is right."""
    return _sentences(_rows(suite, records)) if suite.collection else []


def _sentences(rows: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(f"WRONG, theirs or ours: {text}." for row in rows for text in row["contradictions"]))


def _count(title: str, note: str, key: str, rank: int = 0) -> Column:
    return Column(title, note, lambda row: row[key], lambda row: f"{row[key]:,}", rank=rank)


_COLUMNS = (
    GROUP,
    METHOD,
    RUNS,
    _count("closed", "the verified solution costs as much as the method's own bound", "closed"),
    _count("closed before", "the optimum follows from what is published", "closed_before"),
    _count("better bounds", "than published", "better_bounds", 2),
    _count("better solutions", "than published", "better_solutions", 2),
    _count("WRONG", "a bound above, or a solution below, what is published as the best possible", "wrong"),
    MEAN_TIME,
)
CLOSED = Headline(
    "closed",
    _rows,
    lambda rows, family: _COLUMNS,
    lambda rows: " ".join(_sentences(rows)),
)
