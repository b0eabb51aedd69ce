"""Figures as short JSON for the page: columns of numbers that several series share are written once."""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from schedgap.bench.report.figures.figure import Axis, Figure, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

# A chart is a few hundred pixels high: values are kept to this share of their axis' length, as a power of ten.
_DIGITS = 4
_DEFAULTS = {
    kind: {field.name: field.default for field in fields(kind) if field.default is not MISSING}
    for kind in (Axis, Figure, Series)
}


class FigurePacker:
    """Packs figures. methods : their names. columns : with their numbers. size : bytes of JSON so far."""

    def __init__(self, methods: Sequence[str] = ()) -> None:
        self.methods = methods
        self.columns: dict[tuple[float, ...], int] = {}
        self.size = 0

    def pack(self, figure: Figure) -> dict[str, Any]:
        """Return a figure as the page's script reads it: what has its default is left out, columns are numbers.

        A series has no name where that is its method's.
        """
        packed = _told(figure) | {
            "x": _told(figure.x),
            "y": _told(figure.y),
            "series": [self._series(series) for series in figure.series],
        }
        self.size += _bytes(packed)
        return packed

    def _series(self, series: Series) -> dict[str, Any]:
        packed = _told(series)
        if self.methods[series.method : series.method + 1] == (series.name,):
            del packed["name"]
        for name in ("x", "y", "seconds", "instances"):
            if name in packed:
                packed[name] = self._number(getattr(series, name))
        if series.spans is not None:
            packed["spans"] = [self._number(ends) for ends in series.spans]
        if series.box is not None:
            packed["box"] = short_column(series.box)
        return packed

    def _number(self, column: Sequence[float]) -> int:
        short = short_column(column)
        if short not in self.columns:
            self.columns[short] = len(self.columns)
            self.size += _bytes(short)
        return self.columns[short]


def _told(spec: Axis | Figure | Series) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    defaults = _DEFAULTS[type(spec)]
    given = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return {name: value for name, value in given.items() if name not in defaults or value != defaults[name]}


def _bytes(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def short_column(values: Sequence[float]) -> tuple[float, ...]:
    """Return values with as many digits as a chart can show, as whole numbers where they are: shorter to write.

    Decimals are those that an axis of this length shows, and of small values as many that count.
    """
    size = max(values) - min(values)
    shown = _decimals(size) if size > 0 else 0
    rounded = (
        round(value, shown if value == 0 or 10 * abs(value) >= size > 0 else max(shown, _decimals(10 * abs(value))))
        for value in values
    )
    return tuple(int(value) if float(value).is_integer() else value for value in rounded)


def _decimals(length: float) -> int:
    return _DIGITS - math.floor(math.log10(length))
