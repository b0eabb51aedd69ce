"""How matplotlib draws each figure; `figures` writes them, the page's script draws the same by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from schedgap.bench.report.palette import DASHES, LIGHT, SHAPES, mark
from schedgap.bench.report.tables import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from schedgap.bench.report.figure_data import Curves, FigureData

# Inches: two of these widths fill a page of two columns.
WIDTH, HEIGHT = 6.0, 3.4
ROW = 0.32
# Of the axes with their numbers, and in a legend of the mark and of a letter.
LEAST_AXES, KEY, LETTER = 4.6, 0.6, 0.07
# Up to so many methods the legend has one column.
COLUMN = 14
# A logarithmic axis goes no further down from the top.
MOST_DECADES = 6


@dataclass(frozen=True, slots=True)
class Plot:
    """is_there : whether the data has what the figure shows. draw : draws it."""

    is_there: Callable[[FigureData], bool]
    draw: Callable[[Figure, FigureData], None]


def _gaps(figure: Figure, data: FigureData) -> None:
    spreads = data.scopes[0].spreads
    figure.set_size_inches(WIDTH + 1, 0.8 + ROW * len(spreads))
    axes = figure.add_subplot()
    for row, (method, spread) in enumerate(spreads.items()):
        colour = LIGHT[mark(method).colour]
        own = [gap for number, gap in zip(data.points.method, data.points.gap, strict=True) if number == method]
        # Places that look like chance and are always the same.
        heights = row + 0.5 * ((np.arange(len(own)) * 0.6180339887498949) % 1 - 0.5)
        axes.plot(own, heights, ".", color=colour, alpha=0.35, markersize=3, markeredgewidth=0)
        box = {"med": spread.median, "q1": spread.lower, "q3": spread.upper, "whislo": spread.least}
        axes.bxp(
            [{**box, "whishi": spread.most, "mean": spread.mean}],
            positions=[row],
            orientation="horizontal",
            widths=0.6,
            showfliers=False,
            showmeans=True,
            meanprops={"marker": SHAPES[mark(method).shape][1], "markerfacecolor": colour, "markeredgecolor": "white"},
            medianprops={"color": colour, "linewidth": 2},
            boxprops={"color": colour},
            whiskerprops={"color": colour},
            capprops={"color": colour},
        )
    axes.set_yticks(range(len(spreads)), [_name(data, method) for method in spreads])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(_gap_title(data))
    _gap_axis(axes, "x", data, [value for s in spreads.values() for value in (s.least, s.median, s.most)])


def _curves(figure: Figure, data: FigureData, curves: Curves, titles: tuple[str, str]) -> Axes:
    curves = {method: curve for method, curve in curves.items() if method not in data.fruitless}
    figure.set_size_inches(WIDTH + 1.4, max(HEIGHT, 0.2 * min(len(curves), COLUMN)))
    axes = figure.add_subplot()
    last = max((x[-1] for x, _ in curves.values()), default=1.0)
    handles = [
        draw_curve(axes, method, data.methods[method], ([*x, max(last, x[-1])], [*y, y[-1]]), is_step=True)
        for method, (x, y) in curves.items()
    ]
    axes.set(xlabel=titles[0], ylabel=titles[1])
    add_legend(figure, handles)
    return axes


def draw_curve(
    axes: Axes, method: int, label: str, curve: tuple[Sequence[float], Sequence[float]], *, is_step: bool
) -> Line2D:
    """Draw the curve of the method with this number, and return what stands for it in the legend."""
    chosen = mark(method)
    (line,) = axes.plot(
        *curve,
        drawstyle="steps-post" if is_step else "default",
        color=LIGHT[chosen.colour],
        marker=SHAPES[chosen.shape][1],
        markevery=(0.02 * (method % 8), 0.22),
        markersize=4,
        linewidth=1.3,
        label=_in_two_lines(label),
    )
    _dash(line, chosen.dash)
    return line


def _time_profile(figure: Figure, data: FigureData) -> None:
    axes = _curves(figure, data, data.scopes[0].time_profile, ("time / fastest method's", "share of runs solved"))
    axes.set_xscale("log")
    _shares(axes)


def _gap_profile(figure: Figure, data: FigureData) -> None:
    curves = data.scopes[0].gap_profile
    axes = _curves(figure, data, curves, ("gap", "share of runs"))
    _gap_axis(axes, "x", data, [gap for x, _ in curves.values() for gap in x])
    _shares(axes)


def _anytime(figure: Figure, data: FigureData) -> None:
    curves = data.scopes[0].anytime
    axes = _curves(figure, data, curves, ("seconds since the start", "mean gap so far"))
    axes.set_xscale("log")
    _gap_axis(axes, "y", data, [gap for _, y in curves.values() for gap in y])


def _scatter(figure: Figure, data: FigureData) -> None:
    figure.set_size_inches(WIDTH + 1.4, HEIGHT + 0.6)
    axes = figure.add_subplot()
    methods = np.array(data.points.method)
    walls, gaps = np.array(data.points.wall_s), np.array(data.points.gap)
    for method in dict.fromkeys(data.points.method):
        own, chosen = methods == method, mark(method)
        colour = LIGHT[chosen.colour]
        axes.plot(walls[own], gaps[own], ".", color=colour, alpha=0.4, markersize=4, markeredgewidth=0)
        axes.plot(
            np.median(walls[own]),
            np.median(gaps[own]),
            SHAPES[chosen.shape][1],
            color=colour,
            markersize=8,
            markeredgecolor="white",
            label=_name(data, method),
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value)))
    axes.set(xlabel="time of a run", ylabel=_gap_title(data))
    _gap_axis(axes, "y", data, gaps.tolist())
    add_legend(figure, axes.get_legend_handles_labels()[0])


def _paper(figure: Figure, data: FigureData) -> None:
    figure.set_size_inches(WIDTH + 1, 1 + 1.3 * ROW * len(data.pairs))
    axes = figure.add_subplot()
    for row, pair in enumerate(data.pairs):
        chosen = mark(pair.method)
        shared: dict[str, Any] = {"fmt": SHAPES[chosen.shape][1], "color": LIGHT[chosen.colour], "markersize": 6}
        axes.errorbar(pair.ours, row - 0.14, xerr=pair.ours_std, label="ours", **shared)
        axes.errorbar(pair.paper, row + 0.14, xerr=pair.paper_std, markerfacecolor="white", label="paper", **shared)
    several = len({pair.group for pair in data.pairs}) > 1
    names = [_name(data, pair.method) + (f", {pair.group}" if several else "") for pair in data.pairs]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("cost / optimum (filled: ours, hollow: the paper's)")


def _growth(figure: Figure, data: FigureData) -> None:
    figure.set_size_inches(WIDTH + 1.4, HEIGHT)
    axes = figure.add_subplot()
    for line in data.growth:
        chosen = mark(line.method)
        shape, colour = SHAPES[chosen.shape][1], LIGHT[chosen.colour]
        name = ", ".join(filter(None, (_name(data, line.method), data.groups[line.group])))
        (drawn,) = axes.plot(line.tasks, line.median_s, marker=shape, color=colour, markersize=4, label=name)
        _dash(drawn, line.group % len(DASHES))
        if line.paper:
            style: dict[str, Any] = {"marker": shape, "color": colour, "markerfacecolor": "white", "linestyle": "none"}
            axes.plot(*zip(*line.paper, strict=True), label=f"{name}: the paper", **style)
    axes.set(xscale="log", yscale="log", xlabel="tasks", ylabel="median time")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value)))
    add_legend(figure, axes.get_legend_handles_labels()[0])


def _gap_title(data: FigureData) -> str:
    return "gap" if data.has_bounds else "above the best known solution"


def _name(data: FigureData, method: int) -> str:
    return _in_two_lines(data.methods[method])


def _in_two_lines(label: str) -> str:
    """Return a method's name with its parameters on a line of their own."""
    return label.replace("[", "\n[", 1)


