"""Figures of runs: what the family reads off verified solutions, and what models predict of them.

What measures are, from where a family documents them: `name, name : text` in the docstring of its `measures`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import fsum, isfinite

from schedgap.bench.records.runs import FAILED, Record, Run, Scalar
from schedgap.instances.family import FAMILIES, Family
from schedgap.instances.method import Status


@dataclass(frozen=True, slots=True)
class Line:
    """A figure of one method as a function of one of its parameters.

    is_predicted : by a model, which then is the method. group : of the instances, empty for a model. given : the
    method's other parameters that were given. x : (N,) ascending. mean, least, most : (N,) each, over the runs at x.
    predicts : the method that a model predicts, empty for others.
    """

    method: str
    is_predicted: bool
    group: str
    given: Mapping[str, Scalar]
    x: tuple[float, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]
    predicts: str = ""


def predictions_of(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return runs of models by the method that they predict, see `Family.model_prefix`."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if is_prediction(record):
            found.setdefault(_predicted(record), []).append(record)
    return found


def predicting(models: Iterable[Record], run: Run) -> list[Record]:
    """Return those of the models that were given all that the run was given."""
    return [model for model in models if run.given.items() <= model.run.given.items()]


def is_prediction(record: Record) -> bool:
    """Whether a run is a model's, which finds no solution and proves nothing: what it says is of another method."""
    prefix, measurement = _prefixes(record)[0], record.measurement
    ended = measurement.status in (Status.NO_SOLUTION, Status.UNSUPPORTED) and measurement.bound is None
    return ended and bool(prefix) and record.run.method.startswith(prefix)


def figure(record: Record, name: str) -> float | None:
    """Return a figure of one run: measured, else predicted or told; None of a failed run, or where there is none."""
    if record.status in FAILED:
        return None
    measurement, family = record.measurement, FAMILIES.get(record.run.family)
    value: object = measurement.measures.get(name)
    is_told = family is not None and name in family.told and (measurement.objective, measurement.bound) != (None, None)
    if value is None and (is_told or is_prediction(record)):
        value = measurement.details.get(name, measurement.details.get(name.removeprefix(_prefixes(record)[1])))
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _predicted(record: Record) -> str:
    return record.run.method.removeprefix(_prefixes(record)[0])


def _prefixes(record: Record) -> tuple[str, str]:
    """Return how the names of models, and of measures of the steady state, begin in the run's family."""
    family = FAMILIES.get(record.run.family)
    return ("", "") if family is None else (family.model_prefix, family.steady_prefix)


def lines_of(records: Iterable[Record], parameter: str, name: str) -> list[Line]:
    """Return a figure as a function of a parameter: a line for each method without it, in the order of the records.

    parameter : of the method, or else of the instance's source, or else another figure.
    """
    members: dict[tuple[str, str, str, tuple[tuple[str, Scalar], ...]], dict[float, list[float]]] = {}
    for record in records:
        run = record.run
        x = _number(run.parameters.get(parameter, run.source.get(parameter, figure(record, parameter))))
        y = figure(record, name)
        if x is None or y is None or not isfinite(y):
            continue
        others = tuple(sorted((key, value) for key, value in run.given.items() if key != parameter))
        # What a model predicts is of no group: it never saw the instances.
        predicts = _predicted(record) if is_prediction(record) else ""
        key = run.method, predicts, "" if predicts else run.group, others
        members.setdefault(key, {}).setdefault(x, []).append(y)
    lines = []
    for (method, predicts, group, given), points in members.items():
        xs = sorted(points)
        values = [points[x] for x in xs]
        means = tuple(fsum(found) / len(found) for found in values)
        least, most = tuple(map(min, values)), tuple(map(max, values))
        lines.append(Line(method, bool(predicts), group, dict(given), tuple(xs), means, least, most, predicts))
    return lines


def _number(value: object) -> float | None:
    """Return a parameter's value as a place on an axis; text that spells a number is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


_NAMES = r"[a-z0-9_*]+(?:, [a-z0-9_*]+)*"
_ENTRY = re.compile(rf"(?<![\w*])({_NAMES}) : (.*?)(?= {_NAMES} : |$)")


def measure_note(family: Family | None, name: str) -> str:
    """Return what a measure of a family is; empty where the family does not say. `*` in its words is any text."""
    text = " ".join(("" if family is None else family.measures.__doc__ or "").replace("`", "").split())
    for names, note in _ENTRY.findall(text):
        if any(fnmatchcase(name, each) for each in names.split(", ")):
            return str(note).rstrip(".;")
    return ""
