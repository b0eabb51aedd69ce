"""NEW of a comparison as figures for github-action-benchmark (`customSmallerIsBetter`), which keeps them by commit."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.summary import counted_time, shifted_geometric_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.bench.comparison.comparison import Comparison
    from schedgap.bench.comparison.methods import Estimate, MethodComparison
    from schedgap.bench.records.record import Record


def to_benchmark_json(comparison: Comparison) -> str:
    """Return a list of `name`, `unit`, `value` and `extra`: of each method its mean gap, its time and its failed runs.

    What is not known has no entry, nor has a mean of gaps some of which are to no bound; where nothing can be compared,
    there is none.
    """
    records: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for pair in comparison.pairs:
        if pair.new is not None:
            records[pair.run.family, pair.run.label].append(pair.new)
    entries = [
        entry
        for method in comparison.methods
        for entry in _entries(method, records[method.family, method.label], comparison)
    ]
    return json.dumps(entries, indent=1, allow_nan=False) + "\n"


def _entries(method: MethodComparison, records: list[Record], comparison: Comparison) -> Iterator[dict[str, Any]]:
    side = f"{method.pairs} runs of {comparison.base.directory} and {comparison.new.directory} compared"

    def entry(what: str, unit: str, value: float, change: str) -> dict[str, Any]:
        return {"name": f"{method.label}: {what}", "unit": unit, "value": value, "extra": f"{side}{change}"}

    if method.gap_new is not None and not method.unbounded:
        change = _interval("gap", method.gap, 100, " points")
        yield entry("mean gap", "%", 100 * method.gap_new, change)
    times = [time for record in records if (time := counted_time(record)) is not None]
    time = shifted_geometric_mean(times)
    if time is not None:
        yield entry("time (sgm)", "s", time, _interval("time", method.time, 1, " times BASE's"))
    yield entry("failed runs", "runs", sum(record.status in FAILED for record in records), "")


def _interval(what: str, estimate: Estimate | None, factor: float, unit: str) -> str:
    if estimate is None:
        return ""
    mean, low, high = (f"{factor * value:.4g}" for value in (estimate.mean, estimate.low, estimate.high))
    return f"; {what} {mean}{unit}, 95% interval {low} to {high}"
