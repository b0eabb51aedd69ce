"""How matplotlib draws curves of solutions, as the page's script does."""

from __future__ import annotations

from operator import attrgetter
from textwrap import shorten
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter

from schedgap.bench.report.plots import HEIGHT, WIDTH, add_legend, draw_curve, log_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from schedgap.bench.report.curve_data import CurveFigure

# Of an instance's name above the axes.
LETTERS = 70


def draw_curves(figure: Figure, shown: CurveFigure, methods: Sequence[str]) -> None:
    """Draw the curves of all methods over each other. methods : their names."""
    figure.set_size_inches(WIDTH + 1.4, HEIGHT)
    axes = figure.add_subplot()
    handles = [
        draw_curve(axes, line.method, methods[line.method], (line.x, line.y), is_step=line.is_step)
        for line in shown.lines
    ]
    axes.set(xlabel=shown.x, ylabel=shown.y)
    axes.set_title(f"{shown.title}\n{shorten(shown.instance, LETTERS, placeholder='…')}", fontsize="medium")
    x, y = ([value for line in shown.lines for value in values(line)] for values in (attrgetter("x"), attrgetter("y")))
    if shown.is_log_x:
        log_axis(axes, "x", x)
    elif _begins_at_zero(x):
        axes.set_xlim(left=0)
    if _begins_at_zero(y):
        axes.set_ylim(bottom=0)
    figures = FuncFormatter(lambda value, _: f"{float(f'{value:.6g}'):,.10g}")
    axes.xaxis.set_major_formatter(figures)
    axes.yaxis.set_major_formatter(figures)
    add_legend(figure, handles)


def _begins_at_zero(values: Sequence[float]) -> bool:
    """Whether an axis may begin at 0 without squeezing the curves."""
    return 0 <= min(values) < 0.4 * max(values)
