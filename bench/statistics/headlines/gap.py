"""The headline `gap`: how far each method is from the best proven bounds, how often it is better, how fast.

The headline `closed`: how many instances of a public set are proven optimal, beside what is published of them.

The headline `objective`: mean verified objective and proven bound in the family's unit, and the gap.

The headline `normalised-cost`: cost over the best proven bound, beside a paper's figures (Eva's Table 4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import stdev

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.headline import (
    GAPS,
    GROUP,
    MEAN_GAP,
    MEAN_TIME,
    METHOD,
    PAPER_TIME,
    PROVEN,
    RUNS,
    WORST_GAP,
    Column,
    Given,
    Headline,
    Row,
    by_group_and_label,
    figure_column,
    find_reference,
    published,
    times_of,
)
from schedgap.bench.statistics.summary import (
    Best,
    MethodSummary,
    best_of,
    gaps,
    is_optimal,
    mean,
    summarise,
    verified_objective,
)
from schedgap.bench.statistics.tables import NOTHING, in_seconds, number, percent, seconds
from schedgap.bench.suites.collection import Listed
from schedgap.bench.suites.suite import Suite
from schedgap.instances.family import Family, find_family

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
_GAP_COLUMNS = (
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
GAP = Headline(
    "gap", lambda suite, records: rows_of(summarise(records)), lambda rows, family: _GAP_COLUMNS, limits_note
)


ALL = "all"


def _closed_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
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
    return _sentences(_closed_rows(suite, records)) if suite.collection else []


def _sentences(rows: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(f"WRONG, theirs or ours: {text}." for row in rows for text in row["contradictions"]))


def _count(title: str, note: str, key: str, rank: int = 0) -> Column:
    return Column(title, note, lambda row: row[key], lambda row: f"{row[key]:,}", rank=rank)


_CLOSED_COLUMNS = (
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
    _closed_rows,
    lambda rows, family: _CLOSED_COLUMNS,
    lambda rows: " ".join(_sentences(rows)),
)


def _objective_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method."""
    best = best_of(records)
    scale = find_family(suite.family).objective_scale
    rows = []
    for row, own in by_group_and_label(records):
        objectives = [value / scale for r in own if (value := verified_objective(r)) is not None]
        bounds = [b / scale for r in own if r.status not in FAILED and (b := r.measurement.bound) is not None]
        means = {"objective_mean": mean(objectives), "bound_mean": mean(bounds)}
        rows.append({**row, **means, **_closeness(own, best), "time_worst_s": max(times_of(own), default=None)})
    return rows


def _closeness(own: Sequence[Record], best: dict[str, Best]) -> Row:
    """Return how close runs come to the best bounds, and how fast."""
    known = gaps(own, best)
    return {
        "gap_mean": mean(known),
        "gap_worst": max(known, default=None),
        "proven_optimal": sum(is_optimal(r, best) for r in own),
        "time_mean_s": mean(times_of(own)),
    }


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


OBJECTIVE = Headline("objective", _objective_rows, _columns)


def _cost_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method."""
    best = best_of(records)
    rows = []
    for row, own in by_group_and_label(records):
        ratios = []
        for record in own:
            objective, bound = verified_objective(record), best[record.run.digest].bound
            if objective is not None and bound:
                ratios.append(objective / bound)
        reference = find_reference(suite, row)
        rows.append(
            {
                **row,
                "normalised_cost_mean": mean(ratios),
                "normalised_cost_std": stdev(ratios) if len(ratios) > 1 else None,
                **published(reference, "mean", "std"),
                **_closeness(own, best),
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


_COST_COLUMNS = (
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
NORMALISED_COST = Headline("normalised-cost", _cost_rows, lambda rows, family: _COST_COLUMNS)
