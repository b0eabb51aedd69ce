"""How matplotlib draws a figure."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from schedgap.bench.report.figures.figure import Axis, Figure, Marks, Role, Series, Unit, seconds
from schedgap.bench.report.figures.palette import DASHES, LIGHT, SHAPES, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from matplotlib import figure as mpl
    from matplotlib.axes import Axes


# Inches: two of these widths fill a page of two columns.
WIDTH, HEIGHT = 6.0, 3.4
ROW = 0.32
# Of the axes with their numbers, and in a legend of the mark and of a letter.
LEAST_AXES, KEY, LETTER = 4.6, 0.6, 0.07
# Up to so many methods the legend has one column.
COLUMN = 14
# A logarithmic axis goes no further down from the top.
MOST_DECADES = 6
NEUTRAL = "#5a6069"
# Places that look like chance and are always the same.
GOLDEN = 0.6180339887498949
ROLES: Mapping[Role, Mapping[str, Any]] = {
    "model": {"label": "model", "linestyle": "--", "linewidth": 1.1},
    "paper": {"label": "the paper", "linestyle": "none", "marker": "o", "markerfacecolor": "white"},
}
TICKS: Mapping[Unit, Callable[[float], str]] = {
    "number": lambda value: f"{float(f'{value:.6g}'):,.10g}",
    "percent": lambda value: f"{float(f'{100 * value:.3g}'):g}%",
    "seconds": seconds,
    "times": lambda value: f"{float(f'{value:.6g}'):,.10g}×",
    "share": lambda value: f"{100 * value:.0f}%",
}
_MARKS: Mapping[Marks, Mapping[str, Any]] = {
    "": {},
    "few": {"markersize": 4},
    "all": {"markersize": 4.5},
    "hollow": {"markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.3, "zorder": 3},
    "large": {"markersize": 8, "markeredgecolor": "white"},
    "dots": {"marker": ".", "alpha": 0.38, "markersize": 4, "markeredgewidth": 0},
    "strokes": {"marker": "_", "markersize": 7},
}


def draw(target: mpl.Figure, figure: Figure, off: Collection[int], *, is_wide: bool) -> None:
    """Draw the series of all instances. off : methods that are not drawn. is_wide : whether axes of gaps are logarithmic."""
    shown = figure.of_all(off)
    rows = len(figure.y.names)
    target.set_size_inches(WIDTH + 1.4, HEIGHT)
    if rows:
        target.set_size_inches(WIDTH + 1, 0.8 + ROW * rows)
    axes = target.add_subplot()
    end = max((x for series in shown for x in series.x), default=1.0)
    chance = count()
    for series in shown:
        _draw_series(axes, series, end, chance)
    spans = [value for series in shown for ends in series.spans or () for value in ends]
    xs = [x for series in shown for x in (*series.x, *(series.box or ()))] + (spans if rows else [])
    ys = [y for series in shown for y in series.y] + ([] if rows else spans)
    _set_axis(axes, "x", figure.x, xs, is_wide=is_wide)
    _set_axis(axes, "y", figure.y, ys, is_wide=is_wide)
    if figure.heading:
        axes.set_title("\n".join(figure.heading), fontsize="medium")
    add_legend(target, _legend(figure, shown))


def _draw_series(axes: Axes, series: Series, end: float, chance: Iterator[int]) -> None:
    colour = LIGHT[mark(series.method).colour]
    xs, ys = series.x, series.y
    if series.row is not None:
        ys = (series.row + series.shift,) * len(xs)
        if series.marks == "dots":
            ys = tuple(y + 0.5 * (next(chance) * GOLDEN % 1 - 0.5) for y in ys)
    if series.spans is not None:
        lines = axes.vlines if series.row is None else axes.hlines
        lines(xs if series.row is None else ys, *series.spans, color=colour, linewidth=0.9)
    if series.box is not None and series.row is not None:
        lower, middle, upper = series.box
        corner = lower, series.row - 0.3
        axes.add_patch(Rectangle(corner, upper - lower, 0.6, facecolor=(colour, 0.16), edgecolor=colour))
        axes.vlines(middle, series.row - 0.3, series.row + 0.3, color=colour, linewidth=2)
    if series.line == "held":
        xs, ys = (*xs, max(end, xs[-1])), (*ys, ys[-1])
    axes.add_line(_line(series, xs, ys))
    axes.update_datalim(list(zip(xs, ys, strict=True)))


def _line(series: Series, xs: Sequence[float], ys: Sequence[float]) -> Line2D:
    """Return the line and the marks of a series, which also stand for it in a legend."""
    chosen = mark(series.method)
    style: dict[str, Any] = {"marker": SHAPES[chosen.shape][1], "linewidth": 1.3} | dict(_MARKS[series.marks])
    if not series.line:
        style["linestyle"] = "none"
    elif series.role == "model":
        style |= {"linestyle": "--", "linewidth": 1.1}
    elif DASHES[series.dash]:
        style["linestyle"] = (0, tuple(float(length) / 1.8 for length in DASHES[series.dash].split()))
    if series.marks == "few":
        style["markevery"] = (0.02 * (series.method % 8), 0.22)
    if series.line in ("step", "held"):
        style["drawstyle"] = "steps-post"
    return Line2D(xs, ys, color=LIGHT[chosen.colour], label=in_two_lines(series.name), **style)


def _legend(figure: Figure, shown: Sequence[Series]) -> list[Line2D]:
    """Return what stands for each name, unless rows have it, and for what is not measured."""
    handles: dict[str, Line2D] = {}
    if not figure.y.names:
        for series in shown:
            if series.marks != "dots":
                handles.setdefault(series.name, _line(series, (), ()))
    roles = [role for role in ROLES if any(series.role == role for series in shown)]
    return list(handles.values()) + [Line2D([], [], color=NEUTRAL, **ROLES[role]) for role in roles]


def _set_axis(axes: Axes, which: str, axis: Axis, values: list[float], *, is_wide: bool) -> None:
    shown = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}label": axis.title})
    values = values if axis.includes is None else [*values, axis.includes]
    if axis.scale == "rows":
        axes.set_yticks(range(len(axis.names)), [in_two_lines(name) for name in axis.names])
        axes.set_ylim(len(axis.names) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        return
    if axis.scale == "share":
        axes.set(**{f"{which}lim": (-0.02, 1.04)})
    elif axis.scale == "log" or (axis.scale == "gap" and is_wide and any(value > 0 for value in values)):
        log_axis(axes, which, values, is_gap=axis.scale == "gap")
    elif values:
        axes.set(**{f"{which}lim": linear_ends(values, is_gap=axis.scale == "gap")})
    shown.set_major_formatter(FuncFormatter(lambda value, _: TICKS[axis.unit](value)))
    shown.set_minor_formatter(NullFormatter())


def linear_ends(values: Sequence[float], *, is_gap: bool) -> tuple[float, float]:
    """Return the ends of a linear axis: it begins at 0 where that does not squeeze the values."""
    least, most = min(values), max(values)
    room = 0.05 * (most - least or abs(most) or 1.0)
    begins_at_0 = is_gap or 0 <= least < 0.4 * most
    return (-0.2 * room * is_gap if begins_at_0 else least - room), most + room


def log_axis(axes: Axes, which: str, values: Sequence[float], *, is_gap: bool) -> None:
    """Make the axis of x or y logarithmic, for values of 0 or more; where 0 occurs, or may, with a place for it."""
    positive = [value for value in values if value > 0] or [1.0]
    top = 1.15 * max(positive)
    floor = max(min(positive) / 1.15, top / 10**MOST_DECADES)
    if not is_gap and len(positive) == len(values):
        axes.set(**{f"{which}scale": "log", f"{which}lim": (floor, top)})
        return
    # From a power of ten on, so that its label and that of 0 do not run into each other.
    floor = 10.0 ** np.floor(np.log10(floor))
    getattr(axes, f"set_{which}scale")("symlog", linthresh=floor, linscale=0.6)
    axes.set(**{f"{which}lim": (-0.1 * floor, top)})


def in_two_lines(label: str) -> str:
    """Return a method's name with its parameters on a line of their own."""
    return label.replace("[", "\n[", 1)


def add_legend(target: mpl.Figure, handles: Sequence[Line2D]) -> None:
    """Put the legend beside the axes, and make the figure as large as that takes."""
    if not handles:
        return
    columns = 1 + (len(handles) - 1) // COLUMN
    names = [line for handle in handles for line in str(handle.get_label()).split("\n")]
    beside = columns * (KEY + LETTER * max(map(len, names)))
    width, height = target.get_size_inches()
    target.set_size_inches(max(width, LEAST_AXES + beside), max(height, ROW * min(len(handles), COLUMN)))
    target.legend(handles=handles, loc="outside right upper", ncols=columns)
