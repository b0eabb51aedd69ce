"""What a figure shows, stated once as plain data: the page's script and matplotlib draw any figure from it.

Neither of the two knows what a figure is about, so that a new kind of figure is a function that returns a `Figure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedgap.bench.statistics import tables

if TYPE_CHECKING:
    from collections.abc import Collection

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


def seconds(value: float) -> str:
    """Return a time in the unit that fits."""
    return tables.seconds(value).replace(" us", " µs")
