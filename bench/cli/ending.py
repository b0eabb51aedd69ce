"""How commands that do runs end: what failed, on stderr, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.summary import is_measured
from schedgap.bench.statistics.tables import failures

if TYPE_CHECKING:
    from schedgap.bench.audit import Audit

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
