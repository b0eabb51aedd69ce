"""What a headline is: the rows of a suite's own table, and their columns on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.summary import bounds_only, by_label, is_unsolved
from schedgap.bench.statistics.tables import NOTHING, Head, in_percent, in_seconds, percent, seconds, table_lines
from schedgap.bench.suites.collection import Reference
from schedgap.bench.suites.suite import Suite
from schedgap.instances.family import Family
from schedgap.instances.method import Status, parse_method, spelled

Row: TypeAlias = dict[str, Any]
Given: TypeAlias = Mapping[str, Any]
OTHER_MACHINE = "on the paper's machine and in its language: not like for like"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, on the page and on a terminal.

    note : what it means. text : what is shown of a row. value : what the page sorts by; None of a row comes last.
    terminal_title, terminal_text : on a terminal, where they differ. unit : on a terminal, in the title and not in
    `terminal_text`. rank : what a narrow terminal leaves out, the highest first, 0 never (see `tables.Head`).
    needs : keys; the column is left out where no row has anything under any of them. only_page : the terminal has no such
    column. is_text : aligned to the left and sorted as words. has_bar : the page draws the mean and the worst gap beside
    it. opens : the first of columns that belong together. span : the least and the most, below the text on the page.
    """

    title: str
    note: str
    value: Callable[[Given], float | str | None]
    text: Callable[[Given], str]
    terminal_title: str = ""
    terminal_text: Callable[[Given], str] | None = None
    unit: str = ""
    rank: int = 0
    needs: tuple[str, ...] = ()
    only_page: bool = False
    is_text: bool = False
    has_bar: bool = False
    opens: bool = False
    span: Callable[[Given], str] = lambda row: ""

    def has_any(self, rows: Iterable[Given]) -> bool:
        """Whether the column says anything in a table of these rows."""
        return not self.needs or any(row.get(key) not in (None, "") for row in rows for key in self.needs)

    @property
    def head(self) -> Head:
        """Return the column as a terminal has it."""
        title = self.terminal_title or self.title
        return Head(f"{title} ({self.unit})" if self.unit else title, self.rank, self.is_text)


@dataclass(frozen=True, slots=True)
class Headline:
    """A table that answers a suite's question.

    rows : of a suite and its records, as plain values; `--json` carries them. columns : of such rows, and of their family
    (None of one that is not installed). note : what to read below the table, empty for nothing. of_measures : the suite
    names the measures that are its columns, and asks for something else than gaps.
    """

    name: str
    rows: Callable[[Suite, Sequence[Record]], list[Row]]
    columns: Callable[[Sequence[Given], Family | None], Sequence[Column]]
    note: Callable[[Sequence[Given]], str] = lambda rows: ""
    of_measures: bool = False

    def cells(self, rows: Sequence[Given], family: Family | None = None) -> tuple[list[Head], list[list[str]]]:
        """Return the columns of rows for a terminal, and their texts."""
        columns = [column for column in self.columns(rows, family) if not column.only_page and column.has_any(rows)]
        texts = [[(column.terminal_text or column.text)(row) for column in columns] for row in rows]
        return [column.head for column in columns], texts

    def lines(
        self, title: str, rows: Sequence[Given], family: Family | None = None, width: int | None = None
    ) -> list[str]:
        """Return rows as a table for a terminal, see `tables.table_lines`."""
        return table_lines(title, *self.cells(rows, family), width, [row.get("group") for row in rows])


def by_group_and_label(records: Iterable[Record]) -> Iterator[tuple[Row, list[Record]]]:
    """Yield the beginning of a row and the records of each method in each group, in the order of the first of each."""
    kept = list(records)
    bounding = bounds_only(kept)
    groups: dict[str, list[Record]] = {}
    for record in kept:
        groups.setdefault(record.run.group, []).append(record)
    for group, members in groups.items():
        for label, own in by_label(members).items():
            counts = {
                "runs": len(own),
                "failed": sum(record.status in FAILED for record in own),
                "unsupported": sum(record.status is Status.UNSUPPORTED for record in own),
                "unsolved": sum(is_unsolved(record, bounding) for record in own),
            }
            yield {"group": group, "method": label, **counts}, own


