"""A comparison as Markdown, for a pull request: the verdict, what is worse, and the rest for whoever unfolds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.comparison import wording
from schedgap.bench.comparison.comparison import Comparison, Verdict
from schedgap.bench.comparison.tables import METHODS, finding_rows, method_cells
from schedgap.instances.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.comparison.findings import Finding
    from schedgap.bench.statistics.tables import Head

# A comment holds 65,536 characters; the gravest come first, the other formats have them all.
SHOWN_FINDINGS = 50
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
    heads, rows = finding_rows(findings[:SHOWN_FINDINGS])
    return [*_table(heads, rows), *_more(len(findings), SHOWN_FINDINGS, "findings")]


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
