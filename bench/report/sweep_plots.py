"""How matplotlib draws a measure over a parameter, as the page's script does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from schedgap.bench.report.palette import LIGHT, SHAPES, mark
from schedgap.bench.report.plots import HEIGHT, WIDTH, add_legend, log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedgap.bench.report.sweep_data import Strand, SweepView

NEUTRAL = "#5a6069"


def draw_sweep(figure: Figure, sweep: SweepView) -> None:
    """Draw a figure: measured solid with the least and the most, predicted dashed, the paper's hollow."""
    axes = figure.add_subplot()
    handles = [_strand(axes, strand) for strand in sweep.strands]
    if sweep.has_predictions:
        handles.append(Line2D([], [], color=NEUTRAL, linestyle="--", linewidth=1.1, label="model"))
    if sweep.has_paper:
        handles.append(
            Line2D([], [], color=NEUTRAL, linestyle="none", marker="o", markerfacecolor="white", label="the paper")
        )
    figure.set_size_inches(WIDTH + 1.4, HEIGHT)
    axes.set(xlabel=sweep.x, ylabel=sweep.y, title=sweep.title)
    shown = FuncFormatter(lambda value, _: f"{float(f'{value:.4g}'):,g}")
    if sweep.is_log_x:
        axes.set_xscale("log")
    if sweep.is_log_y:
        paths = [path for strand in sweep.strands for path in (strand.measured, strand.predicted) if path is not None]
        values = [value for path in paths for value in (*path.least, *path.most)]
        log_axis(axes, "y", values + [y for strand in sweep.strands for _, y, _ in strand.paper])
    axes.xaxis.set_major_formatter(shown)
    axes.yaxis.set_major_formatter(shown)
    add_legend(figure, handles)


def _strand(axes: Axes, strand: Strand) -> Line2D:
    """Draw one strand and return what stands for it in the legend."""
    chosen = mark(strand.number)
    shape, colour = SHAPES[chosen.shape][1], LIGHT[chosen.colour]
    name = strand.name.replace("[", "\n[", 1)
    if strand.predicted is not None:
        path = strand.predicted
        axes.plot(path.x, path.mean, color=colour, linestyle="--", linewidth=1.1, marker="_", markersize=7)
    if strand.measured is not None:
        path = strand.measured
        axes.vlines(path.x, path.least, path.most, color=colour, linewidth=0.9)
        axes.plot(path.x, path.mean, color=colour, marker=shape, markersize=4.5, linewidth=1.3)
    hollow: dict[str, Any] = {"marker": shape, "markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.3}
    for x, y, _ in strand.paper:
        axes.plot(x, y, color=colour, linestyle="none", zorder=3, **hollow)
    if strand.measured is None:
        return Line2D([], [], color=colour, linestyle="--", linewidth=1.1, label=name)
    return Line2D([], [], color=colour, marker=shape, markersize=4.5, linewidth=1.3, label=name)
