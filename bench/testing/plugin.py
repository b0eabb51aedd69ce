"""The pytest plug-in: fixture `gap`, two options and a table at the end; `docs/pytest.md` documents it.

pytest imports this module in every session of everybody who has the package installed, so it imports nothing else: what
measures is imported when a test asks for the fixture.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from schedgap.bench.testing import PROPERTY

if TYPE_CHECKING:
    from schedgap.bench.testing.fixture import GapFixture

_HELP = "suite that the fixture `gap` measures on where a test names none (smoke)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what may be chosen for a whole session or project."""
    parser.getgroup("schedgap").addoption("--schedgap-suite", metavar="NAME", help=_HELP)
    parser.addini("schedgap_suite", _HELP)


@pytest.fixture
def gap(request: pytest.FixtureRequest) -> GapFixture:
    """Measure how far a scheduler is from proven bounds: `assert gap(my_scheduler, suite="smoke").mean <= 0.02`."""
    fixture: GapFixture = import_module("schedgap.bench.testing.fixture").GapFixture(request)
    return fixture


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say on which instances a gap was too large, where an assertion about it fails."""
    figures = sys.modules.get("schedgap.bench.testing.gap_figures")
    if figures is None:
        return None
    for side in (left, right):
        if isinstance(side, figures.GapFigure):
            explained: list[str] = side.explain(f"{figures.shown(left)} {op} {figures.shown(right)}")
            return explained
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a table of all gaps that were measured, by whichever process; nothing where none was."""
    # Each test has one report of its teardown, which has all that the test measured.
    rows = [
        (report.nodeid, json.loads(value))
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if rows:
        # Workers of pytest-xdist report in any order.
        rows.sort(key=lambda row: row[0])
        table = import_module("schedgap.bench.testing.fixture")
        terminalreporter.section("schedgap: gaps to the best proven bounds")
        for line in table.gap_lines(rows):
            terminalreporter.write_line(line)
