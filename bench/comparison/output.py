"""A comparison as JSON, and in any format by name; `docs/compare.md` documents the fields."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Literal

from schedgap.bench.comparison import wording
from schedgap.bench.comparison.benchmark_json import to_benchmark_json
from schedgap.bench.comparison.findings import Finding
from schedgap.bench.comparison.junit import to_junit
from schedgap.bench.comparison.markdown import to_markdown
from schedgap.bench.comparison.tables import to_tables
from schedgap.bench.plugins.discover import load_families

if TYPE_CHECKING:
    from schedgap.bench.comparison.comparison import Comparison, Side
    from schedgap.bench.comparison.methods import MethodComparison

_FINDING = fields(Finding)
SCHEMA = "schedgap/compare/1"
Format = Literal["table", "markdown", "junit", "json", "benchmark-json"]


def render(comparison: Comparison, form: Format) -> str:
    """Return a comparison as text, which ends with a newline."""
    # Units of objectives are the families' own.
    load_families()
    if form == "json":
        return json.dumps(to_json(comparison), indent=1, allow_nan=False) + "\n"
    formats = {"table": to_tables, "markdown": to_markdown, "junit": to_junit, "benchmark-json": to_benchmark_json}
    return formats[form](comparison)


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return what `--format json` prints: objectives and bounds as the exact integers of the journal."""
    return {
        "schema": SCHEMA,
        "base": _side(comparison.base),
        "new": _side(comparison.new),
        "verdict": str(comparison.verdict),
        "problem": comparison.problem,
        "pairs": comparison.compared,
        "min_effect": comparison.min_effect,
        "time_factor": comparison.time_factor,
        "regressions": [_finding(finding) for finding in comparison.regressions],
        "improvements": [_finding(finding) for finding in comparison.improvements],
        "methods": [_method(method) for method in comparison.methods],
        "notes": list(comparison.notes),
    }


def _side(side: Side) -> dict[str, Any]:
    return {**asdict(side), "directory": str(side.directory)}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **{field.name: getattr(finding, field.name) for field in _FINDING},
        "kind": str(finding.kind),
        "interval": None if finding.interval is None else list(finding.interval),
        "message": wording.sentence(finding),
    }


def _method(method: MethodComparison) -> dict[str, Any]:
    content = asdict(method)
    for name, shown in (("label", "method"), ("gap", "gap_change"), ("time", "time_ratio")):
        content[shown] = content.pop(name)
    return content
