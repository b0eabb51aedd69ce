"""The headline `objective`: mean verified objective and proven bound in the family's unit, and the gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines.headline import (
    GAPS,
    GROUP,
    MEAN_TIME,
    METHOD,
    RUNS,
    Headline,
    by_group_and_label,
    figure_column,
    times_of,
)
from schedgap.bench.statistics.summary import best_of, gaps, is_optimal, mean, verified_objective
from schedgap.bench.statistics.tables import number, seconds
from schedgap.instances.family import Family, find_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.headlines.headline import Column, Given, Row
    from schedgap.bench.suites.suite import Suite


def _rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method."""
    best = best_of(records)
    scale = find_family(suite.family).objective_scale
    rows = []
    for row, own in by_group_and_label(records):
        objectives = [value / scale for r in own if (value := verified_objective(r)) is not None]
        bounds = [b / scale for r in own if r.status not in FAILED and (b := r.measurement.bound) is not None]
        known, times = gaps(own, best), times_of(own)
        rows.append(
            {
                **row,
                "objective_mean": mean(objectives),
                "bound_mean": mean(bounds),
                "gap_mean": mean(known),
                "gap_worst": max(known, default=None),
                "proven_optimal": sum(is_optimal(r, best) for r in own),
                "time_mean_s": mean(times),
                "time_worst_s": max(times, default=None),
            }
        )
    return rows


def _columns(rows: Sequence[Given], family: Family | None) -> tuple[Column, ...]:
    unit = "" if family is None else family.objective_unit
    return (
        GROUP,
        METHOD,
        RUNS,
        figure_column("mean objective", unit, "objective_mean", number, unit=unit),
        figure_column("mean bound", f"that the method proved itself, {unit}", "bound_mean", number, unit=unit, rank=5),
        *GAPS,
        MEAN_TIME,
        figure_column("worst time", "of the method call", "time_worst_s", seconds, rank=6),
    )


OBJECTIVE = Headline("objective", _rows, _columns)
