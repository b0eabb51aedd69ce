"""Curves for figures in papers: of which instance, of which runs, on which axis."""

from dataclasses import replace

import pytest
from msgspec import structs

from schedgap.bench.report.figures.packing import (
    build_curve_figures,
    drawn_instances,
    is_squeezed,
)
from schedgap.bench.report.figures.selection import Budget
from schedgap.bench.report.page import build_content
from schedgap.instances.picture import Curve, Picture


def points(figure):
    return [(series.method, series.line, series.x, series.y) for series in figure.series]


def test_the_first_solved_instance_of_each_group(curved):
    figures = build_content(curved).curve_figures
    assert [figure.heading for figure in figures] == [
        ("Cost & <b>time</b>", "i"),
        ("Machines", "i"),
        ("Cost & <b>time</b>", "k"),
        ("Machines", "k"),
    ]
    assert [figure.name for figure in figures] == ["curve-1", "curve-2", "curve-3", "curve-4"]
    assert (figures[0].x.title, figures[0].y.title, figures[0].x.scale) == ("hours", "dollars", "linear")
    assert points(figures[1]) == [
        (0, "step", (0.0, 1.0, 2.0), (4.0, 1.0, 0.0)),
        (1, "step", (0.0, 1.0, 2.0), (2.0, 1.0, 0.0)),
    ]


def test_they_are_there_for_instances_that_the_page_has_no_room_for(curved):
    """The page shows but the instance with the most failures."""
    content = build_content(curved, replace(Budget(), instances=1))
    assert len(content.drilldown.instances) == 1
    assert len(content.curve_figures) == 4
    assert content.pictures_left_out == 0


def test_no_more_than_the_budget_has(curved):
    assert len(build_content(curved, replace(Budget(), curve_figures=3)).curve_figures) == 3


@pytest.fixture
def repeated(make_record):
    """Two repetitions of `a` on one instance, and a method that has no mark."""
    first = make_record("a", "i", objective=1)
    second = structs.replace(first, key="second", run=structs.replace(first.run, repetition=1))
    return [first, second, make_record("unmarked", "i", objective=1)]


def test_a_method_has_one_curve(repeated):
    pictures = {
        record.key: Picture((), (), curves=(Curve("c", "x", "y", (float(i), 9.0), (0.0, 1.0)),))
        for i, record in enumerate(repeated)
    }
    (figure,) = build_curve_figures(repeated, pictures, ["a"], Budget())
    assert points(figure) == [(0, "line", (0.0, 9.0), (0.0, 1.0))]


def test_only_verified_solutions_count(repeated, make_record):
    unsolved = make_record("b", "i")
    assert drawn_instances([unsolved, *repeated]) == [repeated]
    assert build_curve_figures(repeated, {}, ["a"], Budget()) == ()


@pytest.mark.parametrize(
    ("along", "squeezed"),
    [
        ([(0.0, 1.0, 2.0, 3.0)], False),
        # The median, 4, is within a twentieth of 100; 5 is not.
        ([(1.0, 4.0, 100.0)], True),
        ([(1.0, 5.0, 100.0)], False),
        ([(1.0, 3.0), (4.0, 100.0, 5.0)], True),
        ([(-1.0, 4.0, 100.0)], False),
        ([(0.0, 0.0, 100.0)], False),
        ([(0.0,)], False),
    ],
)
def test_squeezed(along, squeezed):
    assert is_squeezed(along) is squeezed


def test_points_are_as_many_as_the_budget_has(repeated):
    values = tuple(map(float, range(100)))
    pictures = {repeated[0].key: Picture((), (), curves=(Curve("c", "x", "y", values, values),))}
    (figure,) = build_curve_figures(repeated, pictures, ["a"], replace(Budget(), curve=4))
    assert figure.series[0].x == (0.0, 33.0, 66.0, 99.0)
    assert figure.x.scale == "linear"
