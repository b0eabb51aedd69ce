"""What `schedgap run` and `schedgap report` print of a suite: its table, its maps, and sweeps that the table averages over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from schedgap.bench.statistics.maps import build_maps
from schedgap.bench.statistics.measure_rows import lines_of
from schedgap.bench.statistics.ratios import with_ratios
from schedgap.bench.statistics.tables import (
    NOTHING,
    console,
    headline_table,
    limits_note,
    measured,
    number,
    readable,
    ruled_table,
    verified_note,
)
from schedgap.instances.method import method_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

    from schedgap.bench.api import SuiteResult
    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.maps import Cell, MethodMap
    from schedgap.bench.suite import Suite, Sweep

# A sweep over more values is a figure of the report only.
MOST_COLUMNS = 12


def show_suite(result: SuiteResult) -> None:
    """Print a suite's table and notes on stdout."""
    screen = console()
    screen.print(suite_table(result))
    show_figures(screen, result.suite, result.records)
    screen.print(Text(suite_notes(result)))


def suite_table(result: SuiteResult) -> Table:
    """Return the suite's headline table."""
    return headline_table(result.suite.title, result.suite.headline, result.to_json()["table"])


def show_figures(screen: Console, suite: Suite, records: Sequence[Record]) -> None:
    """Print a suite's maps, and its sweeps over parameters of instances, which rows of its table average over."""
    for shown in build_maps(suite.map, records):
        screen.print(_map_table(shown))
        screen.print(
            Text(f"The lowest mean {readable(shown.measure)}, and on how many of the instances it is the best.")
        )
    ratios = with_ratios(records, [sweep.y for sweep in suite.sweep])
    for sweep in suite.sweep:
        chosen = [record for record in ratios if not sweep.methods or record.run.method in sweep.methods]
        if not any(sweep.x in record.run.parameters for record in chosen):
            table = _sweep_table(sweep, [record for record in chosen if sweep.x in record.run.source])
            if table is not None:
                screen.print(table)


def _map_table(shown: MethodMap) -> Table:
    table = ruled_table(shown.name, [f"{readable(shown.y)} \\ {readable(shown.x)}", *map(str, shown.xs)])
    for y, cells in zip(shown.ys, shown.cells, strict=True):
        table.add_row(str(y), *(Text(NOTHING if cell is None else _best(cell)) for cell in cells))
    return table


def _best(cell: Cell) -> str:
    return f"{cell.method}\n{measured(cell.mean)} ({cell.won} of {cell.instances})"


def _sweep_table(sweep: Sweep, records: Iterable[Record]) -> Table | None:
    """Return a row for each line of a sweep; None where there is nothing to compare, or no room."""
    lines = [line for line in lines_of(records, sweep.x, sweep.y) if not line.is_predicted]
    xs = sorted({x for line in lines for x in line.x})
    if not 2 <= len(xs) <= MOST_COLUMNS:
        return None
    has_groups = len({line.group for line in lines}) > 1
    titles = [*(["instances"] if has_groups else []), "method", *map(number, xs)]
    table = ruled_table(f"{sweep.title}: mean {readable(sweep.y)} by {readable(sweep.x)}", titles)
    for line in lines:
        means = dict(zip(line.x, line.mean, strict=True))
        names = [*([line.group or NOTHING] if has_groups else []), method_label(line.method, line.given)]
        table.add_row(*map(Text, names), *(Text(measured(means.get(x))) for x in xs))
    return table


def interval_note(suite: Suite) -> str:
    """Return what the second number of a measure is, where the table has some."""
    return "After ±: the 95% interval of the mean over instances.\n" if suite.headline == "measures" else ""


def suite_notes(result: SuiteResult) -> str:
    """Return what to read below the table."""
    source = f"The paper's figures: {result.suite.source}.\n" if result.suite.source else ""
    limits = limits_note(result.suite.headline, result.to_json()["table"])
    return (
        f"{result.suite.question}\n{verified_note(result.records)}\n{interval_note(result.suite)}{limits}{source}"
        f"{len(result.records)} runs, {result.measured_now} of them now, {result.failed} failed; "
        f"recorded in {result.directory}."
    )
