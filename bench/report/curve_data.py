"""Curves of solutions for figures in papers: those of all methods over each other, of one instance of each group."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from schedgap.bench.report.budget import clipped
from schedgap.bench.report.figure_data import thinned
from schedgap.bench.statistics.summary import verified_objective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.report.budget import Budget
    from schedgap.instances.picture import Picture

# An axis is logarithmic if half of the points are within so small a share of it.
SQUEEZED = 0.05


@dataclass(frozen=True, slots=True)
class CurveLine:
    """method : its number. x, y : (N,), x ascending. is_step : whether each value is kept until the next."""

    method: int
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_step: bool


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """One figure. x, y : titles of the axes. instance : whose solutions these are. lines : of a method each.

    is_log_x : whether the axis of x is logarithmic.
    """

    title: str
    x: str
    y: str
    instance: str
    is_log_x: bool
    lines: tuple[CurveLine, ...]


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
) -> tuple[CurveFigure, ...]:
    """Return a figure for each group of instances and title of a curve, of one run a method.

    methods : that have marks; others are not drawn.
    """
    numbers = {method: i for i, method in enumerate(methods)}
    figures = [figure for own in drawn_instances(records) for figure in _figures(own, pictures, numbers, budget)]
    return tuple(figures[: budget.curve_figures])


def _figures(
    records: Sequence[Record], pictures: Mapping[str, Picture], numbers: Mapping[str, int], budget: Budget
) -> list[CurveFigure]:
    found: dict[tuple[str, str, str], dict[int, CurveLine]] = {}
    for record in records:
        number = numbers.get(clipped(record.run.label, budget.text))
        if number is None or record.key not in pictures:
            continue
        for curve in pictures[record.key].curves:
            if curve.x:
                line = CurveLine(number, *thinned(curve.x, curve.y, budget.curve), curve.is_step)
                # Of a stochastic method the first repetition.
                found.setdefault((curve.title, curve.x_label, curve.y_label), {}).setdefault(number, line)
    instance = clipped(records[0].run.instance, budget.text)
    return [
        CurveFigure(*head, instance, is_squeezed([line.x for line in lines.values()]), tuple(lines.values()))
        for head, lines in found.items()
    ]
