"""The data of the figures and the instances, as the page's script reads them: short JSON that cannot end a script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from schedgap.bench.report.palette import DASHES, SHAPES, mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.report.content import Content
    from schedgap.bench.report.drilldown import InstanceView
    from schedgap.bench.report.figure_data import Curves, Scope
    from schedgap.bench.report.sweep_data import Path, SweepView

# None of these can stand in a JSON document outside of its strings.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def embedded(value: Any) -> Markup:
    """Return JSON that is safe within a `script` element: no text in it can end the element or open another."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.translate(_ESCAPES))


def page_data(content: Content) -> dict[str, Any]:
    """Return what the page's script needs."""
    figures = content.figures
    points = figures.points
    numbers = {method: i for i, method in enumerate(figures.methods)}
    places = {key: i for i, key in enumerate(content.pictures.pictures)}
    statuses: dict[str, int] = {}
    return {
        "unit": content.unit,
        "shapes": [outline for outline, _ in SHAPES],
        "dashes": list(DASHES),
        "methods": [[name, *_mark(i)] for i, name in enumerate(figures.methods)],
        "groups": figures.groups,
        "names": figures.instances,
        "bounds": figures.has_bounds,
        "wide": figures.is_wide,
        "fruitless": sorted(figures.fruitless),
        "scopes": [_scope(scope) for scope in figures.scopes],
        "points": [
            [*columns, _short(wall_s), _short(gap)]
            for *columns, wall_s, gap in zip(
                points.method, points.group, points.instance, points.wall_s, points.gap, strict=True
            )
        ],
        "pairs": [[p.group, p.method, *map(_short, (p.ours, p.ours_std, p.paper, p.paper_std))] for p in figures.pairs],
        "growth": [
            [line.group, line.method, line.tasks, [_short(t) for t in line.median_s], line.paper]
            for line in figures.growth
        ],
        "sweeps": [_sweep(sweep) for sweep in content.sweeps],
        "instances": [_instance(view, numbers, statuses, places) for view in content.drilldown.instances],
        "statuses": list(statuses),
        "curves": content.curves.to_json(),
        "packed": {**content.pictures.to_json(), "pictures": list(content.pictures.pictures.values())},
    }


def _mark(index: int) -> tuple[int, int, int]:
    chosen = mark(index)
    return chosen.colour, chosen.shape, chosen.dash


def _scope(scope: Scope) -> dict[str, Any]:
    return {
        "name": scope.name,
        "group": scope.group,
        "spreads": {
            method: [s.count, *map(_short, (s.least, s.lower, s.median, s.upper, s.most, s.mean))]
            for method, s in scope.spreads.items()
        },
        "time": _curves(scope.time_profile),
        "gap": _curves(scope.gap_profile),
        "anytime": _curves(scope.anytime),
    }


def _curves(curves: Curves) -> dict[int, list[list[float | None]]]:
    return {method: [[_short(value) for value in axis] for axis in curve] for method, curve in curves.items()}


def _sweep(sweep: SweepView) -> dict[str, Any]:
    return {
        "title": sweep.title,
        "x": sweep.x,
        "y": sweep.y,
        "logX": sweep.is_log_x,
        "logY": sweep.is_log_y,
        "left": sweep.left_out,
        "strands": [
            [
                strand.name,
                strand.number,
                *_mark(strand.number),
                _path(strand.measured),
                _path(strand.predicted),
                [[_short(x, 6), _short(y, 6), name] for x, y, name in strand.paper],
            ]
            for strand in sweep.strands
        ],
    }


def _path(path: Path | None) -> list[list[float | None]] | None:
    """Return x, mean, least and most; without the last two where each x has one value."""
    if path is None:
        return None
    spread = [] if path.least == path.mean == path.most else [path.least, path.most]
    return [[_short(value, 6) for value in axis] for axis in (path.x, path.mean, *spread)]


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
