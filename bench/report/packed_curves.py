"""Curves of solutions, packed for the page: those of all methods on an instance, since they are shown over each other."""

from __future__ import annotations

import json
import math
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from schedgap.bench.report.budget import clipped
from schedgap.bench.report.curve_data import is_squeezed
from schedgap.bench.report.figure_data import thinned

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from schedgap.bench.report.budget import Budget
    from schedgap.bench.report.drilldown import Drilldown, InstanceView
    from schedgap.instances.picture import Curve, Picture

    # With the number of the run that they are of.
    Curves = list[tuple[int, Curve]]

# A chart is a few hundred pixels high: values are kept to this share of their axis' length, as a power of ten.
_DIGITS = 4
Entry = TypeVar("Entry", bound=tuple[object, ...])


class PackedCurves:
    """Curves as numbers: `heads` (title, x, y) and `columns` (values along an axis) are tables.

    A row is [instance, run of it, head, 1 for steps or 0, column of x, column of y]. left_out : instances that there was
    no room for all curves of.
    """

    def __init__(self) -> None:
        self.heads: dict[tuple[str, str, str], int] = {}
        self.columns: dict[tuple[float, ...], int] = {}
        self.rows: list[tuple[int, int, int, int, int, int]] = []
        self.left_out = 0
        self.size = 0

    def add(self, instance: int, run: int, curve: Curve, budget: Budget) -> None:
        """Pack a curve; `size` grows by the bytes of its JSON."""
        x, y = thinned(curve.x, curve.y, budget.curve)
        title, x_label, y_label = (clipped(text, budget.text) for text in (curve.title, curve.x_label, curve.y_label))
        head = self._number(self.heads, (title, x_label, y_label))
        columns = self._number(self.columns, _short(x)), self._number(self.columns, _short(y))
        self.rows.append((instance, run, head, int(curve.is_step), *columns))
        self.size += len(json.dumps(self.rows[-1], separators=(",", ":")))

    def to_json(self) -> dict[str, Any]:
        """Return tables and rows as the page's script reads them.

        logs : pairs of instance and head whose axis of x is logarithmic.
        """
        columns = list(self.columns)
        along: dict[tuple[int, int], list[tuple[float, ...]]] = {}
        for instance, _, head, _, x, _ in self.rows:
            along.setdefault((instance, head), []).append(columns[x])
        logs = [chart for chart, xs in along.items() if is_squeezed(xs)]
        return {"heads": list(self.heads), "columns": columns, "rows": self.rows, "logs": logs}

    def _number(self, table: dict[Entry, int], entry: Entry) -> int:
        if entry not in table:
            table[entry] = len(table)
            self.size += len(json.dumps(entry, separators=(",", ":")))
        return table[entry]


def pack_curves(
    pictures: Mapping[str, Picture], drilldown: Drilldown, methods: Collection[str], budget: Budget
) -> PackedCurves:
    """Return curves of these methods, those that have marks: by turns of the groups, as long as there is room.

    Of an instance there is one run of each method or none; further repetitions only as far as there is room.
    """
    packed = PackedCurves()
    turns: Counter[str] = Counter()
    waiting: list[tuple[int, int, tuple[Curves, Curves]]] = []
    for i, view in enumerate(drilldown.instances):
        curves = _curves(view, pictures, methods)
        if curves[0]:
            waiting.append((turns[view.group], i, curves))
            turns[view.group] += 1
    for _, i, (first, more) in sorted(waiting, key=itemgetter(0)):
        has_room = packed.size < budget.curve_bytes
        for j, curve in first if has_room else ():
            packed.add(i, j, curve, budget)
        for j, curve in more:
            has_room = packed.size < budget.curve_bytes
            if has_room:
                packed.add(i, j, curve, budget)
        packed.left_out += not has_room
    return packed


def _curves(view: InstanceView, pictures: Mapping[str, Picture], methods: Collection[str]) -> tuple[Curves, Curves]:
    """Return the curves of the first runs of the methods, and those of further repetitions."""
    first: dict[str, Curves] = {}
    more: Curves = []
    for j, run in enumerate(view.runs):
        if run.key in pictures and run.method in methods:
            own = [(j, curve) for curve in pictures[run.key].curves if curve.x]
            if run.method in first:
                more += own
            else:
                first[run.method] = own
    return [pair for own in first.values() for pair in own], more


def _short(values: Sequence[float]) -> tuple[float, ...]:
    """Return values with as many digits as a chart can show, as whole numbers where they are: shorter to write."""
    size = max(values) - min(values)
    rounded = (round(value, _digits(value, size)) for value in values)
    return tuple(int(value) if value.is_integer() else value for value in rounded)


def _digits(value: float, size: float) -> int:
    """Return decimals of a value: those that an axis of this length shows, and of small values as many that count."""
    shown = [_DIGITS - math.floor(math.log10(length)) for length in (size, 10 * abs(value)) if length > 0]
    return max(shown, default=0)