def times_of(records: Iterable[Record]) -> list[float]:
    """Return the seconds of the runs that did not fail."""
    return [r.measurement.wall_s for r in records if r.status not in FAILED and r.measurement.wall_s is not None]


def find_reference(suite: Suite, row: Row, size: int | None = None) -> Reference | None:
    """Return the suite's published figures of a row's method and group, and of instances of one size if that is given.

    Those of the very group go before those of no group, which hold for all.
    """
    for group in (row["group"], None):
        for reference in suite.reference:
            same = reference.method and reference.group == group and reference.tasks == size
            if same and is_same_method(reference.method, row["method"]):
                return reference
    return None


def published(reference: Reference | None, *keys: str) -> Row:
    """Return the published figures of a reference for a row."""
    return {f"paper_{key}": None if reference is None else getattr(reference, key) or None for key in keys}


def is_same_method(text: str, other: str) -> bool:
    """Return whether two methods are one, whatever their parameters' order and spelling: `[b=false,a=1]` is `[a=1.0,b=False]`."""
    (name, parameters), (other_name, others) = parse_method(text), parse_method(other)
    return name == other_name and spelled(parameters) == spelled(others)


# On a terminal, units stand in the head.
_IN_HEAD: dict[Callable[[float | None], str], tuple[str, Callable[[float | None], str]]] = {
    percent: ("%", in_percent),
    seconds: ("s", in_seconds),
}


def figure_column(title: str, note: str, key: str, show: Callable[[float | None], str], **changes: Any) -> Column:
    """Return a column of the figures under a key. changes : other fields of the column."""
    unit, bare = _IN_HEAD.get(show, ("", show))
    fields = {"terminal_text": lambda row: bare(row[key]), "unit": unit, **changes}
    return Column(title, note, lambda row: row[key], lambda row: show(row[key]), **fields)


METHOD = Column("method", "", lambda row: row["method"], lambda row: row["method"], is_text=True)
GROUP = Column(
    "instances", "", lambda row: row["group"], lambda row: row["group"] or NOTHING, needs=("group",), is_text=True
)
_WITHOUT = {"failed": "failed", "unsolved": "without a solution", "unsupported": "unsupported"}


def _runs(row: Given, comma: str = ",") -> str:
    """Return how many runs there are, and how many of them no mean is made of: the hard ones, perhaps."""
    parts = [f"{row[key]:{comma}} {text}" for key, text in _WITHOUT.items() if row[key]]
    return f"{row['runs']:{comma}}" + (f" ({', '.join(parts)})" if parts else "")


RUNS = Column(
    "runs",
    "and how many of them failed, found no solution or were not supported",
    lambda row: row["runs"],
    _runs,
    terminal_text=lambda row: _runs(row, ""),
    rank=9,
)
MEAN_GAP = figure_column(
    *("mean gap", "(objective - best proven bound) / objective", "gap_mean", percent),
    has_bar=True,
    needs=("gap_mean",),
)
WORST_GAP = figure_column("worst gap", "of one run", "gap_worst", percent, rank=3, needs=("gap_worst",))
PROVEN = Column(
    "proven optimal",
    "runs that cost as much as the best proven bound, whoever proved it",
    lambda row: row["proven_optimal"] / row["runs"],
    lambda row: f"{row['proven_optimal']:,} of {row['runs']:,}",
    terminal_text=lambda row: f"{row['proven_optimal']} of {row['runs']}",
    rank=2,
)
GAPS = (MEAN_GAP, WORST_GAP, PROVEN)
MEAN_TIME = figure_column("mean time", "of the method call", "time_mean_s", seconds, rank=4)


PAPER_TIME = Column(
    "paper's time",
    OTHER_MACHINE,
    lambda row: row["paper_time_s"],
    lambda row: row.get("paper_note") or seconds(row["paper_time_s"]),
    terminal_text=lambda row: row.get("paper_note") or in_seconds(row["paper_time_s"]),
    unit="s",
    rank=5,
    needs=("paper_time_s", "paper_note"),
)
