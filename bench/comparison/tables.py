"""A comparison on a terminal, and the cells of its tables, which Markdown shares."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedgap.bench.comparison import wording
from schedgap.bench.statistics.tables import console, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.comparison.comparison import Comparison
    from schedgap.bench.comparison.findings import Finding
    from schedgap.bench.comparison.methods import MethodComparison

FINDINGS = ("what", "method", "instance", "BASE", "NEW", "change", "why")
METHODS = ("method", "pairs", "better", "worse", "same", "gap BASE", "gap NEW", "change of gap", "times as long")
# Columns of text; the others hold figures.
TEXTS = frozenset({"what", "method", "instance", "why"})
SHOWN_FINDINGS = 30


def to_tables(comparison: Comparison) -> str:
    """Return the text for a terminal: what is worse last, where the eye is; nothing of what cannot be compared."""
    width = console().width
    screen = Console(file=StringIO(), width=width, highlight=False)
    if comparison.methods:
        rows = [method_cells(method) for method in comparison.methods]
        screen.print(_table("Methods: gaps to the best proven bound of both sides", METHODS, rows))
    for title, findings in (("Improvements", comparison.improvements), ("Regressions", comparison.regressions)):
        if findings:
            titles, rows = finding_rows(findings[:SHOWN_FINDINGS])
            screen.print(_table(f"{title} ({len(findings)})", titles, rows))
            if len(findings) > SHOWN_FINDINGS:
                screen.print(f"and {len(findings) - SHOWN_FINDINGS} more; --format json has them all.")
    for note in comparison.notes:
        screen.print(Text(note))
    if comparison.problem is None:
        screen.print(Text(wording.verdict(comparison)))
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue()


def finding_rows(findings: Sequence[Finding]) -> tuple[Sequence[str], list[tuple[str, ...]]]:
    """Return titles and rows of findings, without a last column that says nothing."""
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
        percent(method.gap_base),
        percent(method.gap_new),
        wording.gap_change(method),
        wording.time_ratio(method),
    )


def _table(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for name in titles:
        table.add_column(name, justify="left" if name in TEXTS else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
