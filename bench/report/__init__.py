"""The report of a suite: what a directory of results holds as one HTML page, and its figures as files for papers.

from schedgap.bench.report import build_content, write_page

write_page(read_results(directory), Path("report.html"))
"""

from __future__ import annotations

from schedgap.bench.report.budget import Budget
from schedgap.bench.report.content import Content, build_content
from schedgap.bench.report.figures import write_figures
from schedgap.bench.report.page import PAGE_LIMIT, render_page, write_page

__all__ = ["PAGE_LIMIT", "Budget", "Content", "build_content", "render_page", "write_figures", "write_page"]
