"""The table of gaps at the end of a pytest session."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from rich.console import Console

from schedgap.bench.statistics.tables import PLAIN_WIDTH, percent, plain_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TITLES = ("test", "method", "suite", "runs", "mean gap", "worst gap", "proven optimal")


def gap_lines(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return a line for each measurement, given by the test's ID and `Gaps.to_json` (totals and instances not needed)."""
    cells = []
    for test, row in rows:
        failed = f" ({row['failed']} failed)" if row["failed"] else ""
        proven = f"{row['proven_optimal']} of {row['runs']}"
        gaps = (percent(row["gap_mean"]), percent(row["gap_worst"]))
        cells.append((test, row["method"], row["suite"], f"{row['runs']}{failed}", *gaps, proven))
    screen = Console(file=StringIO(), width=PLAIN_WIDTH, highlight=False, color_system=None)
    with screen.capture() as capture:
        screen.print(plain_table("", _TITLES, cells))
    return [line.rstrip() for line in capture.get().splitlines() if line.strip()]
