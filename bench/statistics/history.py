"""The history of a suite's figures: a line for each time that it was measured, in one append-only file.

`docs/ci.md` documents the fields. The file is somebody's to keep: nothing in it is ever changed, and a damaged line is told.

Steps in a series: where the level of a figure changed for good, and where it only wavers.

The piecewise constant fit of least sum |y_t - level_t| + gamma (number of steps), the L1 Potts functional (Storath, Weinmann,
Unser, Jump-penalized least absolute values estimation of scalar or circle-valued signals, 2017), which airspeed velocity uses
too. A level of the best fit is a median of its part, so one of the values themselves: with these as states, the dynamic
program is exact in O(n^2) time and memory, 500 values in 4 ms.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from schedgap.bench.records.pictures import ends_a_line
from schedgap.bench.records.runs import Record
from schedgap.bench.statistics.headlines.gap import OBJECTIVE, rows_of, time_of
from schedgap.bench.statistics.headlines.headline import Row
from schedgap.bench.statistics.headlines.registry import find_headline
from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.profiles import with_ratios
from schedgap.bench.statistics.summary import (
    best_of,
    bounds_only,
    in_unit,
    is_solved,
    mean,
    shifted_geometric_mean,
    summarise,
    verified_objective,
)
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import Suite
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import JournalError, about_file
from schedgap.instances.family import find_family

SCHEMA: Literal["schedgap/history/1"] = "schedgap/history/1"
# What qualities are called; that of objectives is followed by their unit in brackets.
MEAN_GAP, MEAN_OBJECTIVE = "mean gap", "mean objective"


class MethodFigures(msgspec.Struct, frozen=True):
    """What a method was worth: None where nothing is known. time_s : shifted geometric mean, as in the table `gap`.

    solved : runs that did their work, see `is_solved`, or have a figure. over : hash of which these are, and which of them
    `quality` is of. objective : shifted geometric mean of theirs, whole numbers of the family's smallest unit.
    """

    quality: float | None
    time_s: float | None
    runs: int
    failed: int
    solved: int | None = None
    over: str = ""
    objective: float | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A line. quality : what the figures of that name are. directory : of the runs, link : where else they can be seen.

    replaces : earlier lines of the same commit and label do not count.
    """

    schema: Literal["schedgap/history/1"] = SCHEMA
    suite: str
    commit: str
    date: str
    label: str
    directory: str
    link: str
    quality: str
    methods: dict[str, MethodFigures]
    replaces: bool = False

    @property
    def name(self) -> str:
        """Return what people call it: its label, else its commit, else its date."""
        return self.label or self.commit[:12] or self.date[:10]


_DECODER = msgspec.json.Decoder(Entry)


def entry_of(
    results: Results,
    *,
    commit: str | None = None,
    date: str = "",
    label: str = "",
    link: str = "",
    replaces: bool = False,
) -> Entry:
    """Return the entry of a directory. commit : by default that of the runs. date : ISO 8601, that of the last run by default.

    Raises
    ------
    JournalError
        if not all runs of the suite are there, or the directory has no plan; if the date is none.
    """
    where, suite = results.directory, results.suite
    if suite is None:
        raise JournalError(
            f"{where} has no plan.json, so nobody knows what suite it is of; give a directory of `schedgap run`."
        )
    if results.missing or not results.records:
        raise JournalError(
            f"{where}: {results.missing} of {results.planned} runs are not done{results.part}; finish them, then add it."
        )
    quality, values = qualities(suite, results.records)
    own: dict[str, list[tuple[Record, float | None]]] = {}
    for record, value in zip(results.records, values, strict=True):
        own.setdefault(record.run.label, []).append((record, value))
    bounding = bounds_only(results.records)
    methods = {
        row["method"]: _figures(row, own[row["method"]], bounding) for row in rows_of(summarise(results.records))
    }
    return Entry(
        suite=suite.name,
        commit=results.commit if commit is None else commit,
        date=moment(date or max(record.ended_at for record in results.records)),
        label=label,
        directory=str(where),
        link=link,
        quality=quality,
        methods=methods,
        replaces=replaces,
    )


def moment(text: str) -> str:
    """Return a date, with a time or without, as ISO 8601 in UTC to the second."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise JournalError(f"'{text:.40}' is no date; give one like 2030-01-31 or 2030-01-31T12:00:00+00:00.") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")


def qualities(suite: Suite, records: Sequence[Record]) -> tuple[str, list[float | None]]:
    """Return what the suite's headline is about, and each run's figure of it: a gap, else the first of its measures."""
    headline = find_headline(suite)
    if headline.of_measures:
        name = suite.measures[0]
        return name, [figure(record, name) for record in with_ratios(records, [name])]
    objectives = [verified_objective(record) for record in records]
    if headline is OBJECTIVE:
        family = find_family(suite.family)
        shown = [in_unit(value, family.objective_scale) for value in objectives]
        return f"{MEAN_OBJECTIVE} ({family.objective_unit})", shown
    best = best_of(records)
    return MEAN_GAP, [best[record.run.digest].gap(value) for record, value in zip(records, objectives, strict=True)]


def _figures(row: Row, own: Sequence[tuple[Record, float | None]], bounding: frozenset[str]) -> MethodFigures:
    """Return a method's figures of its row in the table `gap`, and of its runs with their qualities."""
    solved = [(record, value) for record, value in own if value is not None or is_solved(record, bounding)]
    which = sorted((r.run.digest, r.run.seed, r.run.repetition, value is not None) for r, value in solved)
    objectives = [objective for record, _ in solved if (objective := verified_objective(record)) is not None]
    return MethodFigures(
        mean([value for _, value in own if value is not None]),
        time_of(row, "sgm_time_s"),
        row["runs"],
        row["failed"],
        len(solved),
        sha256(repr(which).encode()).hexdigest()[:12],
        shifted_geometric_mean(objectives),
    )


