"""`schedgap search`: what a program that writes schedulers needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.cli.options import Force, Jobs, complete_suite, refuse_existing
from schedgap.bench.cli.show import show_table
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.search.figure import search_svg
from schedgap.bench.search.run import BEST, JOURNAL, Judge, Tried, local_search
from schedgap.bench.statistics.tables import Head
from schedgap.bench.suites.bounds import write_bounds
from schedgap.bench.suites.suite import MAX_SEEDS, read_suite
from schedgap.bench.testing.adapters import TOOLS, start
from schedgap.bench.testing.evaluator import evaluator
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import ReportError, one_line

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
    kept = held_out_of(held_out)
    if seeds is None and kept is None:
        kept = read_suite(suite)[0].search.unseen
    judge = evaluator(suite, seeds=seeds_of(seeds), held_out=kept, bound=bound, trace=trace, jobs=jobs)
    path = out or Path(f"{Path(suite).stem}-bounds.json")
    refuse_existing(path, force=force)
    found = judge.prepared()
    write_bounds(found, path)
    typer.echo(one_line(f"wrote {path}: the bounds of {len(found.instances)} instances of {found.suite}"))


@search.command()
def new(
    suite: SuiteName,
    tool: Annotated[str, typer.Option("--for", help=f"Who searches: {', '.join(TOOLS)}.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files, new or empty.")],
    first: Annotated[
        str | None,
        typer.Option("--from", help="Method to begin with; the shortest of the family that works by default."),
    ] = None,
    seeds: Seeds = None,
    held_out: HeldOut = None,
    bound: Prover = None,
    trace: Trace = None,
    jobs: Jobs = None,
) -> None:
    """Write what a search tool starts from: a first candidate, an evaluator with frozen bounds, a configuration."""
    how = {
        "seeds": seeds_of(seeds),
        "held_out": held_out_of(held_out),
        "bound": bound,
        "trace": None if trace is None else str(trace.resolve()),
        "jobs": jobs,
    }
    for path in start(suite, tool, out, first, how):
        typer.echo(one_line(f"wrote {path}"))


@search.command()
def run(
    suite: SuiteName,
    program: Annotated[Path, typer.Option("--program", help="Python file with a method or policy, and SEARCH.")],
    evaluations: Annotated[int, typer.Option("--evaluations", "-n", min=1, help="Candidates to score.")] = 100,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder; runs/found-SUITE by default.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of all that is random.")] = 0,
    bounds: Annotated[Path | None, typer.Option("--bounds", help="File of `search prepare`.")] = None,
    jobs: Jobs = None,
) -> None:
    """Search without a model: change the parameters of a program, and keep what scores best. Call it again to go on."""
    chosen, _ = read_suite(suite)
    load_families()
    parts = chosen.search
    judge = evaluator(suite, held_out=parts.test, bounds=bounds, jobs=jobs)
    judges: dict[str, Judge] = {"train": judge}
    if parts.validation is not None:
        judges["validation"] = evaluator(suite, seeds=parts.validation, bounds=bounds, jobs=jobs)
    if parts.test is not None:
        judges["test"] = judge.final
    folder = out or Path("runs") / f"found-{chosen.name}"

    def tell(one: Tried, is_best: bool) -> None:
        if is_best:
            failed = f", {one.failed} runs failed" if one.failed else ""
            typer.echo(one_line(f"{one.number}: {one.score:.4f}{failed} by {one.shown}"))

    found = local_search(program, judges, folder, suite=chosen.name, evaluations=evaluations, seed=seed, told=tell)
    write_whole(folder / "scores.svg", search_svg(found, f"{found.program.name} on {chosen.name}"), ReportError)
    heads = (Head("method", is_text=True), *(Head(part) for part in found.scores))
    first, best = zip(*found.scores.values(), strict=True)
    rows = [[name, *(f"{score:.4f}" for score in of)] for name, of in (("as written", first), ("found", best))]
    typer.echo()
    counted = f"number {found.best.number} of {len(found.tried)} candidates is the best"
    show_table(f"{chosen.name}: proven bound / objective, {counted}", heads, rows)
    typer.echo(one_line(f"found: {found.best.shown}"))
    typer.echo(one_line(f"wrote {folder / BEST}, {folder / JOURNAL} and {folder / 'scores.svg'}"))


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
