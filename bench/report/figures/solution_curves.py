"""Curves of the solutions of one instance, those of all methods over each other: a figure for each title."""

from __future__ import annotations

from statistics import median
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from schedgap.bench.report.figures.budget import Budget, clipped
from schedgap.bench.report.figures.figure import Axis, Figure, Series
from schedgap.bench.report.figures.palette import mark
from schedgap.bench.report.figures.selection import thinned
from schedgap.bench.statistics.summary import verified_objective

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.instances.picture import Curve, Picture

# An axis is logarithmic if half of the points are within so small a share of it.
SQUEEZED = 0.05
# Of an instance's name above the axes of a file.
LETTERS = 70


class MethodCurve(NamedTuple):
    """A curve of the solution of the method with this number; name : with the repetition, where there are several."""

    method: int
    name: str
    curve: Curve


def is_squeezed(along: Sequence[Sequence[float]]) -> bool:
    """Whether most points of these curves would lie in a small part of a linear axis, next to 0.

    So it is with the quantiles of what has a long tail, and never with what goes on evenly.
    """
    values = [value for x in along for value in x]
    return min(values) >= 0 and 0 < median(values) < SQUEEZED * max(values)


def drawn_instances(records: Sequence[Record]) -> list[list[Record]]:
    """Return the runs with a verified solution on the first instance of each group that has any."""
    chosen: dict[str, list[Record]] = {}
    for record in records:
        if verified_objective(record) is not None:
            own = chosen.setdefault(record.run.group, [])
            if not own or own[0].run.digest == record.run.digest:
                own.append(record)
    return list(chosen.values())


def build_curve_figures(
    records: Sequence[Record], pictures: Mapping[str, Picture], methods: Sequence[str], budget: Budget
) -> tuple[Figure, ...]:
    """Return figures for papers: for each group of instances those of its first, with one run a method.

    methods : that have marks; others are not drawn.
    """
    numbers = {method: i for i, method in enumerate(methods)}
    figures: list[Figure] = []
    for own in drawn_instances(records):
        # Of a stochastic method the first repetition.
        first: dict[int, Record] = {}
        for record in own:
            number = numbers.get(clipped(record.run.label, budget.text))
            if number is not None and record.key in pictures:
                first.setdefault(number, record)
        curves = [
            MethodCurve(number, methods[number], curve)
            for number, record in first.items()
            for curve in pictures[record.key].curves
            if curve.x
        ]
        instance = clipped(own[0].run.instance, budget.text)
        figures += solution_figures(curves, instance, budget, len(figures) + 1)
    return tuple(figures[: budget.curve_figures])


def solution_figures(curves: Iterable[MethodCurve], instance: str, budget: Budget, first: int = 1) -> list[Figure]:
    """Return a figure for each title of these curves, numbered from `first`."""
    found: dict[tuple[str, str, str], list[Series]] = {}
    for method, name, curve in curves:
        head = (
            clipped(curve.title, budget.text),
            clipped(curve.x_label, budget.text),
            clipped(curve.y_label, budget.text),
        )
        x, y = thinned(curve.x, curve.y, budget.curve)
        line = Series(method, name, x, y, line="step" if curve.is_step else "line", marks="few", dash=mark(method).dash)
        found.setdefault(head, []).append(line)
    return [
        Figure(
            f"curve-{i}",
            title,
            f"{y} by {x}",
            Axis(x, "log" if is_squeezed([line.x for line in lines]) else "linear", told=f"{x} {{}}\n{y}"),
            Axis(y),
            tuple(lines),
            heading=(title, shorten(instance, LETTERS, placeholder="…")),
        )
        for i, ((title, x, y), lines) in enumerate(found.items(), start=first)
    ]
