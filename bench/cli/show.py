"""What commands print for people: a suite's table, maps and sweeps, and the table of one instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from rich.measure import Measurement
from rich.text import Text

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines import find_headline, headline_rows
from schedgap.bench.statistics.maps import build_maps
from schedgap.bench.statistics.measure_rows import lines_of
from schedgap.bench.statistics.ratios import with_ratios
from schedgap.bench.statistics.tables import (
    NOTHING,
    console,
    failures,
    measured,
    number,
    percent,
    readable,
    ruled_table,
    seconds,
    verified_note,
)
from schedgap.instances.family import FAMILIES
from schedgap.instances.method_text import method_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Table

    from schedgap.bench.api import GapResult, SuiteResult
    from schedgap.bench.floor import Floor
    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.maps import Cell, MethodMap
    from schedgap.bench.suites.results import Results
    from schedgap.bench.suites.suite import Suite, Sweep

# A sweep over more values is a figure of the report only.
MOST_COLUMNS = 12
# Wider than any table.
UNBOUNDED = 100_000


def show_suite(result: SuiteResult) -> None:
    """Print a suite's table and notes."""
    counts = f"{len(result.records)} runs, {result.measured_now} of them now, {result.failed} failed"
    rows = headline_rows(result.suite, result.records)
    last = [f"{counts}; recorded in {result.directory}."]
    _show(result.suite, result.suite.title, result.records, rows, last)
    if result.audit is not None:
        typer.echo(result.audit.line())


def show_results(results: Results, rows: Sequence[dict[str, Any]]) -> None:
    """Print the suite's table and what failed; of a directory without a plan, a row for each method."""
    counts = f"{len(results.records)} runs, {sum(record.status in FAILED for record in results.records)} failed"
    counts += f", {results.missing} of {results.planned} still to be done{results.part}" if results.missing else ""
    title = f"Runs in {results.directory}" if results.suite is None else results.suite.title
    last = [f"{counts}; recorded in {results.directory}.", *failures(results.records)]
    _show(results.suite, title, results.records, rows, last)


def _show(
    suite: Suite | None, title: str, records: Sequence[Record], rows: Sequence[dict[str, Any]], last: Sequence[str]
) -> None:
    """Print a table and its notes; `last` are the last of these."""
    screen = console()
    headline = find_headline(suite)
    screen.print(headline.table(title, rows, FAMILIES.get(records[0].run.family)))
    lines = [verified_note(records), *filter(None, [headline.note(rows)])]
    if suite is not None:
        show_figures(screen, suite, records)
        lines.insert(0, suite.question)
    if suite is not None and suite.source:
        lines.append(f"The paper's figures: {suite.source}.")
    screen.print(Text("\n".join([*lines, *last])))


def show_gap(result: GapResult, unit: str) -> None:
    """Print the table and notes of one instance."""
    content = result.to_json()
    titles = ["method", "status", f"objective ({unit})", "own bound", "gap", "time"]
    table = ruled_table(result.instance, titles)
    for row in content["results"]:
        figures = number(row["objective"]), number(row["bound"]), percent(row["gap"]), seconds(row["wall_s"])
        table.add_row(*map(Text, (row["method"], row["status"], *figures)))
    bound, objective = number(content["bound"]), number(content["best_objective"])
    screen = console()
    screen.print(table)
    screen.print(Text(f"best proven bound {bound}, best verified solution {objective} {unit}"))
    if result.audit is not None:
        typer.echo(result.audit.line())


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


def show_floor(found: Floor) -> None:
    """Print what a cluster pays, what nobody can pay less than, the plan, its machines, and price against moves."""
    screen, chosen = console(), found.chosen
    scale, unit = found.family.objective_scale, found.family.objective_unit

    def price(value: int | None) -> str:
        return NOTHING if value is None else f"{value / scale:,.4f}"

    def line(what: str, value: int | None, more: str = "") -> str:
        return f"{what:<16}{price(value)}" + ("" if value is None else f" {unit}{more}")

    lines = [f"{found.instance.name}: {found.instance.num_tasks} tasks, {found.pending} of them on no machine"]
    if found.price_now is not None:
        lines.append(line("now", found.price_now))
    lines.append(line("floor (proven)", chosen.floor))
    limit = "" if chosen.max_moves is None else f" of at most {chosen.max_moves}"
    moved = "" if chosen.moves is None else f", {chosen.moves}{limit} tasks move"
    lines.append(line("best plan", chosen.price, f", gap {percent(chosen.gap)}{moved}"))
    if found.price_now is not None and found.pending:
        lines.append("What is on no machine costs nothing now, and is placed in every plan and in the floor.")
    screen.print(Text("\n".join(lines)))
    cluster = found.family.cluster
    if cluster is not None and chosen.plan is not None:
        _show_machines(screen, cluster.machines_now(found.instance), cluster.machines_of(found.instance, chosen.plan))
    if len(found.front) > 1:
        table = ruled_table(
            "Price against moves", ["may move", f"best plan ({unit})", f"floor ({unit})", "gap", "moves"]
        )
        for point in found.front:
            most = "any" if point.max_moves is None else str(point.max_moves)
            moves = NOTHING if point.moves is None else str(point.moves)
            table.add_row(most, price(point.price), price(point.floor), percent(point.gap), moves)
        screen.print(table)
    for text in (*found.instance.notes, *found.problems):
        screen.print(Text(text))


def _show_machines(screen: Console, before: dict[str, int], after: dict[str, int]) -> None:
    """Print how many machines of each type there are; where names are too long for a table, lines that end with them."""
    titles = [*(["now"] if before else []), "plan"]
    rows = [
        (name, [str(counts.get(name, 0)) for counts in ([before] if before else []) + [after]])
        for name in dict.fromkeys((*after, *before))
    ]
    table = ruled_table("Machines", ["type", *titles])
    for name, cells in rows:
        table.add_row(Text(name), *cells)
    if Measurement.get(screen, screen.options.update(max_width=UNBOUNDED), table).maximum <= screen.width:
        screen.print(table)
        return
    screen.print(Text("Machines", style="bold"))
    for name, cells in (("type", titles), *rows):
        screen.print(Text("".join(f"{cell:>6}" for cell in cells) + f"  {name}"), soft_wrap=True)
