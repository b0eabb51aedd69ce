"""`schedgap runs`, what was run here; `run --dry-run`, what would be; `merge`, several parts of it as one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedgap.bench.cli.options import AsJson
from schedgap.bench.cli.progress import duration
from schedgap.bench.cli.show import SOME_FAILED, say, show_table
from schedgap.bench.records.runs import FAILED
from schedgap.bench.statistics.tables import NOTHING, Head
from schedgap.bench.suites.merge import merge as merge_directories
from schedgap.bench.suites.results import find_directories, read_results

if TYPE_CHECKING:
    from schedgap.bench.forecast import Forecast

HEADS = (
    Head("directory", is_text=True),
    Head("suite", 2, is_text=True),
    Head("last run (UTC)", 3),
    Head("done"),
    Head("failed"),
    Head("machine", 5, is_text=True),
    Head("version", 4),
)


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where directories of runs are.")] = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """List the directories of runs in a folder: suite, when, how much is done and failed, machine, version."""
    rows = [_row(directory) for directory in find_directories(folder)]
    if as_json:
        typer.echo(json.dumps({"runs": rows}))
    elif not rows:
        say(f"There are no runs in {folder}; `schedgap run SUITE` makes some.")
    else:
        show_table("", HEADS, [_cells(row) for row in rows])


def _row(directory: Path) -> dict[str, Any]:
    results = read_results(directory)
    last = max(results.records, key=lambda record: record.ended_at, default=None)
    host = {} if last is None else results.hosts.get(last.host, {})
    return {
        "directory": str(directory),
        "suite": None if results.suite is None else results.suite.name,
        "last": None if last is None else last.ended_at,
        "planned": results.planned,
        "done": len(results.records),
        "failed": sum(record.status in FAILED for record in results.records),
        "machine": host.get("name"),
        "processor": host.get("processor"),
        "version": host.get("packages", {}).get("schedgap"),
        "commit": host.get("commit"),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    done = f"{row['done']}" + (f" of {row['planned']}" if row["planned"] != row["done"] else "")
    when = NOTHING if row["last"] is None else row["last"][:16].replace("T", " ")
    version = NOTHING if row["version"] is None else row["version"] + (f" {row['commit'][:7]}" if row["commit"] else "")
    return (
        *(row["directory"], row["suite"] or NOTHING, when, done, str(row["failed"])),
        *(row["machine"] or NOTHING, version),
    )


def show_forecast(expected: Forecast) -> None:
    """Print what would be run: how many runs of each method, and how long all may take."""
    number = len(expected.runs)
    say(f"suite {expected.suite}: {expected.planned} runs, {expected.recorded} recorded in {expected.directory}")
    if not number:
        say("Nothing is to be done.")
        return
    counts = Counter(run.label for run in expected.runs)
    heads = Head("method", is_text=True), Head("to do")
    show_table("", heads, [(name, str(count)) for name, count in counts.items()])
    at_a_time = f"{expected.jobs} at a time" if expected.jobs > 1 else "one at a time"
    if expected.known:
        sources = ", ".join(map(str, expected.sources))
        say(
            f"{number} runs to do, {at_a_time}: about {duration(expected.expected_s)}, and what compiling takes; "
            f"for {expected.known} of them by {sources}."
        )
    else:
        say(f"{number} runs to do, {at_a_time}; no journal in runs/ or results/ tells how long they take.")


def merge(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Directories of one suite's shards.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write, which must not hold anything.")],
) -> None:
    """Join the shards of a suite: what `run` would have written in one directory."""
    merged = merge_directories(directories, out)
    missing = merged.planned - merged.runs
    left = f"; {missing} are still to be done: `schedgap run SUITE --out {out}` does them" if missing else ""
    typer.echo(f"{merged.runs} of {merged.planned} runs, from {merged.sources} directories, in {out}{left}.")
    if missing:
        raise typer.Exit(SOME_FAILED)
