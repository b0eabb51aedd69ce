"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedgap.instances.errors import InstanceError

Plugins = Annotated[
    list[Path] | None, typer.Option("--plugin", help="Python file with methods of your own; repeatable.")
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time; one a processor by default.")]
Audit = Annotated[
    bool,
    typer.Option("--audit", help="Solve each model that has several back ends by another one too, and compare."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
InstanceFile = Annotated[Path, typer.Argument(help="An instance file.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Write over an existing file.")]
Parameters = Annotated[list[str] | None, typer.Argument(help="parameter=value ...")]


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise `InstanceError` where a file is there already."""
    if path.exists() and not force:
        raise InstanceError(f"{path} exists and is not written over; choose another name or give --force.")
