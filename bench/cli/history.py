"""`schedgap history`."""

# ruff: noqa: TC001 - typer reads the annotations when the program runs.

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.cli.options import Force
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.report.history_page import write_history
from schedgap.bench.statistics.history import append_entry, entry_of, read_history
from schedgap.bench.suites.results import read_results
from schedgap.instances.errors import one_line

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
    commit: Annotated[str | None, typer.Option("--commit", help="What was measured; this folder's by default.")] = None,
    date: Annotated[str, typer.Option("--date", help="ISO 8601; that of the last run by default.")] = "",
    label: Annotated[str, typer.Option("--label", help="What to call the entry, instead of its commit.")] = "",
    link: Annotated[str, typer.Option("--link", help="Where the runs can be seen, such as a page of your CI.")] = "",
) -> None:
    """Add the figures of a suite's runs, of each method its quality and time, to a history."""
    load_families()
    made = _commit() if commit is None else commit
    entry = entry_of(read_results(directory), commit=made, date=date, label=label, link=link)
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


def _commit() -> str:
    """Return the commit of the folder that this is called in; nothing outside of a repository."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
