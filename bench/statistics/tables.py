"""Figures as text, and tables on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.summary import by_ending, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.records.record import Record

PLAIN_WIDTH = 320
NOTHING = "-"
# Of a failed run's reason, this much is printed; the journal and `--json` have all of it.
SHOWN_REASON = 160


def console() -> Console:
    """Return a console for stdout; wide where it is no terminal, so that tables in files do not wrap."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)


def percent(value: float | None) -> str:
    """Return a share with as many digits as tell it from 0: `0.0008%`."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0%"
    shown = 100 * value
    digits = 2
    while digits < 6 and abs(shown) < 2 * 10.0 ** (1 - digits):
        digits += 1
    return f"{shown:.{digits}f}%"


def seconds(value: float | None) -> str:
    """Return a time in the unit that fits."""
    if value is None:
        return NOTHING
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"


def number(value: float | None) -> str:
    """Return an amount with thousands separated."""
    return NOTHING if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")


# How names of measures and parameters end that have a unit.
UNITS = ("s", "h")


def readable(name: str) -> str:
    """Return a measure's or a parameter's name as a title: `mean_wait_s` is `mean wait (s)`."""
    stem, _, unit = name.rpartition("_")
    return f"{stem} ({unit})".replace("_", " ") if stem and unit in UNITS else name.replace("_", " ")


def measured(value: float | None) -> str:
    """Return a measure with four digits that count."""
    return NOTHING if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def verified_note(records: Iterable[Record]) -> str:
    """Return what figures of these runs rest on."""
    proven = any(record.status not in FAILED and record.measurement.bound is not None for record in records)
    gaps = "gaps are against the best proven bound" if proven else "no bound was proven, so there are no gaps"
    return f"Every solution was verified; {gaps}."


def failures(records: Iterable[Record]) -> list[str]:
    """Return a line for each method and kind of failure: how often, and the reason of the first."""
    return [
        f"{own[0].run.label}: {own[0].status} ({len(own)} of its runs), on {own[0].run.instance}: "
        f"{short(reason_of(own[0]), SHOWN_REASON)}"
        for own in by_ending(record for record in records if record.status in FAILED)
    ]


def short(reason: str, most: int) -> str:
    """Return a reason in one line of at most so many characters, which moves no cursor."""
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(reason.split())
    )
    return line if len(line) <= most else f"{line[: most - 3]}..."


def plain_table(title: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of text."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in titles:
        table.add_column(name)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def ruled_table(title: str, titles: Sequence[str]) -> Table:
    """Return a table without rows; numbers are on the right."""
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for name in titles:
        is_text = name in ("method", "instances", "status", "type")
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    return table
