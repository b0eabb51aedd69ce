"""The price of a cluster against the tasks that may move, and its machines before and after, as one SVG."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib import figure as mpl_figure

from schedgap.bench.report.figure_files import STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from schedgap.bench.floor import Floor

PLAN, BOUND, NOW = "#1f6fb2", "#c2571a", "#555b63"
# Types that are shown by name, those that cost the most before or after.
MAX_TYPES = 14


def floor_svg(found: Floor) -> bytes:
    """Return the figure; without running machines only the machines of the plan."""
    plan = found.chosen.plan
    before = found.family.cluster.machines_now(found.instance) if found.family.cluster is not None else {}
    after = (
        {} if plan is None or found.family.cluster is None else found.family.cluster.machines_of(found.instance, plan)
    )
    has_front = len(found.front) > 1
    with mpl.rc_context(dict(STYLE)):
        canvas = mpl_figure.Figure(figsize=(9 if has_front else 5, 3.6), layout="constrained")
        axes = canvas.subplots(1, 2 if has_front else 1, squeeze=False)[0]
        if has_front:
            _front(axes[0], found)
        _machines(axes[-1], before, after)
        buffer = BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _front(axes: Axes, found: Floor) -> None:
    scale = found.family.objective_scale
    most = found.instance.num_tasks - found.pending
    x = [most if point.max_moves is None else point.max_moves for point in found.front]
    for name, values, colour in (
        ("best plan", [point.price for point in found.front], PLAN),
        ("floor (proven)", [point.floor for point in found.front], BOUND),
    ):
        known = [(a, b / scale) for a, b in zip(x, values, strict=True) if b is not None]
        axes.step(*zip(*known, strict=True), where="post", color=colour, label=name, marker="o", markersize=3)
    if found.price_now is not None:
        axes.axhline(found.price_now / scale, color=NOW, linewidth=0.9, linestyle="--", label="now")
    axes.set_xlabel("tasks that may move")
    axes.set_ylabel(f"price ({found.family.objective_unit})")
    axes.set_ylim(bottom=0)
    axes.legend()


def _machines(axes: Axes, before: dict[str, int], after: dict[str, int]) -> None:
    names = list(dict.fromkeys((*after, *before)))[:MAX_TYPES][::-1]
    places = range(len(names))
    for offset, counts, colour, label in ((0.2, before, NOW, "now"), (-0.2, after, PLAN, "plan")):
        if counts:
            heights = [counts.get(name, 0) for name in names]
            axes.barh([place + offset for place in places], heights, height=0.38, color=colour, label=label)
    axes.set_yticks(list(places), names)
    axes.set_xlabel("machines")
    axes.grid(visible=False, axis="y")
    axes.legend()
