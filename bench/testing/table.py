"""The table of gaps at the end of a pytest session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.statistics.tables import Head, in_percent, table_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEADS = (
    Head("test", is_text=True),
    Head("method", is_text=True),
    Head("suite", 4, is_text=True),
    Head("runs", 3),
    Head("mean gap (%)"),
    Head("worst gap (%)", 1),
    Head("proven optimal", 2),
)


def gap_lines(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return a line for each measurement, given by the test's ID and `Gaps.to_json` (totals and instances not needed)."""
    cells = []
    for test, row in rows:
        failed = f" ({row['failed']} failed)" if row["failed"] else ""
        proven = f"{row['proven_optimal']} of {row['runs']}"
        gaps = (in_percent(row["gap_mean"]), in_percent(row["gap_worst"]))
        cells.append((test, row["method"], row["suite"], f"{row['runs']}{failed}", *gaps, proven))
    return table_lines("", _HEADS, cells)