def _gap_axis(axes: Axes, which: str, data: FigureData, gaps: list[float]) -> None:
    """Show gaps as percentages; where they are wide apart, logarithmically but for a place for 0."""
    positive = [gap for gap in gaps if gap > 0]
    if data.is_wide and positive:
        floor = 10.0 ** max(np.floor(np.log10(min(positive))), np.floor(np.log10(max(positive))) - 6)
        getattr(axes, f"set_{which}scale")("symlog", linthresh=floor, linscale=0.4)
        getattr(axes, f"set_{which}lim")(-0.3 * floor, 1.5 * max(positive))
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{float(f'{100 * value:.3g}'):g}%"))


def log_axis(axes: Axes, which: str, values: Sequence[float]) -> None:
    """Make the axis of x or y logarithmic, for values of 0 or more; where 0 occurs, with a place for it."""
    positive = [value for value in values if value > 0]
    top = 1.15 * max(positive)
    floor = max(min(positive) / 1.15, top / 10**MOST_DECADES)
    if len(positive) < len(values):
        getattr(axes, f"set_{which}scale")("symlog", linthresh=floor, linscale=0.3)
        getattr(axes, f"set_{which}lim")(-0.1 * floor, top)
    else:
        getattr(axes, f"set_{which}scale")("log")
        getattr(axes, f"set_{which}lim")(floor, top)
    (axes.xaxis if which == "x" else axes.yaxis).set_minor_formatter(NullFormatter())


def _shares(axes: Axes) -> None:
    axes.set_ylim(-0.02, 1.04)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _dash(line: Any, number: int) -> None:
    if DASHES[number]:
        line.set_dashes([float(length) / 1.8 for length in DASHES[number].split()])


def add_legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """Put the legend beside the axes, and make the figure as large as that takes."""
    columns = 1 + (len(handles) - 1) // COLUMN if handles else 1
    names = [line for handle in handles for line in str(handle.get_label()).split("\n")]
    beside = columns * (KEY + LETTER * max(map(len, names), default=0))
    width, height = figure.get_size_inches()
    figure.set_size_inches(max(width, LEAST_AXES + beside), max(height, ROW * min(len(handles), COLUMN)))
    figure.legend(handles=handles, loc="outside right upper", ncols=columns)


PLOTS = {
    "paper": Plot(lambda data: bool(data.pairs), _paper),
    "growth": Plot(lambda data: bool(data.growth), _growth),
    "gaps": Plot(lambda data: bool(data.scopes and data.scopes[0].spreads), _gaps),
    "time-profile": Plot(lambda data: bool(data.scopes and data.scopes[0].time_profile), _time_profile),
    "gap-profile": Plot(lambda data: data.has_bounds, _gap_profile),
    "anytime": Plot(lambda data: bool(data.scopes and data.scopes[0].anytime), _anytime),
    "scatter": Plot(lambda data: bool(data.points.gap), _scatter),
}
