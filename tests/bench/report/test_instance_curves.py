"""Curves on the page: of an instance those of all methods or none, as far as there is room."""

from dataclasses import replace

from msgspec import structs

from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.report.drilldown import build_drilldown, build_instance_curves
from schedgap.bench.report.figures.selection import Budget
from schedgap.bench.report.page import build_content
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.picture import Curve, Picture


def test_groups_take_turns_for_the_room(curved):
    """The first with curves is `i`, then `k`, of another group, then `j`; each has at least 100 bytes."""
    content = build_content(curved)
    pictures = read_pictures(curved.directory, {record.key for record in curved.records})
    names = [view.run.instance for view in content.drilldown.instances]
    assert names == ["h", "i", "j", "k"]
    for limit, shown in ((1, "i"), (700, "ik"), (10_000, "ikj")):
        budget = replace(Budget(), curve_bytes=limit)
        curves = build_instance_curves(pictures, content.drilldown, ("a", "b"), budget)
        assert [names[i] for i in curves.figures] == list(shown)
        # Where not all repetitions may have fitted, that is said too.
        assert curves.left_out == 3 - len(shown)


def test_repetitions_come_after_all_methods_as_far_as_there_is_room(make_record):
    """Of `a` there are three runs; `c` has no mark. A curve of two points counts 40 bytes."""
    first = [make_record(method, "i", objective=1) for method in "aaabc"]
    runs = [structs.replace(record.run, repetition=n, stochastic=True) for n, record in enumerate(first)]
    records = [structs.replace(record, key=str(n), run=runs[n]) for n, record in enumerate(first)]
    drilldown = build_drilldown(records, best_of(records), Budget())
    curve = Curve("c", "x", "y", (0.0, 1.0), (0.0, 1.0))
    pictures = {record.key: Picture((), (), curves=(curve,)) for record in records}
    names = ["a, repetition 0", "b, repetition 3", "a, repetition 1", "a, repetition 2"]
    for limit, count in ((1, 2), (119, 2), (120, 3), (160, 4), (800_000, 4)):
        budget = replace(Budget(), curve_bytes=limit)
        curves = build_instance_curves(pictures, drilldown, ("a", "b"), budget)
        assert [series.name for series in curves.figures[0][0].series] == names[:count]
        assert curves.left_out == (count < 4)
