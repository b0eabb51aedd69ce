"""The headline `measures`: what the family reads off solutions, what models predict of it, and a paper's figures.

The headline `runtime`: median seconds by the size of instances, beside a paper's figures (Eva's Table 5).

The headline `scores`: what others score all runs of a method with, below a ceiling that is proven.

A family's `native_score` says how. The ceiling is the same of the best proven bounds, beside the published scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum, isfinite
from statistics import median
from typing import Any

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.headline import (
    GROUP,
    MEAN_GAP,
    MEAN_TIME,
    METHOD,
    PAPER_TIME,
    PROVEN,
    RUNS,
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
from schedgap.bench.statistics.measure_rows import figure, is_prediction, measure_note, predicting, predictions_of
from schedgap.bench.statistics.profiles import with_ratios
from schedgap.bench.statistics.summary import Best, best_of, gaps, is_optimal, mean, mean_interval, verified_objective
from schedgap.bench.statistics.tables import NOTHING, measured, readable, seconds
from schedgap.bench.suites.suite import Suite
from schedgap.instances.family import FAMILIES, SIZE, Family, Scored, find_family

# How early a narrow terminal leaves out what is no measure of ours (see `tables.Head`).
SIDE = 10


def _measure_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method: the suite's measures, with models' and the paper's figures beside them."""
    best = best_of(records)
    records = with_ratios(records, suite.measures)
    models = predictions_of(records)
    rows = []
    for row, own in by_group_and_label(record for record in records if not is_prediction(record)):
        predictions = predicting(models.get(own[0].run.method, ()), own[0].run)
        reference = find_reference(suite, row)
        rows.append(
            {
                **row,
                **measured_row(own, suite.measures, {} if reference is None else reference.measures, predictions),
                "gap_mean": mean(gaps(own, best)),
                "time_mean_s": mean(times_of(own)),
            }
        )
    return rows


def measured_row(
    records: Sequence[Record], names: Iterable[str], paper: Mapping[str, float], predictions: Sequence[Record] = ()
) -> dict[str, Any]:
    """Return, for each name, its mean, least and most over the runs, what models predict, and the paper's figure.

    What nobody has is None. NAME_low, NAME_high : the 95% interval of the mean over the instances. predictions : runs of
    models of these runs' method.
    """
    row: dict[str, Any] = {}
    for name in names:
        values = [value for record in records if (value := figure(record, name)) is not None]
        predicted = [value for record in predictions if (value := figure(record, name)) is not None]
        row[name] = mean(values)
        row[f"{name}_min"], row[f"{name}_max"] = min(values, default=None), max(values, default=None)
        row[f"{name}_low"], row[f"{name}_high"] = _interval(records, name)
        row[f"model_{name}"] = mean(predicted)
        row[f"paper_{name}"] = paper.get(name)
    return row


def _interval(records: Iterable[Record], name: str) -> tuple[float | None, float | None]:
    """Return the 95% interval of a figure's mean; the runs of an instance count as one."""
    own: dict[str, list[float]] = {}
    for record in records:
        if (value := figure(record, name)) is not None:
            own.setdefault(record.run.digest, []).append(value)
    values = [fsum(found) / len(found) for found in own.values()]
    return mean_interval(values)[1:] if values and all(map(isfinite, values)) else (None, None)


def measure_columns(rows: Sequence[Given], family: Family | None = None) -> tuple[Column, ...]:
    """Return the columns of the headline; a model's and the paper's figures only where any row has them."""
    # The paper's key beside each measure tells which keys are measures.
    names = [key.removeprefix("paper_") for key in rows[0] if key.startswith("paper_")] if rows else []
    columns = [GROUP, METHOD, replace(RUNS, rank=SIDE + 2)]
    for place, name in enumerate(names):
        columns += _columns_of(name, rows, place, measure_note(family, name))
    if any(row["gap_mean"] is not None for row in rows):
        columns.append(replace(MEAN_GAP, rank=SIDE))
    return (*columns, replace(MEAN_TIME, rank=SIDE + 1))


