"""The price of a cluster against how much may be disrupted, and its machines before and after, as one SVG.

What a cluster cost hour by hour, its floor, the best plan and its tasks, as one SVG.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.dates import ConciseDateFormatter
from matplotlib.ticker import MaxNLocator

from schedgap.bench.report.figure_files import rendered
from schedgap.instances.units import HOUR_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedgap.bench.floor import Bill, Floor

PLAN, BOUND, NOW = "#1f6fb2", "#c2571a", "#555b63"
# Types that are shown, those of the plan that cost the most first.
MAX_TYPES = 14
# Inches: of one half of the figure, and of a letter of a type's name, of which so many have room in it.
WIDTH, HEIGHT, LETTER, SHORT = 4.5, 3.6, 0.075, 14


def floor_svg(found: Floor) -> bytes:
    """Return the figure; without running machines only the machines of the plan."""
    before, after = found.by_type()
    names = list(dict.fromkeys((*after, *before)))
    halves = 2 if len(found.front) > 1 else 1
    wider = LETTER * max(0, max(map(len, names[:MAX_TYPES]), default=0) - SHORT)

    def draw_on(canvas: Figure) -> None:
        axes = canvas.subplots(1, halves, squeeze=False)[0]
        if halves > 1:
            _front(axes[0], found)
        _machines(axes[-1], names, before, after)

    return rendered(draw_on, size=(halves * WIDTH + wider, HEIGHT))


def over_svg(found: Bill) -> bytes:
    """Return the figure; without a floor an empty one."""

    def draw_on(canvas: Figure) -> None:
        upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        losses = found.losses
        if losses is None:
            return
        edges = [*range(0, found.seconds, HOUR_S), found.seconds][: losses.paid.size + 1]
        times, length = [found.begins + timedelta(seconds=s) for s in edges], np.diff(edges) / HOUR_S
        curves = [("paid", losses.paid, NOW), ("floor (proven)", losses.floor, BOUND)]
        if found.plan_hourly is not None:
            curves.insert(1, (f"best plan ({found.plan.method})", found.plan_hourly, PLAN))
        for name, values, colour in curves:
            upper.stairs(values / length, times, baseline=None, color=colour, label=name, linewidth=1.1)
        upper.stairs(losses.paid / length, times, baseline=losses.floor / length, fill=True, color=NOW, alpha=0.12)
        upper.set_ylabel("price ($ an hour)")
        upper.set_ylim(bottom=0)
        upper.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
        lower.stairs(losses.tasks, times, baseline=None, color=NOW, linewidth=1.1)
        lower.set_ylabel("pods")
        lower.set_ylim(bottom=0)
        lower.xaxis.set_major_formatter(ConciseDateFormatter(lower.xaxis.get_major_locator()))  # type: ignore[no-untyped-call]

    return rendered(draw_on, size=(2 * WIDTH, 1.2 * HEIGHT))


def _front(axes: Axes, found: Floor) -> None:
    scale = found.family.objective_scale
    most = found.whole_disruption
    x = [found.in_tasks(most if point.max_disruption is None else point.max_disruption) for point in found.front]
    # Between two limits the plan of the lower one is known, and the floor of the higher one.
    lines: tuple[tuple[str, Literal["pre", "post"], list[int | None], str], ...] = (
        ("best plan", "post", [point.price for point in found.front], PLAN),
        ("floor (proven)", "pre", [point.floor for point in found.front], BOUND),
    )
    for name, where, values, colour in lines:
        known = [(a, b / scale) for a, b in zip(x, values, strict=True) if b is not None]
        if known:
            axes.step(*zip(*known, strict=True), where=where, color=colour, label=name, marker="o", markersize=3)
    if found.price_now is not None:
        axes.axhline(found.price_now / scale, color=NOW, linewidth=0.9, linestyle="--", label="now")
    axes.set_xlabel("disruption: tasks that may move" if found.counts_moves else "disruption that may be (tasks)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel(f"price ({found.unit})")
    axes.set_ylim(bottom=0)
    axes.legend()


def _machines(axes: Axes, names: list[str], before: dict[str, int], after: dict[str, int]) -> None:
    shown = names[:MAX_TYPES][::-1]
    places = range(len(shown))
    for offset, counts, colour, label in ((0.2, before, NOW, "now"), (-0.2, after, PLAN, "plan")):
        if counts:
            heights = [counts.get(name, 0) for name in shown]
            axes.barh([place + offset for place in places], heights, height=0.38, color=colour, label=label)
    axes.set_yticks(list(places), shown, parse_math=False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    left_out = len(names) - len(shown)
    axes.set_xlabel("machines" + (f"; {left_out} types are not shown" if left_out else ""))
    axes.grid(visible=False, axis="y")
    if shown:
        axes.legend()
