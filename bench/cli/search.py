"""`schedgap search`: what a program that writes schedulers needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.cli.options import Force, Jobs, complete_suite, refuse_existing
from schedgap.bench.suites.bounds import write_bounds
from schedgap.bench.suites.suite import MAX_SEEDS
from schedgap.bench.testing.evaluator import evaluator
from schedgap.instances.errors import one_line

search = typer.Typer(
    help="Search for schedulers: prove the bounds that candidates are scored against, and start a search.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
SuiteName = Annotated[
    str, typer.Argument(metavar="SUITE", help="A shipped suite, or a TOML file.", autocompletion=complete_suite)
]
Seeds = Annotated[
    str | None,
    typer.Option("--seeds", help="Seeds that the search sees, such as 0-4 or 1,5; those of the suite by default."),
]
HeldOut = Annotated[
    str | None, typer.Option("--held-out", help="Seeds that it does not see, such as 100-119; or another suite.")
]
Prover = Annotated[str | None, typer.Option("--bound", help="Method that proves the bounds, instead of the suite's.")]
Trace = Annotated[Path | None, typer.Option("--trace", help="File for instances that come from one.")]


@search.command()
def prepare(
    suite: SuiteName,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; SUITE-bounds.json by default.")
    ] = None,
    seeds: Seeds = None,
    held_out: HeldOut = None,
    bound: Prover = None,
    trace: Trace = None,
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Prove the bounds of a suite once and write them to a file: with it, scores are the same everywhere."""
    judge = evaluator(suite, seeds=seeds_of(seeds), held_out=held_out_of(held_out), bound=bound, trace=trace, jobs=jobs)
    path = out or Path(f"{Path(suite).stem}-bounds.json")
    refuse_existing(path, force=force)
    found = judge.prepared()
    write_bounds(found, path)
    typer.echo(one_line(f"wrote {path}: the bounds of {len(found.instances)} instances of {found.suite}"))


@search.callback()
def _group() -> None:
    """Make a group of one command, too."""


def seeds_of(text: str | None) -> list[int] | None:
    """Return the seeds that `0-4,7` names, None for none."""
    if text is None:
        return None
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or int(last or first) - int(first) > MAX_SEEDS:
            raise typer.BadParameter(one_line(f"'{text}' names no seeds; give some, such as 0-4 or 1,5"))
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def held_out_of(text: str | None) -> list[int] | str | None:
    """Return seeds, or a suite, that `--held-out` names."""
    return seeds_of(text) if text is not None and text.replace("-", "").replace(",", "").isdecimal() else text
