"""The data of the figures and the instances, as the page's script reads them: short JSON that cannot end a script."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from schedgap.bench.report.figures.budget import MAX_METHODS
from schedgap.bench.report.figures.packing import FigurePacker
from schedgap.bench.report.figures.palette import DASHES, SHAPES, mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.report.content import Content
    from schedgap.bench.report.drilldown import InstanceView

# None of these can stand in a JSON document outside of its strings.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def embedded(value: Any) -> Markup:
    """Return JSON that is safe within a `script` element: no text in it can end the element or open another."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.translate(_ESCAPES))


def page_data(content: Content) -> dict[str, Any]:
    """Return what the page's script needs."""
    selection = content.selection
    numbers = {method: i for i, method in enumerate(selection.methods)}
    places = {key: i for i, key in enumerate(content.pictures.pictures)}
    statuses: dict[str, int] = {}
    packer = FigurePacker(selection.methods)
    # Distances that are no gaps say the least.
    figures = sorted(content.figures, key=lambda figure: figure.name == "gaps" and not selection.has_bounds)
    return {
        "unit": content.unit,
        "shapes": [outline for outline, _ in SHAPES],
        "dashes": list(DASHES),
        "marks": [astuple(mark(i)) for i in range(MAX_METHODS)],
        "methods": selection.methods,
        "names": selection.instances,
        "wide": selection.is_wide,
        "fruitless": sorted(selection.fruitless),
        "scopes": [{"name": scope.name, "group": scope.group} for scope in selection.scopes],
        "figures": [packer.pack(figure) for figure in figures],
        "sweeps": [packer.pack(sweep) for sweep in content.sweeps],
        "curves": {i: [packer.pack(figure) for figure in own] for i, own in content.curves.figures.items()},
        "columns": list(packer.columns),
        "instances": [_instance(view, numbers, statuses, places) for view in content.drilldown.instances],
        "statuses": list(statuses),
        "measures": content.measure_notes,
        "packed": {**content.pictures.to_json(), "pictures": list(content.pictures.pictures.values())},
    }


def _instance(
    view: InstanceView, numbers: dict[str, int], statuses: dict[str, int], places: dict[str, int]
) -> dict[str, Any]:
    runs = [
        [
            # A method without a mark of its own goes by its name.
            numbers.get(run.method, run.method),
            run.repetition,
            statuses.setdefault(run.status, len(statuses)),
            _short(run.objective, 12),
            _short(run.bound, 12),
            _short(run.gap),
            _short(run.wall_s),
            _short(run.peak_memory_mib),
            run.reason,
            places.get(run.key),
            [[key, _short(value, 6)] for key, value in run.measures.items()],
        ]
        for run in view.runs
    ]
    return {
        "name": view.name,
        "digest": view.digest[:12],
        "group": view.group,
        "source": view.source,
        "unit": view.unit,
        "bound": _short(view.bound, 12),
        "objective": _short(view.objective, 12),
        "proven": view.is_proven,
        "worst": _short(view.worst_gap),
        "failed": view.failed,
        "runs": runs,
    }


def _short(value: float | None, digits: int = 4) -> float | None:
    """Return a number with as many digits as the page can show."""
    if value is None:
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short


def mark_symbols(count: int) -> Sequence[tuple[int, int, str]]:
    """Return number, colour and outline of the marks of the first methods."""
    return [(i, mark(i).colour, SHAPES[mark(i).shape][0]) for i in range(count)]
