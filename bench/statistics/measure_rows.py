"""Rows of the headline `measures`: what the family reads off verified solutions, and what models predict of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.bootstrap import mean_interval
from schedgap.bench.statistics.summary import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Run, Scalar


MODEL = "model-"
# Models predict what holds after warm-up: their figure X stands beside X and beside `steady_X`.
STEADY = "steady_"


@dataclass(frozen=True, slots=True)
class Line:
    """A figure of one method as a function of one of its parameters.

    is_predicted : by a model, which then is the method. group : of the instances, empty for a model. given : the
    method's other parameters that were given. x : (N,) ascending. mean, least, most : (N,) each, over the runs at x.
    """

    method: str
    is_predicted: bool
    group: str
    given: Mapping[str, Scalar]
    x: tuple[float, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]


def measured_row(
    records: Sequence[Record], names: Iterable[str], paper: Mapping[str, float], predictions: Sequence[Record] = ()
) -> dict[str, Any]:
    """Return, for each name, its mean, least and most over the runs, what models predict, and the paper's figure.

    What nobody has is None. NAME_low, NAME_high : the 95% interval of the mean over the instances. predictions : runs of models
    of these runs' method.
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
        value = figure(record, name)
        if value is not None:
            own.setdefault(record.run.digest, []).append(value)
    values = [fsum(found) / len(found) for found in own.values()]
    return mean_interval(values)[1:] if values and all(map(isfinite, values)) else (None, None)


def predictions_of(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return runs of models by the method that they predict: `model-X`, which has no solution, predicts X."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if is_prediction(record):
            found.setdefault(record.run.method.removeprefix(MODEL), []).append(record)
    return found


def predicting(models: Iterable[Record], run: Run) -> list[Record]:
    """Return those of the models that were given all that the run was given."""
    return [model for model in models if run.given.items() <= model.run.given.items()]


def is_prediction(record: Record) -> bool:
    """Whether a run is a model's: it has no solution, and what it says is of another method."""
    return record.run.method.startswith(MODEL) and record.measurement.objective is None


def figure(record: Record, name: str) -> float | None:
    """Return a figure of one run: measured, else predicted; None of a failed run, or where there is none."""
    if record.status in FAILED:
        return None
    measurement = record.measurement
    value: object = measurement.measures.get(name)
    if value is None and measurement.objective is None:
        value = measurement.details.get(name, measurement.details.get(name.removeprefix(STEADY)))
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def lines_of(records: Iterable[Record], parameter: str, name: str) -> list[Line]:
    """Return a figure as a function of a parameter: a line for each method without it, in the order of the records.

    parameter : of the method, or else of the instance's source, or else another figure.
    """
    members: dict[tuple[str, bool, str, tuple[tuple[str, Scalar], ...]], dict[float, list[float]]] = {}
    for record in records:
        run = record.run
        x = _number(run.parameters.get(parameter, run.source.get(parameter, figure(record, parameter))))
        y = figure(record, name)
        if x is None or y is None or not isfinite(y):
            continue
        others = tuple(sorted((key, value) for key, value in run.given.items() if key != parameter))
        # What a model predicts is of no group: it never saw the instances.
        is_predicted = is_prediction(record)
        key = run.method, is_predicted, "" if is_predicted else run.group, others
        members.setdefault(key, {}).setdefault(x, []).append(y)
    lines = []
    for (method, is_predicted, group, given), points in members.items():
        xs = sorted(points)
        values = [points[x] for x in xs]
        means = tuple(fsum(found) / len(found) for found in values)
        least, most = tuple(map(min, values)), tuple(map(max, values))
        lines.append(Line(method, is_predicted, group, dict(given), tuple(xs), means, least, most))
    return lines


def _number(value: object) -> float | None:
    """Return a parameter's value as a place on an axis; text that spells a number is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
