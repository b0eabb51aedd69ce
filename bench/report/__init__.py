"""The report of a suite: what a directory of results holds as one HTML page, as figures for papers, and as tables.

    from schedgap.bench.report import build_content, write_page

    write_page(read_results(directory), Path("report.html"))

Names are loaded on first use: what draws figures takes longer to import than a table takes to print.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedgap.bench.report.figure_files import write_figures
    from schedgap.bench.report.figures.selection import Budget
    from schedgap.bench.report.files import refuse_existing
    from schedgap.bench.report.page import PAGE_LIMIT, Content, build_content, render_page, write_page
    from schedgap.bench.statistics.export_table import table_files, write_table

_MODULES = {
    "PAGE_LIMIT": "report.page",
    "Budget": "report.figures.selection",
    "Content": "report.page",
    "build_content": "report.page",
    "refuse_existing": "report.files",
    "render_page": "report.page",
    "table_files": "statistics.export_table",
    "write_figures": "report.figure_files",
    "write_page": "report.page",
    "write_table": "statistics.export_table",
}
__all__ = [
    "PAGE_LIMIT",
    "Budget",
    "Content",
    "build_content",
    "refuse_existing",
    "render_page",
    "table_files",
    "write_figures",
    "write_page",
    "write_table",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"schedgap.bench.{_MODULES[name]}"), name)
