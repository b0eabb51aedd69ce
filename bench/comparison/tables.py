"""A comparison on a terminal, and the cells of its tables, which Markdown shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.comparison import wording
from schedgap.bench.statistics.tables import Head, folded, in_percent, table_lines, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.comparison.comparison import Comparison
    from schedgap.bench.comparison.findings import Finding
    from schedgap.bench.comparison.methods import MethodComparison

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
    for title, findings in (("Improvements", comparison.improvements), ("Regressions", comparison.regressions)):
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
        wording.before(finding),
        wording.after(finding),
        wording.change(finding),
        wording.short(finding.reason) if finding.reason else "",
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
