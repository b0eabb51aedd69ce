"""The page's figures as SVG or PDF files for papers, drawn by matplotlib from the same data."""

from __future__ import annotations

import warnings
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib.figure import Figure

from schedgap.bench.report.curve_plots import draw_curves
from schedgap.bench.report.files import refuse_existing, write_whole
from schedgap.bench.report.map_plots import draw_map
from schedgap.bench.report.plots import PLOTS
from schedgap.bench.report.sweep_plots import draw_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from schedgap.bench.report.content import Content
    from schedgap.bench.report.figure_data import FigureData
    from schedgap.bench.report.plots import Plot

Format = Literal["svg", "pdf"]
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
# Names may be in any script; SVG keeps their letters for the reader's own fonts, PDF shows those missing as boxes.
_NO_GLYPH = r"Glyph \d+ .*missing from font"
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def write_figures(content: Content, folder: Path, kind: Format = "svg", *, force: bool = False) -> list[Path]:
    """Write the figures of all instances, those that have something to show, and return their paths.

    Raises
    ------
    ReportError
        if one of the files exists and `force` is not given, or cannot be written.
    """
    wanted = {folder / f"{name}.{kind}": draw for name, draw in _drawings(content).items()}
    refuse_existing(wanted, force=force)
    # Without pyplot there is no window, no back end to choose, and nothing to close.
    with mpl.rc_context(dict(STYLE)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NO_GLYPH, UserWarning)
        for path, draw in wanted.items():
            figure = Figure(layout="constrained")
            draw(figure)
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, metadata=_METADATA[kind])
            write_whole(path, buffer.getvalue())
    return list(wanted)


def _drawings(content: Content) -> dict[str, Callable[[Figure], None]]:
    """Return what draws each figure, by the name of its file."""
    sweeps: dict[str, Callable[[Figure], None]] = {
        f"sweep-{i}": partial(draw_sweep, sweep=sweep) for i, sweep in enumerate(content.sweeps, start=1)
    }
    curves: dict[str, Callable[[Figure], None]] = {
        f"curve-{i}": partial(draw_curves, shown=shown, methods=content.figures.methods)
        for i, shown in enumerate(content.curve_figures, start=1)
    }
    data = content.figures
    maps: dict[str, Callable[[Figure], None]] = {
        f"map-{i}": partial(draw_map, shown=shown, methods=data.methods)
        for i, shown in enumerate(content.maps, start=1)
    }
    return sweeps | maps | {name: _drawing(plot, data) for name, plot in PLOTS.items() if plot.is_there(data)} | curves


def _drawing(plot: Plot, data: FigureData) -> Callable[[Figure], None]:
    return lambda figure: plot.draw(figure, data)
