"""`schedgap report` and `schedgap history`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from schedgap.bench.cli.gate import bisect
from schedgap.bench.cli.options import AsJson, Force
from schedgap.bench.cli.show import NOTHING_MEASURED, show_results
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.journal import gc_paused
from schedgap.bench.report.history_page import write_history
from schedgap.bench.report.page import build_content, refuse_existing, write_page
from schedgap.bench.statistics.headlines.registry import suite_json, table_rows
from schedgap.bench.statistics.history import append_entry, entry_of, read_history
from schedgap.bench.statistics.summary import is_measured
from schedgap.bench.suites.results import Results, read_results
from schedgap.instances.errors import one_line
from schedgap.instances.on_use import ModuleOnUse

# What draws, and pandas, take longer to import than a table takes to print.
export_table = ModuleOnUse("schedgap.bench.statistics.export_table")
figure_files = ModuleOnUse("schedgap.bench.report.figure_files")
FigureFormat = Literal["svg", "pdf", "png"]


# Nothing that it makes is in a cycle, and it ends soon: looking for cycles would take a quarter of the time.
@gc_paused()
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a suite's runs, such as runs/smoke.")],
    html: Annotated[Path | None, typer.Option("--html", help="File for the page, which needs no other file.")] = None,
    figures: Annotated[Path | None, typer.Option("--figures", help="Folder for the figures, one file each.")] = None,
    figure_format: Annotated[FigureFormat, typer.Option("--figure-format", help="Of --figures.")] = "svg",
    table: Annotated[
        Path | None, typer.Option("--table", help="File for all runs, a row each: .csv or .parquet.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show the runs of a suite: its table, a page to look at, figures for papers, all runs as a table."""
    load_families()
    results = read_results(directory)
    if not results.records:
        typer.echo(f"{directory}: nothing was measured: there is no run to report on.", err=True)
        raise typer.Exit(NOTHING_MEASURED)
    written = _write(results, html, figures, figure_format, table, force=force)
    for path in written:
        typer.echo(f"wrote {path} ({_size(path)})", err=as_json)
    if written and results.missing:
        typer.echo(f"{directory}: {results.missing} of {results.planned} runs are not done{results.part}.", err=True)
    if as_json:
        content = suite_json(results.suite, results.records)
        content |= {"planned": results.planned, "shard": results.shard, "directory": str(directory)}
        typer.echo(json.dumps(content, allow_nan=False))
    elif not written:
        show_results(results, table_rows(results.suite, results.records))
    if not is_measured(results.records):
        typer.echo(f"{directory}: nothing was measured: no run ended with a result.", err=True)
        raise typer.Exit(NOTHING_MEASURED)


def _write(
    results: Results,
    html: Path | None,
    figures: Path | None,
    figure_format: FigureFormat,
    table: Path | None,
    *,
    force: bool,
) -> list[Path]:
    """Write what is asked for and return the files."""
    written: list[Path] = []
    if table is not None:
        written += export_table.table_files(table)
    if html is not None:
        written.append(html)
    # Before anything is written, so that one command does all or nothing.
    refuse_existing(written, force=force)
    if figures is not None:
        # The first to write: only it knows which figures there are, and it refuses as well.
        written += figure_files.write_figures(build_content(results), figures, figure_format, force=force)
    if table is not None:
        export_table.write_table(results, table, force=force)
    if html is not None:
        write_page(results, html, force=force)
    return written


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


history = typer.Typer(
    help="Keep the figures of a suite over commits in one file; show them, with steps, on a page.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
File = Annotated[Path, typer.Option("--file", help="The history: a line an entry, only ever added to.")]


@history.command()
def add(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a suite's runs, all of them done.")],
    file: File,
    commit: Annotated[str | None, typer.Option("--commit", help="By default that of the folder when it ran.")] = None,
    date: Annotated[str, typer.Option("--date", help="ISO 8601; that of the last run by default.")] = "",
    label: Annotated[str, typer.Option("--label", help="What to call the entry, instead of its commit.")] = "",
    link: Annotated[str, typer.Option("--link", help="Where the runs can be seen, such as a page of your CI.")] = "",
    replace: Annotated[bool, typer.Option("--replace", help="In place of the commit's earlier entries.")] = False,
) -> None:
    """Add the figures of a suite's runs, of each method its quality and time, to a history."""
    load_families()
    entry = entry_of(read_results(directory), commit=commit, date=date, label=label, link=link, replaces=replace)
    for line in append_entry(file, entry):
        typer.echo(one_line(line), err=True)
    typer.echo(one_line(f"added {entry.name} of {entry.date}, {len(entry.methods)} methods, to {file}"))


@history.command()
def page(
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the page, which needs no other file.")],
    force: Force = False,
) -> None:
    """Write a history as a page: lines over its entries, with the steps in them."""
    entries, damaged = read_history(file)
    for line in damaged:
        typer.echo(one_line(line), err=True)
    content = write_history(entries, out, damaged=damaged, force=force)
    typer.echo(
        f"wrote {out} ({out.stat().st_size / 1e3:.0f} kB): {len(entries)} entries, {content.facts[2].value} steps"
    )


history.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(bisect)
