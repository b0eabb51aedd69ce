"""Measures relative to those of another method: `cost/no-packing` is a run's cost over no-packing's on its instance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.summary import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.records.record import Record

OVER = "/"


def with_ratios(records: Sequence[Record], names: Iterable[str]) -> list[Record]:
    """Return the records with the measures among `names` that are ratios; the others are there already.

    A ratio is over the mean of the other method's runs on the same instance; without one it is absent.
    """
    wanted = {name: name.split(OVER, 1) for name in names if OVER in name}
    if not wanted:
        return list(records)
    found: dict[tuple[str, str, str], list[float]] = {}
    for record in records:
        for measure, other in wanted.values():
            value = figure(record, measure)
            if record.run.label == other and value is not None:
                found.setdefault((record.run.digest, measure, other), []).append(value)
    return [_with(record, wanted, found) for record in records]


def _with(record: Record, wanted: dict[str, list[str]], found: dict[tuple[str, str, str], list[float]]) -> Record:
    ratios = {}
    for name, (measure, other) in wanted.items():
        value, base = figure(record, measure), mean(found.get((record.run.digest, measure, other), []))
        if value is not None and base:
            ratios[name] = value / base
    if not ratios:
        return record
    measures = {**record.measurement.measures, **ratios}
    return replace(record, measurement=replace(record.measurement, measures=measures))
