"""All headlines, by name; a new one is stated beside this module, and an entry here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.gap import CLOSED, GAP, NORMALISED_COST, OBJECTIVE, rows_of
from schedgap.bench.statistics.headlines.headline import Headline, Row
from schedgap.bench.statistics.headlines.measures import MEASURES, RUNTIME, SCORES
from schedgap.bench.statistics.maps import build_maps
from schedgap.bench.statistics.summary import summarise, told_apart
from schedgap.bench.suites.suite import Suite
from schedgap.instances.errors import SuiteError, did_you_mean
from schedgap.instances.family import find_family

HEADLINES = {each.name: each for each in (GAP, NORMALISED_COST, RUNTIME, OBJECTIVE, MEASURES, CLOSED, SCORES)}


def find_headline(suite: Suite | None) -> Headline:
    """Return the headline of a suite; that of runs without a suite is `gap`.

    Raises
    ------
    SuiteError
        naming the known headlines.
    """
    name = GAP.name if suite is None else suite.headline
    if name not in HEADLINES:
        near = did_you_mean(name, HEADLINES)
        raise SuiteError(f"headline: there is no '{name:.60}'; {near}known are {', '.join(HEADLINES)}.")
    return HEADLINES[name]


def check_headline(suite: Suite) -> None:
    """Raise `SuiteError` unless the suite's headline is known and has the measures that it needs."""
    try:
        headline = find_headline(suite)
    except SuiteError as error:
        raise SuiteError(f"{suite.name}: {error}") from None
    if headline.of_measures != bool(suite.measures):
        raise SuiteError(
            f"{suite.name}: the headline 'measures' and a list of 'measures' go together; give both or neither."
        )
    if headline is SCORES and find_family(suite.family).native_score is None:
        raise SuiteError(f"{suite.name}: family {suite.family} has no native_score, which the headline 'scores' shows.")
    if headline is not SCORES and any(not reference.method for reference in suite.reference):
        raise SuiteError(
            f"{suite.name}: a reference names no method; only the headline 'scores' shows those of others."
        )


def headline_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return the rows of the suite's own table."""
    return find_headline(suite).rows(suite, records)


def table_rows(suite: Suite | None, records: Sequence[Record]) -> list[Row]:
    """Return the rows of the table of a suite, or of runs without one."""
    return rows_of(summarise(told_apart(records))) if suite is None else headline_rows(suite, records)


def suite_json(suite: Suite | None, records: Sequence[Record]) -> dict[str, Any]:
    """Return what `--json` says of a suite's runs; of runs without a suite, its table has a row for each method."""
    summaries = summarise(told_apart(records) if suite is None else records)
    methods = [asdict(summary) for summary in summaries]
    if suite is not None and find_headline(suite) is GAP:
        table = rows_of(summaries)
    else:
        table = methods if suite is None else headline_rows(suite, records)
    return {
        "suite": None if suite is None else suite.name,
        "instances": len({record.run.digest for record in records}),
        "runs": len(records),
        "failed": sum(record.status in FAILED for record in records),
        "methods": methods,
        "table": table,
        "maps": [] if suite is None else [shown.to_json() for shown in build_maps(suite.map, records)],
    }
