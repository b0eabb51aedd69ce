"""The headline `gap`: how far each method is from the best proven bounds, how often it is better, how fast."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedgap.bench.statistics.headlines.headline import (
    MEAN_GAP,
    METHOD,
    PROVEN,
    RUNS,
    WORST_GAP,
    Column,
    Headline,
    figure_column,
)
from schedgap.bench.statistics.summary import MethodSummary, summarise
from schedgap.bench.statistics.tables import in_seconds, percent, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.statistics.headlines.headline import Given, Row

_SHOWN = (
    *(
        "method",
        "runs",
        "failed",
        "unsupported",
        "unsolved",
        "proven_optimal",
        "gap_mean",
        "gap_median",
        "gap_p95",
        "gap_worst",
    ),
    *("wins", "ties", "losses", "sgm_time_s", "par10_s"),
)


def rows_of(summaries: Iterable[MethodSummary]) -> list[Row]:
    """Return one row a summary."""
    return [{name: getattr(summary, name) for name in _SHOWN} for summary in summaries]


def limits_note(rows: Sequence[Given]) -> str:
    """Return what times are made of, where some of the runs behind them failed; empty otherwise."""
    if not any(row["failed"] and time_of(row, "sgm_time_s") is not None for row in rows):
        return ""
    return "In time (sgm) a failed run counts with its wall limit, in PAR-10 with ten."


def time_of(row: Given, key: str) -> float | None:
    """Return a time of `summarise`; None where every run failed, so that it is made of nothing but limits."""
    return None if row["failed"] and row["failed"] + row["unsupported"] == row["runs"] else row[key]


def _time_column(title: str, note: str, key: str, rank: int, terminal_title: str = "") -> Column:
    return Column(
        title,
        note,
        lambda row: time_of(row, key),
        lambda row: seconds(time_of(row, key)),
        terminal_text=lambda row: in_seconds(time_of(row, key)),
        terminal_title=terminal_title,
        unit="s",
        rank=rank,
    )


def _gap_column(title: str, note: str, key: str, rank: int) -> Column:
    return figure_column(title, note, key, percent, needs=_HAS_GAPS, terminal_title=f"{title} gap", rank=rank)


_HAS_GAPS = ("gap_mean",)
_COLUMNS = (
    METHOD,
    RUNS,
    MEAN_GAP,
    _gap_column("median", "half of the gaps are at most this", "gap_median", 6),
    _gap_column("p95", "95 % of the gaps are at most this", "gap_p95", 5),
    replace(WORST_GAP, title="worst", note="gap of one run", terminal_title="worst gap"),
    replace(PROVEN, needs=_HAS_GAPS),
    Column(
        "wins–ties–losses",
        "against every other method on the same instance with the same seed",
        lambda row: row["wins"] - row["losses"],
        lambda row: f"{row['wins']:,}–{row['ties']:,}–{row['losses']:,}",
        terminal_title="wins ties losses",
        terminal_text=lambda row: f"{row['wins']}-{row['ties']}-{row['losses']}",
        rank=8,
    ),
    _time_column(
        "time (sgm)",
        "shifted geometric mean of the times, exp(mean(log(time + 1 s))) - 1 s: neither the few longest nor the many "
        "shortest decide alone; failed runs count their limit",
        "sgm_time_s",
        4,
        "time, sgm",
    ),
    _time_column(
        "PAR-10", "penalised average runtime: the mean time, where what is not solved counts ten limits", "par10_s", 7
    ),
)
GAP = Headline("gap", lambda suite, records: rows_of(summarise(records)), lambda rows, family: _COLUMNS, limits_note)
