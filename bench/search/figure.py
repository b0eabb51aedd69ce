"""The score of each candidate of a search, and the best so far, as one SVG."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from schedgap.bench.report.figure_files import rendered
from schedgap.bench.report.figures.drawing import Axis, Figure, Series, draw

if TYPE_CHECKING:
    from schedgap.bench.search.run import Found


def search_svg(found: Found, title: str) -> bytes:
    """Return the figure. title : above it."""
    numbers = tuple(float(one.number) for one in found.tried)
    scores = tuple(one.score for one in found.tried)
    figure = Figure(
        "search",
        title,
        "",
        Axis("candidates scored before"),
        Axis("proven bound / objective, mean of train"),
        (
            Series(0, "a candidate", numbers, scores, marks="dots"),
            Series(1, "best so far", numbers, tuple(accumulate(scores, max)), line="step"),
        ),
        heading=(title,),
        has_own_legend=True,
    )
    return rendered(partial(draw, figure=figure, off=(), is_wide=False))
