"""How matplotlib draws a figure.

Marks of methods: eight colours for each theme, then other shapes and dashes, so that 48 methods differ.

The colours were searched for: each has a contrast of 3:1 or more to the page, and any two of a theme are at least 12
apart in OKLab (x 100), also as seen with protanopia, deuteranopia and (at 0.8 of that) tritanopia after Machado et al.
(2009). Okabe and Ito's eight reach 7.6.

What a figure shows, stated once as plain data: the page's script and matplotlib draw any figure from it.

Neither of the two knows what a figure is about, so that a new kind of figure is a function that returns a `Figure`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from matplotlib import figure as mpl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from schedgap.bench.report.tables import seconds

LIGHT = ("#124aa7", "#ed7010", "#4ca48b", "#d16be8", "#646217", "#177c8f", "#262066", "#434243")
DARK = ("#3884fe", "#fb9c25", "#2d8636", "#a052a0", "#edec70", "#a3f6f6", "#d0a8fe", "#999999")
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16181b"
# Outlines about the origin, in SVG's path language, and what matplotlib calls them.
SHAPES = (
    ("M-4,0A4,4 0 1 0 4,0A4,4 0 1 0 -4,0Z", "o"),
    ("M-3.5,-3.5H3.5V3.5H-3.5Z", "s"),
    ("M0,-4.6L4.4,3.4H-4.4Z", "^"),
    ("M0,-5L5,0L0,5L-5,0Z", "D"),
    ("M0,4.6L4.4,-3.4H-4.4Z", "v"),
    ("M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z", "P"),
)
DASHES = ("", "6 3", "2 2", "9 3 2 3", "12 4", "1 4")


@dataclass(frozen=True, slots=True)
class Mark:
    """How a method looks in every figure: indices into the colours, `SHAPES` and `DASHES`."""

    colour: int
    shape: int
    dash: int


def mark(index: int) -> Mark:
    """Return the mark of the method with this number; the first 48 all differ, also without their colours' help.

    Methods of one colour are 8 apart; their shapes go on by 7, which is prime to the number of shapes.
    """
    turn = index // len(LIGHT)
    return Mark(index % len(LIGHT), (index - turn) % len(SHAPES), turn % len(DASHES))


Column = tuple[float, ...]
# Along an axis: as they are; by their logarithm, with a place of its own for 0; gaps, for which the page has a switch
# between these two; shares from 0 to 1; and names, a row each.
Scale = Literal["linear", "log", "gap", "share", "rows"]
Unit = Literal["number", "percent", "seconds", "times", "share"]
# Straight from point to point, a value up to the next point, or besides that the last one up to the end of the axis.
Line = Literal["", "line", "step", "held"]
# At some places of a line, at each point, hollow, large, small dots, or short strokes.
Marks = Literal["", "few", "all", "hollow", "large", "dots", "strokes"]
# What a series of a method is besides measured: each kind is shown and hidden as a whole.
Role = Literal["", "model", "paper"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis. includes : a value that is on it in any case. told : how the page tells of a place on it, `{}` is where.

    names : of the rows, from the top.
    """

    title: str
    scale: Scale = "linear"
    unit: Unit = "number"
    includes: float | None = None
    told: str = "{}"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """What has one method's mark. x, y : (N,) each; y is empty in a row.

    method : number of the mark. row, shift : number of its row, and how far below the row's middle as a share of it.
    dash : number of its dashes. spans : ends of a line through each point, across x, in a row along it. box : quartiles.
    scope : of which choice of instances it is, None for all. group : of which group of instances, None for none.
    text : what its points tell, or each of them; `{x}`, `{y}`, `{seconds}` and `{instance}` are of the point. said : a
    summary for those who do not see it. seconds, instances : (N,), of the points; numbers of instances' names.
    """

    method: int
    name: str
    x: Column
    y: Column = ()
    line: Line = ""
    marks: Marks = ""
    dash: int = 0
    row: int | None = None
    shift: float = 0.0
    spans: tuple[Column, Column] | None = None
    box: tuple[float, float, float] | None = None
    role: Role = ""
    scope: int | None = None
    group: int | None = None
    text: str | tuple[str, ...] = ""
    said: str = ""
    seconds: Column = ()
    instances: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. name : of its file. note : below its title on the page. heading : lines above it in a file.

    is_broad : whether the page gives it all its width. has_own_legend : whether marks belong to series of this figure
    and others like it, rather than to the page's methods. is_lower_better : how the page sorts values.
    """

    name: str
    title: str
    note: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    heading: tuple[str, ...] = ()
    is_broad: bool = False
    has_own_legend: bool = False
    is_lower_better: bool = False

    def of_all(self, off: Collection[int] = ()) -> tuple[Series, ...]:
        """Return the series of all instances together but for methods that are off."""
        return tuple(s for s in self.series if s.scope in (None, 0) and (self.has_own_legend or s.method not in off))


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
