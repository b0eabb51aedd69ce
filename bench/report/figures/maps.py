"""How matplotlib draws a map: a field for each pair of values, in the colour of the method that is the best there."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from schedgap.bench.report.figures.drawing import LIGHT, NEUTRAL, SHAPES, add_legend, mark
from schedgap.bench.statistics.maps import MethodMap
from schedgap.bench.statistics.tables import measured, readable

# Inches of a field, and around all of them.
FIELD, MARGIN = (1.05, 0.55), (2.6, 1.0)
# Of a letter of the title, and its least letters a line.
LETTER, MIN_TITLE = 0.085, 24
# A field is paler where its method is the best on fewer of the instances.
PALEST, STRONGEST = 0.1, 0.55


def draw_map(figure: Figure, shown: MethodMap, methods: Sequence[str]) -> None:
    """Draw a map. methods : in the order of their marks."""
    figure.set_size_inches(MARGIN[0] + FIELD[0] * len(shown.xs), MARGIN[1] + FIELD[1] * len(shown.ys))
    axes = figure.add_subplot()
    axes.grid(visible=False)
    best = dict.fromkeys(cell.method for row in shown.cells for cell in row if cell is not None)
    marks = {method: mark(methods.index(method)) for method in best if method in methods}
    for row, cells in enumerate(shown.cells):
        for column, cell in enumerate(cells):
            if cell is None:
                continue
            chosen = marks.get(cell.method)
            colour = NEUTRAL if chosen is None else LIGHT[chosen.colour]
            strength = PALEST + (STRONGEST - PALEST) * cell.won / cell.instances
            axes.fill_between(
                [column - 0.5, column + 0.5], row - 0.5, row + 0.5, color=to_rgba(colour, strength), linewidth=0
            )
            if chosen is not None:
                axes.plot(column - 0.32, row, marker=SHAPES[chosen.shape][1], color=colour, markersize=6)
            axes.text(
                column + 0.08, row, f"{measured(cell.mean)}\n{cell.won} of {cell.instances}", ha="center", va="center"
            )
    axes.set_xticks(range(len(shown.xs)), [str(x) for x in shown.xs])
    axes.set_yticks(range(len(shown.ys)), [str(y) for y in shown.ys])
    axes.set(
        xlabel=readable(shown.x),
        ylabel=readable(shown.y),
        xlim=(-0.5, len(shown.xs) - 0.5),
        ylim=(-0.5, len(shown.ys) - 0.5),
    )
    axes.tick_params(length=0)
    width = max(MIN_TITLE, int(FIELD[0] * len(shown.xs) / LETTER))
    axes.set_title("\n".join(line for part in (shown.title, shown.group) for line in wrap(part, width)), loc="left")
    add_legend(
        figure,
        [
            Line2D([], [], color=LIGHT[chosen.colour], marker=SHAPES[chosen.shape][1], linestyle="none", label=method)
            for method, chosen in marks.items()
        ],
    )