def _columns_of(name: str, rows: Sequence[Given], place: int, told: str) -> Iterator[Column]:
    title = readable(name)
    note = f"{told}{'; ' if told else ''}mean over the runs; below it the least and the most"
    show = _with_interval(name)
    yield figure_column(title, note, name, measured, opens=True, span=_span(name), terminal_text=show, rank=place)
    for whose, what in (("model", f"{title} as a model of the method predicts it"), ("paper", f"the paper's {title}")):
        other = f"{whose}_{name}"
        if any(row[other] is not None for row in rows):
            shown = f"{whose}'s {title}"
            yield figure_column(whose, what, other, measured, rank=place or 1, terminal_title=shown)
            yield _difference_column(f"ours − {whose}", f"{title}: (ours − {whose}) / {whose}", name, other)


def _difference_column(title: str, note: str, name: str, other: str) -> Column:
    def value(row: Given) -> float | None:
        return difference(row[name], row[other])

    return Column(title, note, value, lambda row: signed_percent(value(row)), only_page=True)


def difference(ours: float | None, other: float | None) -> float | None:
    """Return (ours - other) / |other|; None without one of them, or of a difference to 0."""
    if ours is None or other is None:
        return None
    if ours == other:
        return 0.0
    return (ours - other) / abs(other) if other else None


def signed_percent(share: float | None) -> str:
    """Return a difference as a percentage with its sign."""
    if share is None:
        return NOTHING
    shown = f"{100 * share:+,.{1 if abs(share) < 10 else 0}f}%".replace("-", "−")
    return shown if shown[1:] != "0.0%" else "0.0%"


def _span(name: str) -> Callable[[Given], str]:
    def span(row: Given) -> str:
        least, most = measured(row[f"{name}_min"]), measured(row[f"{name}_max"])
        return f"{least} – {most}" if least != most else ""

    return span


def _with_interval(name: str) -> Callable[[Given], str]:
    """Return what shows a mean and how far the ends of its interval are from it."""

    def show(row: Given) -> str:
        value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
        # An interval that only rounding makes is none.
        if value is None or low is None or high - low <= 1e-6 * abs(value):
            return measured(value)
        half = float(f"{max(value - low, high - value):.2g}")
        return f"{measured(value)} ± {half:,.10g}"

    return show


_NOTE = "After ±: the 95% interval of the mean over instances."
MEASURES = Headline("measures", _measure_rows, measure_columns, lambda rows: _NOTE, of_measures=True)


def _runtime_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group, size and method."""
    best, family = best_of(records), FAMILIES.get(suite.family)
    rows = []
    for row, own in by_group_and_label(records):
        sizes = [_size(record, family) for record in own]
        for size in sorted(set(sizes)):
            same = [record for record, its in zip(own, sizes, strict=True) if its == size]
            times = times_of(same)
            rows.append(
                {
                    **row,
                    size_of(family): size,
                    "runs": len(same),
                    "failed": sum(record.status in FAILED for record in same),
                    "time_median_s": median(times) if times else None,
                    **published(find_reference(suite, row, size), "time_s"),
                    "gap_mean": mean(gaps(same, best)),
                    "peak_memory_mib": max((r.measurement.peak_memory_mib or 0 for r in same), default=None),
                }
            )
    return rows


def size_of(family: Family | None) -> str:
    """Return the parameter that says how large an instance of the family is."""
    return SIZE if family is None else family.size


def _size(record: Record, family: Family | None) -> int:
    """Return the size of the run's instance, 0 where it is unknown or a range; a suite may write it as text."""
    text = str(record.run.source.get(size_of(family), 0))
    return int(text) if text.isdecimal() else 0


