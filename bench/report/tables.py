"""Tables of the page: cells with a text to read and a value to sort by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from schedgap.bench.report.budget import clipped
from schedgap.bench.statistics import tables as terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedgap.bench.report.budget import Budget

NOTHING = "–"
# What can be filtered by, from the worst.
FAILED, WHOLE, OPEN, PROVEN = "some runs failed", "no run failed", "not all proven optimal", "all proven optimal"


@dataclass(frozen=True, slots=True)
class Head:
    """A column's title and what it means.

    is_text : aligned to the left and sorted as words. opens : the first of columns that belong together.
    """

    title: str
    note: str
    is_text: bool
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
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
    cells: tuple[Cell, ...]
    is_first: bool


@dataclass(frozen=True, slots=True)
class Table:
    """left_out : rows that there was no room for."""

    heads: tuple[Head, ...]
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


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is made of a row of `headlines`."""

    title: str
    note: str
    value: Callable[[Mapping[str, Any]], float | str | None]
    text: Callable[[Mapping[str, Any]], str]
    is_text: bool = False
    has_bar: bool = False
    opens: bool = False
    span: Callable[[Mapping[str, Any]], str] = lambda row: ""


def seconds(value: float | None) -> str:
    """Return a time in the unit that fits."""
    return NOTHING if value is None else terminal.seconds(value).replace(" us", " µs")


def percent(value: float | None) -> str:
    """Return a share with as many digits as tell it from 0."""
    return NOTHING if value is None else terminal.percent(value)


def number(value: float | None) -> str:
    """Return an amount with thousands separated."""
    return NOTHING if value is None else terminal.number(value)


def measure(value: float | None) -> str:
    """Return a measure with four digits that count."""
    return NOTHING if value is None else terminal.measured(value)


def build_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], budget: Budget) -> Table:
    """Return the rows of a table of `headlines` or of `summarise` as cells."""
    heads = tuple(Head(column.title, column.note, column.is_text, column.opens) for column in columns)
    largest = max((row.get("gap_worst") or row.get("gap_mean") or 0.0 for row in rows), default=0.0)
    made: list[Row] = []
    for row in rows[: budget.rows]:
        cells = tuple(_cell(column, row, largest, budget) for column in columns)
        group = clipped(str(row.get("group") or ""), budget.text)
        is_first = not made or made[-1].group != group
        made.append(Row(clipped(row["method"], budget.text), group, _status(row), cells, is_first))
    if len({row.group for row in made}) < 2:
        made = [replace(row, is_first=False) for row in made]
    return Table(heads, tuple(made), len(rows) - len(made))


def _cell(column: Column, row: Mapping[str, Any], largest: float, budget: Budget) -> Cell:
    bar = None
    if column.has_bar and row["gap_mean"] is not None and largest > 0:
        bar = row["gap_mean"] / largest, (row.get("gap_worst") or row["gap_mean"]) / largest
    return Cell(clipped(column.text(row), budget.text), column.value(row), bar, column.span(row))


def _status(row: Mapping[str, Any]) -> str:
    if row["failed"]:
        return FAILED
    if "proven_optimal" not in row:
        return WHOLE
    return PROVEN if row["proven_optimal"] == row["runs"] else OPEN
