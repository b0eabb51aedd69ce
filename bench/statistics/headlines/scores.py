"""The headline `scores`: what others score all runs of a method with, below a ceiling that is proven.

A family's `native_score` says how. The ceiling is the same of the best proven bounds, beside the published scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum

from schedgap.bench.records.runs import Record
from schedgap.bench.statistics.headlines.headline import (
    GROUP,
    MEAN_GAP,
    MEAN_TIME,
    METHOD,
    PROVEN,
    RUNS,
    Column,
    Given,
    Headline,
    Row,
    by_group_and_label,
    times_of,
)
from schedgap.bench.statistics.summary import Best, best_of, gaps, is_optimal, mean, verified_objective
from schedgap.bench.statistics.tables import NOTHING, readable
from schedgap.bench.suites.suite import Suite
from schedgap.instances.family import Family, Scored, find_family

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


def _rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
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


def _columns(rows: Sequence[Given], family: Family | None) -> tuple[Column, ...]:
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


SCORES = Headline("scores", _rows, _columns)
