"""Figures packed for the page: what has its default is left out, what is shared is written once, digits are few."""

from schedgap.bench.report.figures.drawing import Axis, Figure, Series
from schedgap.bench.report.figures.packing import FigurePacker, short_column

LINES = (Series(0, "a", (0.0, 1.0), (0.0, 5.0), line="line"), Series(1, "b, twice", (0.0, 1.0), (5.0, 0.0), dash=2))
FIGURE = Figure("name", "Title", "Note", Axis("hours"), Axis("cost", "log"), LINES)


def test_packed():
    packer = FigurePacker(("a", "b"))
    packed = packer.pack(FIGURE)
    assert packed == {
        "name": "name",
        "title": "Title",
        "note": "Note",
        "x": {"title": "hours"},
        "y": {"title": "cost", "scale": "log"},
        "series": [
            {"method": 0, "x": 0, "y": 1, "line": "line"},
            {"method": 1, "name": "b, twice", "x": 0, "y": 2, "dash": 2},
        ],
    }
    assert list(packer.columns) == [(0, 1), (0, 5), (5, 0)]
    size = packer.size
    assert packer.pack(FIGURE) == packed
    assert len(packer.columns) == 3
    assert size < packer.size < 2 * size


def test_a_row_with_a_box_and_spans():
    box = Series(0, "a", (0.5,), marks="all", row=0, spans=((0.0,), (1.0,)), box=(0.25, 0.5, 0.75), scope=0, text="t")
    packer = FigurePacker(("a",))
    (packed,) = packer.pack(Figure("f", "", "", Axis("x"), Axis("", "rows", names=("a",)), (box,)))["series"]
    assert packed == {
        "method": 0, "x": 0, "marks": "all", "row": 0, "spans": [1, 2], "box": (0.25, 0.5, 0.75), "scope": 0, "text": "t",
    }  # fmt: skip
    assert list(packer.columns) == [(0.5,), (0,), (1,)]


def test_values_have_the_digits_that_a_chart_can_show():
    """A ten-thousandth of the axis, and four digits of small values, which may be on a logarithmic one."""
    assert short_column((0.012345678, 1.23456, 1234.5678)) == (0.01235, 1.235, 1234.6)
    assert short_column((1e9 + 0.1234567, 1e9 + 1.0, 1e9 + 2.0)) == (1000000000.1235, 1000000001, 1000000002)
    assert (short_column((0.0, 0.0)), short_column((-7.0, -7.0))) == ((0, 0), (-7, -7))
