"""`schedgap fetch`."""

# ruff: noqa: TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedgap.instances.traces import fetch as download


def fetch(
    trace: Annotated[str, typer.Argument(help="Name of a public trace (`schedgap list traces`).")],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Directory; the user's cache by default.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="A mirror, in place of the public home.")] = None,
) -> None:
    """Download a public trace, check its SHA-256 and print where it is."""
    typer.echo(str(download(trace, folder, base_url=base_url)))
