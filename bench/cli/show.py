"""What commands print for people: a suite's table, maps and sweeps, and the table of one instance.

How commands that do runs end: what failed, on stderr, and the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.registry import find_headline, headline_rows, source_notes
from schedgap.bench.statistics.measure_rows import lines_of
from schedgap.bench.statistics.profiles import MethodMap, build_maps, with_ratios
from schedgap.bench.statistics.summary import is_measured
from schedgap.bench.statistics.tables import (
    NOTHING,
    Head,
    failures,
    folded,
    measured,
    number,
    readable,
    table_lines,
    terminal_width,
    verified_note,
    without_solution,
)
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import method_label

if TYPE_CHECKING:
    from schedgap.bench.audit import Audit
    from schedgap.bench.result import GapResult, SuiteResult
    from schedgap.bench.suites.collection import Sweep
    from schedgap.bench.suites.results import Results
    from schedgap.bench.suites.suite import Suite


# A sweep over more values is a figure of the report only.
MOST_COLUMNS = 12


def say(*texts: str) -> None:
    """Print sentences, folded between words."""
    for text in texts:
        typer.echo("\n".join(folded(text, terminal_width())))


def show_table(title: str, heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal."""
    typer.echo("\n".join(table_lines(title, heads, rows)))


def show_further_table(title: str, heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> None:
    """Print a table below something else."""
    typer.echo()
    show_table(title, heads, rows)


def show_suite(result: SuiteResult) -> None:
    """Print a suite's table and notes."""
    counts = f"{len(result.records)} runs, {result.measured_now} of them now, {result.failed} failed"
    counts += _missing(result.planned, len(result.records))
    rows = headline_rows(result.suite, result.records)
    last = [f"{counts}; recorded in {result.directory}."]
    _show(result.suite, result.suite.title, result.records, rows, last)
    if result.audit is not None:
        say(result.audit.line())


def _missing(planned: int, done: int) -> str:
    return f", {planned - done} of {planned} still to be done" if planned != done else ""


def show_results(results: Results, rows: Sequence[dict[str, Any]]) -> None:
    """Print the suite's table and what failed; of a directory without a plan, a row for each method."""
    counts = f"{len(results.records)} runs, {sum(record.status in FAILED for record in results.records)} failed"
    counts += _missing(results.planned, len(results.records)) + results.part
    title = f"Runs in {results.directory}" if results.suite is None else results.suite.title
    last = [f"{counts}; recorded in {results.directory}.", *failures(results.records)]
    _show(results.suite, title, results.records, rows, last)


def _show(
    suite: Suite | None, title: str, records: Sequence[Record], rows: Sequence[dict[str, Any]], last: Sequence[str]
) -> None:
    """Print a table and its notes; `last` are the last of these."""
    headline = find_headline(suite)
    typer.echo("\n".join(headline.lines(title, rows, FAMILIES.get(records[0].run.family))))
    lines = [verified_note(records), *filter(None, [headline.note(rows)])]
    if suite is not None:
        show_figures(suite, records)
        lines.insert(0, suite.question)
    say("", *lines, *source_notes(suite, records), *last)


def show_gap(result: GapResult) -> None:
    """Print the table and notes of one instance."""
    content = result.to_json()
    show_table(*result.table())
    bound, objective = number(content["bound"]), number(content["best_objective"])
    say(
        f"best proven bound {bound}, best verified solution {objective} {result.unit}",
        *without_solution(result.records),
        *(f"Assumed: {given}." for given in result.assumptions),
    )
    if result.audit is not None:
        say(result.audit.line())


def show_figures(suite: Suite, records: Sequence[Record]) -> None:
    """Print a suite's maps, and its sweeps over parameters of instances, which rows of its table average over."""
    for shown in build_maps(suite.map, records):
        _show_map(shown)
        say(f"The lowest mean {readable(shown.measure)}, and on how many of the instances it is the best.")
    ratios = with_ratios(records, [sweep.y for sweep in suite.sweep])
    for sweep in suite.sweep:
        chosen = [record for record in ratios if not sweep.methods or record.run.method in sweep.methods]
        if not any(sweep.x in record.run.parameters for record in chosen):
            _show_sweep(sweep, [record for record in chosen if sweep.x in record.run.source])


def _show_map(shown: MethodMap) -> None:
    heads = [Head(f"{readable(shown.y)} \\ {readable(shown.x)}"), *_values(map(str, shown.xs))]
    rows = [
        [str(y), *(f"{c.method}\n{measured(c.mean)} ({c.won} of {c.instances})" if c else NOTHING for c in cells)]
        for y, cells in zip(shown.ys, shown.cells, strict=True)
    ]
    show_further_table(shown.name, heads, rows)


def _values(xs: Iterable[str]) -> list[Head]:
    """Return the columns of a parameter's values, of which the last are left out first."""
    return [Head(x, rank) for rank, x in enumerate(xs)]


def _show_sweep(sweep: Sweep, records: Iterable[Record]) -> None:
    """Print a row for each line of a sweep, unless there is nothing to compare, or no room."""
    lines = [line for line in lines_of(records, sweep.x, sweep.y) if not line.is_predicted]
    xs = sorted({x for line in lines for x in line.x})
    if not 2 <= len(xs) <= MOST_COLUMNS:
        return
    has_groups = len({line.group for line in lines}) > 1
    names = [*(["instances"] if has_groups else []), "method"]
    rows = []
    for line in lines:
        means = dict(zip(line.x, line.mean, strict=True))
        own = [*([line.group or NOTHING] if has_groups else []), method_label(line.method, line.given)]
        rows.append([*own, *(measured(means.get(x)) for x in xs)])
    heads = [*(Head(name, is_text=True) for name in names), *_values(map(number, xs))]
    show_further_table(f"{sweep.title}: mean {readable(sweep.y)} by {readable(sweep.x)}", heads, rows)


SOME_FAILED = 3
NOTHING_MEASURED = 4


def finish(
    records: Sequence[Record], audit: Audit | None, undone: Sequence[str] = (), wrong: Sequence[str] = ()
) -> None:
    """Say on stderr what failed and what was not done, and leave with the exit code that design and scripts agree on."""
    for line in failures(records):
        typer.echo(line, err=True)
    for line in (*wrong, *undone):
        typer.echo(line, err=True)
    if undone:
        typer.echo(f"{len(undone)} runs were not done; the same command does them.", err=True)
    disagreements = () if audit is None else audit.disagreements
    for line in (*disagreements, *(() if audit is None else audit.not_compared)):
        typer.echo(f"audit: {line}", err=True)
    if not is_measured(records):
        typer.echo("nothing was measured: no run ended with a result.", err=True)
        raise typer.Exit(NOTHING_MEASURED)
    if disagreements or undone or wrong or any(record.status in FAILED for record in records):
        raise typer.Exit(SOME_FAILED)
