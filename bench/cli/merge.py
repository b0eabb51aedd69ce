"""`schedgap merge`."""

# ruff: noqa: TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.suites.merge import merge as merge_directories


def merge(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Directories of one suite's shards.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write, which must not hold anything.")],
) -> None:
    """Join the shards of a suite: what `run` would have written in one directory."""
    merged = merge_directories(directories, out)
    missing = merged.planned - merged.runs
    left = f"; {missing} are still to be done: `schedgap run SUITE --out {out}` does them" if missing else ""
    typer.echo(f"{merged.runs} of {merged.planned} runs, from {merged.sources} directories, in {out}{left}.")
