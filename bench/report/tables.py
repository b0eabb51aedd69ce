"""Tables of the page: cells with a text to read and a value to sort by.

Where the figures come from: the command, the hosts, the versions of methods and solvers, the limits.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import asdict

from schedgap.bench.records.runs import Record
from schedgap.bench.report.figures.selection import Budget, clipped
from schedgap.bench.statistics import tables as terminal
from schedgap.bench.statistics.headlines.headline import Column, Given, Headline
from schedgap.bench.suites.results import Results
from schedgap.instances.family import Family


@dataclass(frozen=True, slots=True)
class HostView:
    """A host by its ID: how many runs it did, and facts as pairs of name and text."""

    identity: str
    runs: int
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MethodView:
    """What exactly ran: version, back end, all parameters, limits; texts."""

    label: str
    version: str
    backend: str
    parameters: str
    limits: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """command : that does the same again; empty if the directory does not say."""

    command: str
    directory: str
    seed: int | None
    since: str
    until: str
    isolation: str
    hosts: tuple[HostView, ...]
    methods: tuple[MethodView, ...]
    left_out: int


def build_provenance(results: Results, budget: Budget) -> Provenance:
    """Return where the figures come from."""
    records = results.records
    ended = sorted(record.ended_at for record in records)
    runs: dict[str, int] = {}
    for record in records:
        runs[record.host] = runs.get(record.host, 0) + 1
    room = max(1, budget.rows // 10)
    hosts = [HostView(name, count, _facts(results.hosts.get(name), budget)) for name, count in runs.items()]
    methods = _methods(records, budget)
    return Provenance(
        clipped(shlex.join(results.command), 10 * budget.text),
        str(results.directory),
        results.suite.seed if results.suite is not None else None,
        _moment(ended[0]),
        _moment(ended[-1]),
        ", ".join(sorted({record.isolation for record in records})),
        tuple(hosts[:room]),
        tuple(methods[:room]),
        max(0, len(hosts) - room) + max(0, len(methods) - room),
    )


def _facts(facts: Mapping[str, Any] | None, budget: Budget) -> tuple[tuple[str, str], ...]:
    """Return what is known of a host, all fields that its file has."""
    if facts is None:
        return (("facts", "its file is missing in hosts/"),)
    shown = [(key.replace("_", " "), _words(value)) for key, value in facts.items() if key != "schema"]
    return tuple((name, clipped(text, budget.text)) for name, text in shown)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "unknown" if value is None else str(value)


def _methods(records: Sequence[Record], budget: Budget) -> list[MethodView]:
    """Return a view of each method; of two where version, back end or limits differ between runs."""
    runs = {(r.run.label, r.run.version, r.run.backend, r.run.backend_version, r.run.limits): r.run for r in records}
    return [
        MethodView(
            clipped(run.label, budget.text),
            str(run.version),
            "" if run.backend is None else f"{run.backend} {run.backend_version or ''}".strip(),
            clipped(", ".join(f"{key} {_words(value)}" for key, value in run.parameters.items()), budget.text),
            ", ".join(f"{key} {value:g}" for key, value in asdict(run.limits).items() if value is not None),
        )
        for run in runs.values()
    ]


def _moment(text: str) -> str:
    """Return an ISO 8601 moment to the minute."""
    return text[:16].replace("T", " ") + " UTC"


NOTHING = "–"
# What can be filtered by, from the worst.
FAILED, WHOLE, OPEN, PROVEN = "some runs failed", "no run failed", "not all proven optimal", "all proven optimal"


@dataclass(frozen=True, slots=True)
class TableCell:
    """value : what to sort by; None comes last. bar : mean and worst gap, drawn beside the text; None for no bar.

    span : the least and the most, below the text; empty for none.
    """

    text: str
    value: float | str | None
    bar: tuple[float, float] | None = None
    span: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """method : its label, shown with its mark. group, status : to filter by. is_first : the first of its group."""

    method: str
    group: str
    status: str
    cells: tuple[TableCell, ...]
    is_first: bool


@dataclass(frozen=True, slots=True)
class Table:
    """left_out : rows that there was no room for."""

    heads: tuple[Column, ...]
    rows: tuple[Row, ...]
    left_out: int

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups to filter by, in order."""
        return tuple(dict.fromkeys(row.group for row in self.rows if row.group))

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods to filter by, in order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    @property
    def statuses(self) -> tuple[str, ...]:
        """Return the statuses to filter by, the worst first."""
        present = {row.status for row in self.rows}
        return tuple(status for status in (FAILED, WHOLE, OPEN, PROVEN) if status in present)


def seconds(value: float | None) -> str:
    """Return a time in the unit that fits."""
    return on_page(terminal.seconds(value))


def on_page(text: str) -> str:
    """Return a figure as the page writes it: a dash for nothing, and micro with its letter."""
    return NOTHING if text == terminal.NOTHING else re.sub(r"(?<=\d) us$", " µs", text)


def build_table(headline: Headline, rows: Sequence[Given], family: Family, budget: Budget) -> Table:
    """Return the rows of a headline as cells; rows of `summarise` are rows of the headline `gap`."""
    columns = [column for column in headline.columns(rows, family) if column.has_any(rows)]
    # The gap is next to the method, where a phone shows it.
    columns.sort(key=lambda column: 0 if column.is_text else 1 if column.has_bar else 2)
    largest = max((row.get("gap_worst") or row.get("gap_mean") or 0.0 for row in rows), default=0.0)
    made: list[Row] = []
    for row in rows[: budget.rows]:
        cells = tuple(_cell(column, row, largest, budget) for column in columns)
        group = clipped(str(row.get("group") or ""), budget.text)
        is_first = not made or made[-1].group != group
        made.append(Row(clipped(row["method"], budget.text), group, _status(row), cells, is_first))
    if len({row.group for row in made}) < 2:
        made = [replace(row, is_first=False) for row in made]
    return Table(tuple(columns), tuple(made), len(rows) - len(made))


def _cell(column: Column, row: Given, largest: float, budget: Budget) -> TableCell:
    bar = None
    if column.has_bar and row["gap_mean"] is not None and largest > 0:
        bar = row["gap_mean"] / largest, (row.get("gap_worst") or row["gap_mean"]) / largest
    text = column.text(row) if column.is_text and column.value(row) else on_page(column.text(row))
    return TableCell(clipped(text, budget.text), column.value(row), bar, column.span(row))


def _status(row: Given) -> str:
    if row["failed"]:
        return FAILED
    if "proven_optimal" not in row:
        return WHOLE
    return PROVEN if row["proven_optimal"] == row["runs"] else OPEN
