"""Columns of the suite's own table on the page; where the suite carries a paper's figures, the difference to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.report.measure_columns import measure_columns
from schedgap.bench.report.tables import NOTHING, Column, number, percent, seconds
from schedgap.bench.statistics.tables import time_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Given = Mapping[str, Any]

OTHER_MACHINE = "on the paper's machine and in its language: not like for like"


def headline_columns(headline: str, rows: Sequence[Given], unit: str) -> tuple[Column, ...]:
    """Return the columns of a suite's table.

    headline : the suite's choice, `gap` for `summarise`. The paper's columns are there if any row has its figures, that
    of instances if any row names a group; in tables of `gap` and `measures` those of gaps if there are any. unit : of
    objectives.
    """
    makers = {"gap": _gap, "normalised-cost": _normalised_cost, "runtime": _runtime, "objective": _objective}
    columns = _measures(rows) if headline == "measures" else makers[headline](unit)
    if not any(row.get("group") for row in rows):
        columns = tuple(column for column in columns if column is not _GROUP)
    if headline in ("gap", "measures") and all(row["gap_mean"] is None for row in rows):
        columns = tuple(column for column in columns if column not in _GAPS)
    papers = {_PAPER_COST, _COST_DIFFERENCE} if not _has(rows, "paper_mean") else set()
    if not (_has(rows, "paper_time_s") or _has(rows, "paper_note")):
        papers |= {_PAPER_TIME, _TIME_RATIO}
    return tuple(column for column in columns if column not in papers)


def _has(rows: Sequence[Given], key: str) -> bool:
    return any(row.get(key) for row in rows)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _with_deviation(mean: float | None, deviation: float | None, digits: int) -> str:
    if mean is None:
        return NOTHING
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def _our_time(row: Given) -> float | None:
    time: float | None = row["time_mean_s"] if "time_mean_s" in row else row["time_median_s"]
    return time


def _cost_difference(row: Given) -> float | None:
    if row["paper_mean"] is None or row["normalised_cost_mean"] is None:
        return None
    return float(row["normalised_cost_mean"] - row["paper_mean"])


def _time_ratio(row: Given) -> float | None:
    ours = _our_time(row)
    return row["paper_time_s"] / ours if row["paper_time_s"] and ours else None


def _shown_ratio(ratio: float | None) -> str:
    if ratio is None:
        return NOTHING
    factor = float(f"{max(ratio, 1 / ratio):.3g}")
    return f"{factor:,.{0 if factor >= 100 else 1}f} × {'faster' if ratio >= 1 else 'slower'}"


def _time_column(title: str, note: str, key: str) -> Column:
    """Return a column of times in which runs that failed count with limits."""
    return Column(title, note, lambda row: time_of(row, key), lambda row: seconds(time_of(row, key)))


def _column(title: str, note: str, key: str, show: Any, *, has_bar: bool = False) -> Column:
    return Column(title, note, lambda row: row[key], lambda row: show(row[key]), has_bar=has_bar)


_METHOD = Column("method", "", lambda row: row["method"], lambda row: row["method"], is_text=True)
_GROUP = Column("instances", "", lambda row: row["group"], lambda row: row["group"] or NOTHING, is_text=True)
_RUNS = Column(
    "runs",
    "and how many of them failed",
    lambda row: row["runs"],
    lambda row: f"{row['runs']:,}" + (f" ({row['failed']:,} failed)" if row["failed"] else ""),
)
_MEAN_GAP = _column("mean gap", "(objective - best proven bound) / objective", "gap_mean", percent, has_bar=True)
_WORST_GAP = _column("worst gap", "of one run", "gap_worst", percent)
_PROVEN = Column(
    "proven optimal",
    "runs that cost as much as the best proven bound, whoever proved it",
    lambda row: row["proven_optimal"] / row["runs"],
    lambda row: f"{row['proven_optimal']:,} of {row['runs']:,}",
)
_MEDIAN_GAP = _column("median", "half of the gaps are at most this", "gap_median", percent)
_P95_GAP = _column("p95", "95 % of the gaps are at most this", "gap_p95", percent)
_WORST = _column("worst", "gap of one run", "gap_worst", percent)
_GAPS = (_MEAN_GAP, _MEDIAN_GAP, _P95_GAP, _WORST, _PROVEN)
_PAPER_COST = Column(
    "paper",
    "the paper's mean and standard deviation",
    lambda row: row["paper_mean"],
    lambda row: _with_deviation(row["paper_mean"], row["paper_std"], 2),
)
_COST_DIFFERENCE = Column(
    "difference",
    "ours - paper's",
    _cost_difference,
    lambda row: NOTHING if (value := _cost_difference(row)) is None else _signed(value),
)
_PAPER_TIME = Column(
    "paper's time",
    OTHER_MACHINE,
    lambda row: row["paper_time_s"],
    lambda row: row.get("paper_note") or seconds(row["paper_time_s"]),
)
_TIME_RATIO = Column("ours against it", OTHER_MACHINE, _time_ratio, lambda row: _shown_ratio(_time_ratio(row)))


def _gap(unit: str) -> tuple[Column, ...]:
    return (
        _METHOD,
        _RUNS,
        _MEAN_GAP,
        _MEDIAN_GAP,
        _P95_GAP,
        _WORST,
        _PROVEN,
        Column(
            "wins–ties–losses",
            "against every other method on the same instance with the same seed",
            lambda row: row["wins"] - row["losses"],
            lambda row: f"{row['wins']:,}–{row['ties']:,}–{row['losses']:,}",
        ),
        _time_column("time (sgm)", "shifted geometric mean, shift 1 s; failed runs count their limit", "sgm_time_s"),
        _time_column("PAR-10", "mean time; what is not solved counts ten limits", "par10_s"),
    )


def _measures(rows: Sequence[Given]) -> tuple[Column, ...]:
    return (
        _GROUP,
        _METHOD,
        _RUNS,
        *measure_columns(rows),
        _MEAN_GAP,
        _column("mean time", "of the method call", "time_mean_s", seconds),
    )


def _normalised_cost(unit: str) -> tuple[Column, ...]:
    return (
        _GROUP,
        _METHOD,
        _RUNS,
        Column(
            "cost / optimum",
            "over the best proven bound, the optimum where it is proven: mean and standard deviation",
            lambda row: row["normalised_cost_mean"],
            lambda row: _with_deviation(row["normalised_cost_mean"], row["normalised_cost_std"], 3),
        ),
        _PAPER_COST,
        _COST_DIFFERENCE,
        _MEAN_GAP,
        _WORST_GAP,
        _PROVEN,
        _column("mean time", "of the method call", "time_mean_s", seconds),
        _PAPER_TIME,
        _TIME_RATIO,
    )


def _runtime(unit: str) -> tuple[Column, ...]:
    return (
        _GROUP,
        _METHOD,
        Column("tasks", "of an instance", lambda row: row["tasks"], lambda row: f"{row['tasks']:,}"),
        _RUNS,
        _column("median time", "of the method call", "time_median_s", seconds),
        _PAPER_TIME,
        _TIME_RATIO,
        _MEAN_GAP,
        Column(
            "peak memory",
            "the most of one run, all its processes",
            lambda row: row["peak_memory_mib"],
            lambda row: NOTHING if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:,.0f} MiB",
        ),
    )


def _objective(unit: str) -> tuple[Column, ...]:
    return (
        _GROUP,
        _METHOD,
        _RUNS,
        _column("mean objective", unit, "objective_mean", number),
        _column("mean bound", f"that the method proved itself, {unit}", "bound_mean", number),
        _MEAN_GAP,
        _WORST_GAP,
        _PROVEN,
        _column("mean time", "of the method call", "time_mean_s", seconds),
        _column("worst time", "of the method call", "time_worst_s", seconds),
    )
