"""How matplotlib draws a measure over a parameter, as the page's script does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from schedgap.bench.report.palette import LIGHT, SHAPES, mark
from schedgap.bench.report.plots import HEIGHT, WIDTH, add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedgap.bench.report.sweep_data import Strand, SweepView

# A logarithmic axis goes no further down from the top.
MOST_DECADES = 6
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
        _log_axis(axes, sweep)
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


def _log_axis(axes: Axes, sweep: SweepView) -> None:
    """Make the axis logarithmic; where 0 occurs, with a place for it at the bottom."""
    paths = [path for strand in sweep.strands for path in (strand.measured, strand.predicted) if path is not None]
    values = [value for path in paths for value in (*path.least, *path.most)]
    values += [y for strand in sweep.strands for _, y, _ in strand.paper]
    positive = [value for value in values if value > 0]
    top = 1.15 * max(positive)
    floor = max(min(positive) / 1.15, top / 10**MOST_DECADES)
    if len(positive) < len(values):
        axes.set_yscale("symlog", linthresh=floor, linscale=0.3)
        axes.set_ylim(-0.1 * floor, top)
    else:
        axes.set_yscale("log")
        axes.set_ylim(floor, top)
    axes.yaxis.set_minor_formatter(NullFormatter())
