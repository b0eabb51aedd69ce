"""Figures as SVG, PDF or PNG files for papers.

Figures of the report for `SuiteResult.plot`, which a notebook shows.

How matplotlib draws a map: a field for each pair of values, in the colour of the method that is the best there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib import figure as mpl_figure
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from schedgap.bench.report.figures.drawing import LIGHT, NEUTRAL, SHAPES, add_legend, draw, mark
from schedgap.bench.report.figures.packing import draw_timetables
from schedgap.bench.report.page import Content, build_content, refuse_existing, write_whole
from schedgap.bench.result import Drawing, GapResult, SuiteResult
from schedgap.bench.statistics.profiles import MethodMap
from schedgap.bench.statistics.tables import measured, readable
from schedgap.bench.suites.results import Results, read_hosts
from schedgap.instances.errors import ReportError, did_you_mean

Format = Literal["svg", "pdf", "png"]
# Text stays text, so that it can be searched and set in the paper's own font; nothing depends on the day.
STYLE: Mapping[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "schedgap",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dde0e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
PNG_DPI = 200
# Names may be in any script; SVG keeps their letters for the reader's own fonts, PDF and PNG show those missing as boxes.
_NO_GLYPH = r"Glyph \d+ .*missing from font"
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}


def drawn_figures(content: Content) -> dict[str, Callable[[Format], bytes]]:
    """Return what renders each figure of all instances, those that have something to show, by name."""
    selection = content.selection
    draw_shown = partial(draw, off=selection.fruitless, is_wide=selection.is_wide)
    drawn: dict[str, Callable[[mpl_figure.Figure], None]] = {
        **{figure.name: partial(draw_shown, figure=figure) for figure in content.sweeps},
        **{f"map-{i}": partial(draw_map, shown=m, methods=selection.methods) for i, m in enumerate(content.maps, 1)},
        **{figure.name: partial(draw_shown, figure=figure) for figure in (*content.figures, *content.curve_figures)},
    }
    timetables = {
        f"timetable-{i}": partial(rendered, partial(draw_timetables, shown=shown), size=shown.size)
        for i, shown in enumerate(content.timetables, 1)
    }
    return {**{name: partial(rendered, draw_on) for name, draw_on in drawn.items()}, **timetables}


def write_figures(content: Content, folder: str | Path, kind: Format = "svg", *, force: bool = False) -> list[Path]:
    """Write the figures of `drawn_figures` and return their paths.

    Raises
    ------
    ReportError
        if one of the files exists and `force` is not given, or cannot be written.
    """
    paths = {Path(folder) / f"{name}.{kind}": render for name, render in drawn_figures(content).items()}
    refuse_existing(paths, force=force)
    for path, render in paths.items():
        write_whole(path, render(kind))
    return list(paths)


def rendered(
    draw_on: Callable[[mpl_figure.Figure], None], kind: Format = "svg", size: tuple[float, float] | None = None
) -> bytes:
    """Return the file of a figure of a size in inches, matplotlib's own by default."""
    # Without pyplot there is no window, no back end to choose, and nothing to close.
    with mpl.rc_context(dict(STYLE)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NO_GLYPH, UserWarning)
        canvas = mpl_figure.Figure(figsize=size, layout="constrained")
        draw_on(canvas)
        buffer = BytesIO()
        canvas.savefig(buffer, format=kind, metadata=_METADATA[kind], dpi=PNG_DPI)
    return buffer.getvalue()


def drawing(result: SuiteResult | GapResult, name: str | None = None) -> Drawing:
    """Return a figure of what a suite or a gap gave by name, the first without one.

    Raises
    ------
    ReportError
        if there is none of that name, or none at all.
    """
    results = _results_of(result)
    found = drawn_figures(build_content(results)) if results.records else {}
    if not found:
        raise ReportError(f"{results.directory}: no run has anything to show in a figure; run more of it.")
    chosen = next(iter(found)) if name is None else name
    if chosen not in found:
        near = did_you_mean(chosen, found)
        raise ReportError(
            f"{results.directory}: there is no figure '{chosen:.60}'; {near}there are {', '.join(found)}."
        )
    return Drawing(chosen, found[chosen]("svg").decode(), tuple(other for other in found if other != chosen))


def _results_of(result: SuiteResult | GapResult) -> Results:
    if isinstance(result, SuiteResult):
        hosts = read_hosts(result.directory)
        return Results(result.directory, result.suite, (), result.records, result.planned, hosts)
    # It has no directory, so there are no pictures; messages call it so.
    return Results(Path(f"gap of {result.instance:.80}"), None, (), result.records, len(result.records), {})


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
