"""Curves of solutions on the page: of as many instances as there is room for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from schedgap.bench.report.figures.packing import FigurePacker
from schedgap.bench.report.figures.solution_curves import MethodCurve, solution_figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.report.drilldown import Drilldown, InstanceView
    from schedgap.bench.report.figures.budget import Budget
    from schedgap.bench.report.figures.figure import Figure
    from schedgap.instances.picture import Picture

# Bytes of a point in JSON, at most.
POINT_BYTES = 20


@dataclass(frozen=True, slots=True)
class InstanceCurves:
    """figures : by number of the instance. left_out : instances that there was no room for all curves of."""

    figures: Mapping[int, Sequence[Figure]]
    left_out: int


def build_instance_curves(
    pictures: Mapping[str, Picture], drilldown: Drilldown, methods: Sequence[str], budget: Budget
) -> InstanceCurves:
    """Return figures of these methods, those that have marks: by turns of the groups, as long as there is room.

    Of an instance there is one run of each method or none; further repetitions only as far as there is room.
    """
    numbers = {method: i for i, method in enumerate(methods)}
    turns: Counter[str] = Counter()
    waiting: list[tuple[int, int, list[MethodCurve], list[MethodCurve]]] = []
    for i, view in enumerate(drilldown.instances):
        first, more = _of_instance(view, pictures, numbers)
        if first:
            waiting.append((turns[view.group], i, first, more))
            turns[view.group] += 1
    packer = FigurePacker()
    figures: dict[int, Sequence[Figure]] = {}
    left_out = 0
    for _, i, first, more in sorted(waiting, key=itemgetter(0)):
        room = budget.curve_bytes - packer.size
        kept = more[: max(0, room - _bytes(first, budget)) // max(1, _bytes(more[:1], budget))]
        left_out += room <= 0 or len(kept) < len(more)
        if room > 0:
            figures[i] = solution_figures(first + kept, drilldown.instances[i].name, budget)
            for figure in figures[i]:
                packer.pack(figure)
    return InstanceCurves(figures, left_out)


def _bytes(curves: Sequence[MethodCurve], budget: Budget) -> int:
    """Return about how many bytes the page takes for these curves."""
    return sum(POINT_BYTES * min(len(curve.curve.x), budget.curve) for curve in curves)


def _of_instance(
    view: InstanceView, pictures: Mapping[str, Picture], numbers: Mapping[str, int]
) -> tuple[list[MethodCurve], list[MethodCurve]]:
    """Return the curves of the first runs of the methods, and those of further repetitions."""
    first: dict[str, list[MethodCurve]] = {}
    more: list[MethodCurve] = []
    for run in view.runs:
        if run.key in pictures and run.method in numbers:
            name = run.method + ("" if run.repetition is None else f", repetition {run.repetition}")
            own = [MethodCurve(numbers[run.method], name, curve) for curve in pictures[run.key].curves if curve.x]
            if run.method in first:
                more += own
            else:
                first[run.method] = own
    return [curve for own in first.values() for curve in own], more