def append_entry(path: Path, entry: Entry) -> list[str]:
    """Write an entry down at the end of a file, synced; returns what is damaged in the file.

    Raises
    ------
    JournalError
        if the file is of another suite or another figure, has the entry already, or cannot be written.
    """
    known, damaged = read_history(path) if path.exists() else ([], [])
    for other in known[-1:]:
        for what, mine, theirs in (("suite", entry.suite, other.suite), ("quality", entry.quality, other.quality)):
            if mine != theirs:
                raise JournalError(f"{path} is of {what} '{theirs}', the new entry of '{mine}'; give another --file.")
    same = [e for e in known if (e.commit, e.date, e.label) == (entry.commit, entry.date, entry.label)]
    if same and not entry.replaces:
        raise JournalError(
            f"{path} has {entry.name} of {entry.date} already; give another --label to have it twice, or --replace."
        )
    line = msgspec.json.encode(entry) + b"\n"
    with about_file(path, "written", JournalError, "give another --file"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab+") as file:
            if not ends_a_line(file):
                # What a kill tore is ended, so that it spoils no other line.
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    return damaged


def read_history(path: Path) -> tuple[list[Entry], list[str]]:
    """Return the entries by date, those of one date as they were added, and a sentence for each line that is none.

    Raises
    ------
    JournalError
        if the file cannot be read.
    """
    with about_file(path, "read", JournalError, "give the file of `schedgap history add`"):
        lines = read_given(path).split(b"\n")
    entries: list[Entry] = []
    damaged = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = _DECODER.decode(line)
            moment(entry.date)
            if entry.replaces:
                entries = [e for e in entries if (e.commit, e.label) != (entry.commit, entry.label)]
            entries.append(entry)
        except (ValueError, RecursionError, JournalError) as error:
            damaged.append(f"{path} line {number}: no entry ({error!s:.100}); it is left out.")
    return sorted(entries, key=lambda entry: entry.date), damaged


# A step must pay for so many times the noise, and the logarithm of the number of values. Of 500 normal values, a last part that
# is three deviations higher is seen with 6 values in 6% of trials, with 8 in 40%, with 10 in 86%, with 12 in 95%; one of five
# deviations with 4 in 31%, with 6 in 99%; one of 25 with the first. Single outliers of 20 deviations are none, of 30 a few are.
PENALTY = 3.0
# Of more different values than these, quantiles are the levels: the time is linear from there on.
MOST_LEVELS = 500
# From the median absolute difference of two normal values to their standard deviation.
_TO_DEVIATION = 1 / (0.6745 * math.sqrt(2))


@dataclass(frozen=True, slots=True)
class Step:
    """Where a level begins that is not the one before. at : number of its first value."""

    at: int
    before: float
    after: float


def find_steps(values: Sequence[float], least: float) -> list[Step]:
    """Return the steps of a series. least : no noise is taken to be smaller, and no step is."""
    if len(values) < 2:
        return []
    y = np.asarray(values, dtype=np.float64)
    noise = max(least, float(np.median(np.abs(np.diff(y)))) * _TO_DEVIATION)
    fit = potts(y, PENALTY * noise * math.log(len(y)))
    places = np.flatnonzero(np.diff(fit)) + 1
    steps = [Step(int(at), float(fit[at - 1]), float(fit[at])) for at in places]
    return [step for step in steps if abs(step.after - step.before) >= least]


def potts(y: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Return the levels, (N,), of the best fit of the L1 Potts functional.

    cost[v] is the least of all fits of the values so far that end on level v; a fit stays on its level, or comes from the
    best of all for gamma.
    """
    levels = np.unique(y)
    if len(levels) > MOST_LEVELS:
        levels = np.unique(np.quantile(y, np.linspace(0, 1, MOST_LEVELS), method="nearest"))
    came_from = np.zeros(len(y), dtype=np.int64)
    jumped = np.zeros((len(y), len(levels)), dtype=bool)
    cost = np.abs(y[0] - levels)
    for t in range(1, len(y)):
        best = int(cost.argmin())
        came_from[t] = best
        np.greater(cost, cost[best] + gamma, out=jumped[t])
        np.minimum(cost, cost[best] + gamma, out=cost)
        cost += np.abs(y[t] - levels)
    fit = np.empty(len(y), dtype=np.int64)
    fit[-1] = cost.argmin()
    for t in range(len(y) - 1, 0, -1):
        fit[t - 1] = came_from[t] if jumped[t, fit[t]] else fit[t]
    return levels[fit]
