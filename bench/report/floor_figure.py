"""The price of a cluster against how much may be disrupted, and its machines before and after, as one SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from matplotlib.ticker import MaxNLocator

from schedgap.bench.report.figure_files import rendered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedgap.bench.floor import Floor

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
