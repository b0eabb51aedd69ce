"""Figures of the report for `SuiteResult.plot`, which a notebook shows."""

from __future__ import annotations

from pathlib import Path

from schedgap.bench.report.content import build_content
from schedgap.bench.report.figure_files import drawn_figures
from schedgap.bench.result import Drawing, GapResult, SuiteResult
from schedgap.bench.suites.results import Results, read_hosts
from schedgap.instances.errors import ReportError, did_you_mean


def drawing(result: SuiteResult | GapResult, name: str | None = None) -> Drawing:
    """Return a figure of what a suite or a gap gave by name, the first without one.

    Raises
    ------
    ReportError
        if there is none of that name, or none at all.
    """
    results = _results_of(result)
    found = drawn_figures(build_content(results)) if results.records else {}
    if not found:
        raise ReportError(f"{results.directory}: no run has anything to show in a figure; run more of it.")
    chosen = next(iter(found)) if name is None else name
    if chosen not in found:
        near = did_you_mean(chosen, found)
        raise ReportError(
            f"{results.directory}: there is no figure '{chosen:.60}'; {near}there are {', '.join(found)}."
        )
    return Drawing(chosen, found[chosen]("svg").decode(), tuple(other for other in found if other != chosen))


def _results_of(result: SuiteResult | GapResult) -> Results:
    if isinstance(result, SuiteResult):
        hosts = read_hosts(result.directory)
        return Results(result.directory, result.suite, (), result.records, result.planned, hosts)
    # It has no directory, so there are no pictures; messages call it so.
    return Results(Path(f"gap of {result.instance:.80}"), None, (), result.records, len(result.records), {})
