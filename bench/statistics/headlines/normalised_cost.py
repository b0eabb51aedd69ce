"""The headline `normalised-cost`: cost over the best proven bound, beside a paper's figures (Eva's Table 4)."""

from __future__ import annotations

from dataclasses import replace
from statistics import stdev
from typing import TYPE_CHECKING

from schedgap.bench.statistics.headlines.headline import (
    GROUP,
    MEAN_GAP,
    MEAN_TIME,
    METHOD,
    PAPER_TIME,
    PROVEN,
    RUNS,
    WORST_GAP,
    Column,
    Headline,
    by_group_and_label,
    find_reference,
    published,
    times_of,
)
from schedgap.bench.statistics.summary import best_of, gaps, is_optimal, mean, verified_objective
from schedgap.bench.statistics.tables import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.headlines.headline import Given, Row
    from schedgap.bench.suites.suite import Suite


def _rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method."""
    best = best_of(records)
    rows = []
    for row, own in by_group_and_label(records):
        ratios = []
        for record in own:
            objective, bound = verified_objective(record), best[record.run.digest].bound
            if objective is not None and bound:
                ratios.append(objective / bound)
        known = gaps(own, best)
        reference = find_reference(suite, row)
        rows.append(
            {
                **row,
                "normalised_cost_mean": mean(ratios),
                "normalised_cost_std": stdev(ratios) if len(ratios) > 1 else None,
                **published(reference, "mean", "std"),
                "gap_mean": mean(known),
                "gap_worst": max(known, default=None),
                "proven_optimal": sum(is_optimal(r, best) for r in own),
                "time_mean_s": mean(times_of(own)),
                **published(reference, "time_s", "note"),
            }
        )
    return rows


def _with_deviation(row: Given, mean: str, deviation: str, digits: int) -> str:
    if row[mean] is None:
        return NOTHING
    return f"{row[mean]:.{digits}f}" + ("" if row[deviation] is None else f" ± {row[deviation]:.{digits}f}")


def _difference(row: Given) -> float | None:
    if row["paper_mean"] is None or row["normalised_cost_mean"] is None:
        return None
    return float(row["normalised_cost_mean"] - row["paper_mean"])


def _shown_difference(row: Given) -> str:
    value = _difference(row)
    return NOTHING if value is None else f"{value:+.3f}".replace("-", "−")


_COLUMNS = (
    GROUP,
    METHOD,
    RUNS,
    Column(
        "cost / optimum",
        "over the best proven bound, the optimum where it is proven: mean and standard deviation",
        lambda row: row["normalised_cost_mean"],
        lambda row: _with_deviation(row, "normalised_cost_mean", "normalised_cost_std", 3),
    ),
    Column(
        "paper",
        "the paper's mean and standard deviation",
        lambda row: row["paper_mean"],
        lambda row: _with_deviation(row, "paper_mean", "paper_std", 2),
        needs=("paper_mean",),
        rank=1,
    ),
    Column("difference", "ours - paper's", _difference, _shown_difference, needs=("paper_mean",), only_page=True),
    replace(MEAN_GAP, rank=2),
    WORST_GAP,
    PROVEN,
    MEAN_TIME,
    PAPER_TIME,
)
NORMALISED_COST = Headline("normalised-cost", _rows, lambda rows, family: _COLUMNS)
