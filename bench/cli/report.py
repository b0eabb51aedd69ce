"""`schedgap report`."""

# ruff: noqa: TC001, TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from schedgap.bench import report as reports
from schedgap.bench.cli.ending import NOTHING_MEASURED
from schedgap.bench.cli.options import AsJson, Force
from schedgap.bench.cli.show import show_results
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.gc_pause import gc_paused
from schedgap.bench.statistics.headlines import suite_json, table_rows
from schedgap.bench.statistics.summary import is_measured
from schedgap.bench.suites.results import Results, read_results

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
        written += reports.table_files(table)
    if html is not None:
        written.append(html)
    # Before anything is written, so that one command does all or nothing.
    reports.refuse_existing(written, force=force)
    if figures is not None:
        # The first to write: only it knows which figures there are, and it refuses as well.
        written += reports.write_figures(reports.build_content(results), figures, figure_format, force=force)
    if table is not None:
        reports.write_table(results, table, force=force)
    if html is not None:
        reports.write_page(results, html, force=force)
    return written


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