def _columns(rows: Sequence[Given], family: Family | None) -> tuple[Column, ...]:
    size = size_of(family)
    return (
        GROUP,
        METHOD,
        Column(size, "of an instance", lambda row: row[size], lambda row: f"{row[size]:,}" if row[size] else NOTHING),
        RUNS,
        figure_column("median time", "of the method call", "time_median_s", seconds),
        PAPER_TIME,
        replace(MEAN_GAP, rank=3),
        Column(
            "peak memory",
            "the most of one run, all its processes",
            lambda row: row["peak_memory_mib"],
            lambda row: NOTHING if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:,.0f} MiB",
            terminal_text=lambda row: NOTHING if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:.0f}",
            unit="MiB",
            rank=4,
        ),
    )


RUNTIME = Headline("runtime", _runtime_rows, _columns)


# What the row of the best possible is called.
CEILING = "proven ceiling"


def native_scores(family: Family, records: Sequence[Record]) -> dict[str, float]:
    """Return the family's own scores of the runs of one method, the mean over repetitions; none where nothing was solved."""
    if family.native_score is None or not any(verified_objective(record) is not None for record in records):
        return {}
    repetitions: dict[int, list[Scored]] = {}
    for record in records:
        scored = Scored(record.run.instance, verified_objective(record), record.measurement.measures)
        repetitions.setdefault(record.run.repetition, []).append(scored)
    found = [family.native_score(runs) for runs in repetitions.values()]
    return {name: fsum(each[name] for each in found) / len(found) for name in found[0]}


def ceilings(family: Family, records: Sequence[Record], best: Mapping[str, Best]) -> dict[str, float]:
    """Return the scores of solutions that would cost as much as the best proven bounds; none where one is missing."""
    measures = {record.run.digest: record.measurement.measures for record in records if record.measurement.measures}
    names = {record.run.digest: record.run.instance for record in records}
    if family.native_score is None or any(best[digest].bound is None for digest in names):
        return {}
    return family.native_score([Scored(name, best[each].bound, measures.get(each, {})) for each, name in names.items()])


def _score_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group and method, then the published scores of others, then the ceiling."""
    family, best = find_family(suite.family), best_of(records)
    rows: list[Row] = []
    groups: dict[str, list[Record]] = {}
    for row, own in by_group_and_label(records):
        groups.setdefault(row["group"], []).extend(own)
        figures = {
            "gap_mean": mean(gaps(own, best)),
            "proven_optimal": sum(is_optimal(record, best) for record in own),
            "time_mean_s": mean(times_of(own)),
        }
        rows.append({**row, "scores": native_scores(family, own), **figures})
    for group, own in groups.items():
        published = [each for each in suite.reference if not each.method and each.group in (group, None)]
        rows += [_other(group, each.name, each.measures) for each in published]
        rows.append(_other(group, CEILING, ceilings(family, own, best)))
    order = list(groups)
    return sorted(rows, key=lambda row: order.index(row["group"]))


def _other(group: str, name: str, scores: Mapping[str, float]) -> Row:
    empty = dict.fromkeys(("failed", "unsupported", "unsolved", "runs", "proven_optimal"), 0)
    return {"group": group, "method": name, **empty, "scores": dict(scores), "gap_mean": None, "time_mean_s": None}


def _score_columns(rows: Sequence[Given], family: Family | None) -> tuple[Column, ...]:
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    return (GROUP, METHOD, _of_runs(RUNS), *map(_score_column, names), MEAN_GAP, _of_runs(PROVEN), MEAN_TIME)


def _of_runs(column: Column) -> Column:
    """Return a column that says nothing of rows without runs: published scores, and the ceiling."""
    told = column.terminal_text or column.text
    return replace(
        column,
        value=lambda row: column.value(row) if row["runs"] else None,
        text=lambda row: column.text(row) if row["runs"] else NOTHING,
        terminal_text=lambda row: told(row) if row["runs"] else NOTHING,
    )


def _score_column(name: str) -> Column:
    def value(row: Given) -> float | None:
        score: float | None = row["scores"].get(name)
        return score

    def text(row: Given) -> str:
        score = value(row)
        return NOTHING if score is None else f"{score:,.8g}"

    return Column(readable(name), "as others score all runs together", value, text, opens=True)


SCORES = Headline("scores", _score_rows, _score_columns)
