"""Curves packed for the page: what is shared is written once, and of an instance there are all methods' or none."""

from dataclasses import replace

import pytest

from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.report import Budget, build_content
from schedgap.bench.report.drilldown import build_drilldown
from schedgap.bench.report.packed_curves import PackedCurves, pack_curves
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.picture import Curve, Picture


@pytest.fixture(scope="module")
def content(curved):
    return build_content(curved)


def test_packed(content):
    """Of instance 1, `i`, the curves of run 0 and 1; all four are over the same hours, which stand there once."""
    packed = content.curves.to_json()
    assert packed["heads"] == [("Cost & <b>time</b>", "hours", "dollars"), ("Machines", "hours", "machines")]
    assert packed["columns"] == [(0, 1, 2), (0, 5, 20), (4, 1, 0), (0, 2.5, 10), (2, 1, 0)]
    assert [row for row in packed["rows"] if row[0] == 1] == [
        (1, 0, 0, 0, 0, 1),
        (1, 0, 1, 1, 0, 2),
        (1, 1, 0, 0, 0, 3),
        (1, 1, 1, 1, 0, 4),
    ]
    assert packed["logs"] == []


def test_groups_take_turns_for_the_room(curved, content):
    """The first with curves is `i`, then `k`, of another group; `j` adds four rows of 13 characters and nothing else."""
    pictures = read_pictures(curved.directory, {record.key for record in curved.records})
    names = [view.name for view in content.drilldown.instances]
    assert names == ["h", "i", "j", "k"]
    without = content.curves.size - 4 * 13
    for limit, shown in ((1, "i"), (without, "ik"), (without + 1, "ikj")):
        packed = pack_curves(pictures, content.drilldown, "ab", replace(Budget(), curve_bytes=limit))
        assert list(dict.fromkeys(names[row[0]] for row in packed.rows)) == list(shown)
        assert packed.left_out == 3 - len(shown)


def test_repetitions_come_after_all_methods_as_far_as_there_is_room(make_record):
    """Rows are of runs: 0 and 3 are the first of `a` and `b`, 1 and 2 repeat `a`; `c` has no mark."""
    records = [replace(make_record(method, "i", objective=1), key=str(n)) for n, method in enumerate("aaabc")]
    drilldown = build_drilldown(records, best_of(records), Budget())
    pictures = {
        record.key: Picture((), (), curves=(Curve("c", "x", "y", (0.0, 1.0), (0.0, 1.0)),)) for record in records
    }
    whole = pack_curves(pictures, drilldown, "ab", Budget())
    assert [row[1] for row in whole.rows] == [0, 3, 1, 2]
    assert whole.left_out == 0
    for limit, runs in ((1, [0, 3]), (whole.size - 13, [0, 3, 1]), (whole.size - 12, [0, 3, 1, 2])):
        packed = pack_curves(pictures, drilldown, "ab", replace(Budget(), curve_bytes=limit))
        assert [row[1] for row in packed.rows] == runs
        assert packed.left_out == (runs != [0, 3, 1, 2])


def test_values_have_the_digits_that_a_chart_can_show():
    """A ten-thousandth of the axis, and four digits of small values, which may be on a logarithmic one."""
    packed = PackedCurves()
    x, y = (0.012345678, 1.23456, 1234.5678), (1e9 + 0.1234567, 1e9 + 1.0, 1e9 + 2.0)
    packed.add(0, 0, Curve("c", "x", "y", x, y), Budget())
    assert list(packed.columns) == [(0.01235, 1.235, 1234.6), (1000000000.1235, 1000000001, 1000000002)]
    packed.add(0, 0, Curve("flat", "x", "y", (0.0, 0.0), (-7.0, -7.0)), Budget())
    assert list(packed.columns)[2:] == [(0, 0), (-7, -7)]


def test_points_are_as_many_as_the_budget_has():
    packed = PackedCurves()
    values = tuple(map(float, range(100)))
    packed.add(0, 0, Curve("c", "x", "y", values, values), replace(Budget(), curve=4))
    assert list(packed.columns) == [(0, 33, 66, 99)]


def test_a_long_tail_is_on_a_logarithmic_axis():
    packed = PackedCurves()
    packed.add(3, 0, Curve("c", "x", "y", (1.0, 2.0, 100.0), (0.0, 0.5, 1.0)), Budget())
    packed.add(4, 0, Curve("c", "x", "y", (1.0, 50.0, 100.0), (0.0, 0.5, 1.0)), Budget())
    assert packed.to_json()["logs"] == [(3, 0)]
