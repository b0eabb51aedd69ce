"""The score of each candidate of a search, and the best so far, as one SVG."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise

from schedgap.bench.report.figure_files import rendered
from schedgap.bench.report.figures.drawing import Axis, Figure, Series, draw
from schedgap.bench.search.run import Found


def search_svg(found: Found, title: str) -> bytes:
    """Return the figure. title : above it."""
    numbers = tuple(float(one.number) for one in found.tried)
    scores = tuple(one.score for one in found.tried)
    best = list(zip(numbers, accumulate(scores, max), strict=True))
    # Where it grew, and the end.
    steps = [here for before, here in pairwise([(0.0, -1.0), *best]) if here[1] > before[1] or here is best[-1]]
    figure = Figure(
        "search",
        title,
        "",
        Axis("candidates scored before"),
        Axis("proven bound / objective, mean of train"),
        (
            Series(0, "a candidate", numbers, scores, marks="dots"),
            Series(1, "best so far", tuple(x for x, _ in steps), tuple(y for _, y in steps), line="step"),
        ),
        heading=(title,),
        has_own_legend=True,
    )
    return rendered(partial(draw, figure=figure, off=(), is_wide=False))
