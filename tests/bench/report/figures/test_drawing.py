"""What matplotlib makes of a specification: the ends of its axes, its legend, what is not drawn."""

import pytest
from matplotlib.figure import Figure as Canvas

from schedgap.bench.report.figures.drawing import Axis, Figure, Series, draw

LINE = Series(0, "a", (12.0, 2000.0), (0.5, 1.0), line="line", marks="all", spans=((0.25, 0.5), (1.0, 2.0)))


def drawn(x, y, *series, off=(), is_wide=False):
    canvas = Canvas(layout="constrained")
    draw(canvas, Figure("f", "t", "n", x, y, series), off, is_wide=is_wide)
    legend = canvas.legends[0].get_texts() if canvas.legends else []
    return canvas.axes[0], [text.get_text() for text in legend]


def test_a_logarithmic_axis_ends_at_the_values_and_the_other_has_room_for_the_spans():
    axes, legend = drawn(Axis("x", "log"), Axis("y"), LINE)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlim() == pytest.approx((12 / 1.15, 2000 * 1.15))
    assert axes.get_ylim() == pytest.approx((0.0, 2.0 + 0.05 * 1.75))
    assert legend == ["a"]


def test_where_0_occurs_a_logarithmic_axis_has_a_place_for_it():
    axes, _ = drawn(Axis("x", "log"), Axis("y"), Series(0, "a", (0.0, 20.0), (1.0, 1.0), line="step"))
    assert axes.get_xscale() == "symlog"
    assert axes.get_xlim()[0] < 0


@pytest.mark.parametrize(("is_wide", "scale"), [(False, "linear"), (True, "symlog")])
def test_gaps_are_on_a_logarithmic_axis_where_they_are_wide_apart(is_wide, scale):
    axes, _ = drawn(Axis("gap", "gap", "percent"), Axis("y"), LINE, is_wide=is_wide)
    assert axes.get_xscale() == scale
    assert axes.get_xlim()[0] <= 0


def test_only_what_belongs_to_all_instances_is_drawn():
    others = (
        Series(1, "off", (1.0,), (1.0,), marks="all"),
        Series(2, "of a group", (1.0,), (1.0,), marks="all", scope=1),
    )
    axes, legend = drawn(Axis("x"), Axis("y"), LINE, *others, off={1})
    assert legend == ["a"]
    assert len(axes.lines) == 1


def test_what_is_not_measured_is_named_once():
    paper = Series(0, "a", (12.0,), (0.5,), marks="hollow", role="paper")
    model = Series(1, "b", (12.0,), (0.5,), line="line", marks="strokes", role="model")
    assert drawn(Axis("x"), Axis("y"), LINE, paper, model)[1] == ["a", "b", "model", "the paper"]


def test_rows_have_names_in_place_of_a_legend():
    box = Series(0, "a[k=1]", (0.5,), marks="all", row=0, spans=((0.0,), (1.0,)), box=(0.25, 0.5, 0.75))
    dots = Series(0, "a[k=1]", (0.0, 1.0), marks="dots", row=0)
    axes, legend = drawn(Axis("gap", "gap", "percent"), Axis("", "rows", names=("a[k=1]", "b")), dots, box)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a\n[k=1]", "b"]
    assert (axes.get_ylim(), legend) == ((1.5, -0.5), [])
