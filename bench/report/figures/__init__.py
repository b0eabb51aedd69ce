"""Figures of a report: each kind is a function that returns one specification, which page and files are drawn from.

A new kind of figure of a suite's runs is such a function in `KINDS`, and its line in the documentation.
"""

from __future__ import annotations

from schedgap.bench.report.figures.drawing import Figure
from schedgap.bench.report.figures.gaps import anytime, gap_profile, gaps, scatter, time_profile
from schedgap.bench.report.figures.selection import Selection
from schedgap.bench.report.figures.sweeps import growth, pairs

__all__ = ["KINDS", "build_figures"]

KINDS = (pairs, growth, gaps, time_profile, gap_profile, anytime, scatter)


def build_figures(selection: Selection) -> tuple[Figure, ...]:
    """Return the figures that have something to show."""
    found = (kind(selection) for kind in KINDS)
    return tuple(figure for figure in found if figure is not None)
