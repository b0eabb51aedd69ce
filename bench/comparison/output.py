"""A comparison as JSON, and in any format by name; `docs/compare.md` documents the fields.

A comparison on a terminal, and the cells of its tables, which Markdown shares.

A comparison as Markdown, for a pull request: the verdict, what is worse, and the rest for whoever unfolds it.

A comparison as JUnit XML: a test case for each run, a test suite for each method, for whatever shows test results.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal
from xml.etree import ElementTree

from schedgap.bench.comparison import wording
from schedgap.bench.comparison.comparison import Comparison, Side, Verdict, to_bencher_json, to_benchmark_json
from schedgap.bench.comparison.findings import Finding, MethodComparison
from schedgap.bench.comparison.pairs import Pair
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import FAILED
from schedgap.bench.statistics.tables import Head, folded, in_percent, table_lines, terminal_width
from schedgap.instances.errors import one_line

FINDINGS = (
    Head("what", is_text=True),
    Head("method", is_text=True),
    Head("instance", is_text=True),
    Head("BASE", 2),
    Head("NEW", 1),
    Head("change"),
    Head("why", 3, is_text=True, is_prose=True),
)
METHODS = (
    Head("method", is_text=True),
    Head("pairs", 3),
    Head("better", 1),
    Head("worse"),
    Head("same", 4),
    Head("gap BASE (%)", 5),
    Head("gap NEW (%)", 2),
    Head("change of gap (pp)"),
    Head("times as long", 6),
)
SHOWN_FINDINGS = 30


def to_tables(comparison: Comparison) -> str:
    """Return the text for a terminal: what is worse last, where the eye is; nothing of what cannot be compared."""
    lines: list[str] = []
    if comparison.methods:
        rows = [method_cells(method) for method in comparison.methods]
        lines += table_lines(_title(comparison), METHODS, rows)
    kinds = (
        ("Improvements", comparison.improvements),
        ("Allowed regressions", comparison.allowed),
        ("Regressions", comparison.regressions),
    )
    for title, findings in kinds:
        if findings:
            heads, rows = finding_rows(findings[:SHOWN_FINDINGS])
            lines += [""] if lines else []
            lines += table_lines(f"{title} ({len(findings)})", heads, rows)
            if len(findings) > SHOWN_FINDINGS:
                lines.append(f"and {len(findings) - SHOWN_FINDINGS} more; --format json has them all.")
    texts = [*comparison.notes, *([wording.verdict(comparison)] if comparison.problem is None else [])]
    lines += [line for text in texts for line in folded(text, terminal_width())]
    return "".join(f"{line}\n" for line in lines)


def _title(comparison: Comparison) -> str:
    solution = " or solution" if any(method.unbounded for method in comparison.methods) else ""
    return f"Methods: gaps to the best proven bound{solution} of both sides"


def finding_rows(findings: Sequence[Finding]) -> tuple[Sequence[Head], list[tuple[str, ...]]]:
    """Return heads and rows of findings, without a last column that says nothing."""
    rows = [_finding_cells(finding) for finding in findings]
    if any(row[-1] for row in rows):
        return FINDINGS, rows
    return FINDINGS[:-1], [row[:-1] for row in rows]


def _finding_cells(finding: Finding) -> tuple[str, ...]:
    return (
        str(finding.kind),
        finding.method,
        wording.about(finding),
        wording.value(finding, finding.base),
        wording.value(finding, finding.new),
        wording.change(finding),
        "; ".join(wording.short(text) for text in (finding.allowed, finding.reason) if text),
    )


def method_cells(method: MethodComparison) -> tuple[str, ...]:
    """Return the cells of a method's row, under METHODS."""
    return (
        method.label,
        f"{method.pairs}" + (f" ({method.missing} missing)" if method.missing else ""),
        str(method.better),
        str(method.worse),
        str(method.same),
        in_percent(method.gap_base),
        in_percent(method.gap_new),
        wording.gap_change(method),
        wording.time_ratio(method),
    )


# A comment holds 65,536 characters; the gravest come first, the other formats have them all.
SHOWN_IN_MARKDOWN = 50
SHOWN_METHODS = 100
_SIGNS = {Verdict.OK: "✅", Verdict.REGRESSION: "❌", Verdict.NOT_COMPARABLE: "⚠️"}
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]|#~$"} | {"<": "&lt;", ">": "&gt;"})


def to_markdown(comparison: Comparison) -> str:
    """Return the text in GitHub's Markdown."""
    warns = comparison.verdict is Verdict.OK and wording.slower(comparison)
    sign = _SIGNS[Verdict.NOT_COMPARABLE if warns else comparison.verdict]
    lines = [
        f"### {sign} schedgap: {_escaped(wording.verdict(comparison))}",
        "",
        f"BASE is {_escaped(str(comparison.base.directory))}, NEW is {_escaped(str(comparison.new.directory))}.",
        "",
    ]
    if comparison.regressions:
        lines += _findings(comparison.regressions)
    if comparison.allowed:
        lines += [f"Allowed regressions ({len(comparison.allowed)}):", "", *_findings(comparison.allowed)]
    if comparison.improvements:
        lines += _folded(f"Improvements ({len(comparison.improvements)})", _findings(comparison.improvements))
    if comparison.methods:
        rows = [method_cells(method) for method in comparison.methods[:SHOWN_METHODS]]
        more = _more(len(comparison.methods), SHOWN_METHODS, "methods")
        lines += _folded(f"Methods ({len(comparison.methods)})", [*_table(METHODS, rows), *more])
    if comparison.notes:
        lines += _folded("Notes", [*(f"- {_escaped(note)}" for note in comparison.notes), ""])
    return "\n".join(lines).rstrip("\n") + "\n"


