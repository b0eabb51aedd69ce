"""What `schedgap report` prints: the same table as `schedgap run`, of a directory that nobody adds to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines import headline_rows
from schedgap.bench.statistics.maps import build_maps
from schedgap.bench.statistics.suite_tables import interval_note, show_figures
from schedgap.bench.statistics.summary import summarise
from schedgap.bench.statistics.tables import console, failures, headline_table, limits_note, verified_note

if TYPE_CHECKING:
    from schedgap.bench.records.results import Results


def to_json(results: Results) -> dict[str, Any]:
    """Return what `schedgap report --json` prints: the fields of `schedgap run --json` that a directory knows."""
    methods = [asdict(summary) for summary in summarise(results.records)]
    return {
        "suite": None if results.suite is None else results.suite.name,
        "instances": len({record.run.digest for record in results.records}),
        "runs": len(results.records),
        "planned": results.planned,
        "failed": sum(record.status in FAILED for record in results.records),
        "methods": methods,
        "table": methods if results.suite is None else headline_rows(results.suite, results.records),
        "maps": [] if results.suite is None else [m.to_json() for m in build_maps(results.suite.map, results.records)],
        "directory": str(results.directory),
    }


def show(results: Results) -> None:
    """Print the suite's table and what failed; of a directory without a plan, a row for each method."""
    content, suite = to_json(results), results.suite
    screen = console()
    title, headline = (f"Runs in {results.directory}", "gap") if suite is None else (suite.title, suite.headline)
    screen.print(headline_table(title, headline, content["table"]))
    if suite is not None:
        show_figures(screen, suite, results.records)
    lines = [] if suite is None else [suite.question]
    lines.append(verified_note(results.records))
    lines += [] if suite is None else interval_note(suite).splitlines()
    lines += limits_note(headline, content["table"]).splitlines()
    if suite is not None and suite.source:
        lines.append(f"The paper's figures: {suite.source}.")
    missing = content["planned"] - content["runs"]
    lines.append(
        f"{content['runs']} runs, {content['failed']} failed"
        + (f", {missing} of {content['planned']} still to be done" if missing else "")
        + f"; recorded in {results.directory}."
    )
    screen.print(Text("\n".join(lines + failures(results.records))))