def _findings(findings: Sequence[Finding]) -> list[str]:
    heads, rows = finding_rows(findings[:SHOWN_IN_MARKDOWN])
    return [*_table(heads, rows), *_more(len(findings), SHOWN_IN_MARKDOWN, "findings")]


def _table(heads: Sequence[Head], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(head.title for head in heads), _row("---" if head.is_text else "---:" for head in heads)]
    return [*lines, *(_row([_escaped(cell) for cell in row]) for row in rows), ""]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _more(count: int, shown: int, what: str) -> list[str]:
    return [f"and {count - shown} more {what}: `--format json` has them all.", ""] if count > shown else []


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    # Without the empty line, what follows would not be read as Markdown.
    return [f"<details><summary>{title}</summary>", "", *lines, "</details>", ""]


def _escaped(text: str) -> str:
    # Nobody is told who happens to be called like something here: of `@` and a space without width, nobody is.
    return one_line(" ".join(text.split())).translate(_SPECIAL).replace("@", "@\u200b")


# What XML 1.0 cannot hold, and what a method may well have printed.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Test cases about no single run.
OVERALL = "all instances"


def to_junit(comparison: Comparison) -> str:
    """Return the XML document.

    Failures are regressions, an error says why nothing can be compared, skipped is what failed on both sides, is in NEW
    only, or is a regression that is allowed.
    """
    root = ElementTree.Element("testsuites", name="schedgap compare")
    if comparison.problem is not None:
        case = _case(_suite(root, "schedgap"), "schedgap", "comparison")
        _child(case, "error", "not-comparable", wording.verdict(comparison))
    by_run: dict[tuple[str, str, str, int | None], Finding] = {}
    of_methods: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in (*comparison.regressions, *comparison.allowed):
        key = (finding.family, finding.digest, finding.method, finding.seed)
        if finding.digest and key not in by_run:
            by_run[key] = finding
        elif not finding.digest:
            of_methods[finding.family, finding.method].append(finding)
    pairs: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in comparison.pairs:
        pairs[pair.run.family, pair.run.label].append(pair)
    for (family, label), own in pairs.items():
        suite = _suite(root, label)
        for pair in own:
            run = pair.run
            _add_pair(suite, pair, by_run.get((family, run.digest, label, run.seed)))
        for finding in of_methods[family, label]:
            _fail(_case(suite, label, f"{finding.kind} over {OVERALL}"), finding)
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_pair(suite: ElementTree.Element, pair: Pair, finding: Finding | None) -> None:
    run = pair.run
    case = _case(suite, run.label, f"{run.instance} seed {run.seed}" if pair.stochastic else run.instance)
    if pair.new is not None and pair.new.measurement.wall_s is not None:
        case.set("time", f"{pair.new.measurement.wall_s:.6f}")
    if finding is not None:
        _fail(case, finding)
    elif pair.base is None:
        _child(case, "skipped", None, "in NEW only")
    elif pair.new is not None and pair.base.status in FAILED and pair.new.status in FAILED:
        _child(case, "skipped", None, f"{pair.base.status} in BASE, {pair.new.status} in NEW")


def _suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=_clean(name))


def _case(suite: ElementTree.Element, label: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_clean(label), name=_clean(name))


def _fail(case: ElementTree.Element, finding: Finding) -> None:
    text = f"{finding.method} on {wording.about(finding)}: {wording.sentence(finding)}"
    if finding.allowed is None:
        _child(case, "failure", str(finding.kind), text)
    else:
        _child(case, "skipped", None, f"{text} ({finding.allowed})")


def _child(case: ElementTree.Element, tag: str, kind: str | None, message: str) -> None:
    child = ElementTree.SubElement(case, tag, message=_clean(message))
    if kind is not None:
        child.set("type", kind)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


_FINDING = fields(Finding)
SCHEMA = "schedgap/compare/1"
Format = Literal["table", "markdown", "junit", "json", "benchmark-json", "bencher-json"]


def render(comparison: Comparison, form: Format) -> str:
    """Return a comparison as text, which ends with a newline."""
    # Units of objectives are the families' own.
    load_families()
    if form == "json":
        return json.dumps(to_json(comparison), indent=1, allow_nan=False) + "\n"
    formats = {
        "table": to_tables,
        "markdown": to_markdown,
        "junit": to_junit,
        "benchmark-json": to_benchmark_json,
        "bencher-json": to_bencher_json,
    }
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
        "allowed": [_finding(finding) for finding in comparison.allowed],
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
