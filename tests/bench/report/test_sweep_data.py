"""Measures over parameters: which lines there are, what they are called, and which marks they have."""

from dataclasses import replace

import pytest

from schedgap.bench.report import Budget
from schedgap.bench.report.palette import mark
from schedgap.bench.report.sweep_data import Path, build_sweeps
from schedgap.bench.statistics.tables import readable


@pytest.fixture
def sweeps(measured):
    return build_sweeps(measured.suite, measured.records, Budget())


def names(view):
    return [strand.name for strand in view.strands]


def test_a_sweep_with_nothing_to_show_is_no_figure(sweeps):
    assert [sweep.title for sweep in sweeps] == ["Waits & <b>machines</b>", "Price"]
    assert (sweeps[0].x, sweeps[0].y) == ("s", "mean wait (s)")


def test_means_over_the_instances_with_least_and_most(sweeps):
    """At s = 1 `a` waits 10 s and 12 s, at s = 2 3 s and 5 s."""
    a, b = sweeps[0].strands
    assert a.measured == Path((1.0, 2.0), (11.0, 4.0), (10.0, 3.0), (12.0, 5.0))
    assert b.measured == Path((1.0, 2.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))


def test_a_model_belongs_to_the_method_that_it_predicts(sweeps):
    a, b = sweeps[0].strands
    assert a.predicted == Path((1.0, 2.0), (12.0, 4.4), (12.0, 4.4), (12.0, 4.4))
    assert b.predicted is None
    assert sweeps[0].has_predictions


def test_the_papers_figures_stand_at_their_parameter(sweeps, measured):
    """The reference without a limit is of no line; `limit=60` is the runs' 60.0."""
    a, b = sweeps[0].strands
    assert (a.paper, b.paper) == (((2.0, 5.0, "A, section 3"),), ())
    assert (sweeps[0].has_paper, sweeps[1].has_paper) == (True, False)
    whole = measured.suite.reference[0].model_copy(update={"method": "a[s=2,limit=60]"})
    again = build_sweeps(measured.suite.model_copy(update={"reference": [whole]}), measured.records, Budget())
    assert again[0].strands[0].paper == a.paper


def test_methods_are_chosen_by_name(measured):
    alone = measured.suite.sweep[0].model_copy(update={"methods": ["model-a"]})
    (view,) = build_sweeps(measured.suite.model_copy(update={"sweep": [alone]}), measured.records, Budget())
    (strand,) = view.strands
    assert (strand.name, strand.measured, strand.predicted.mean) == ("model-a", None, (12.0, 4.4))


def test_what_all_lines_have_in_common_is_not_in_their_names(sweeps, measured, make_run):
    assert names(sweeps[0]) == ["a", "b"]

    def told(*given):
        records = [make_run(method, {**own, "s": 1}, objective=1, measures={"price": 1.0}) for method, own in given]
        (view,) = build_sweeps(measured.suite, records, Budget())
        return names(view)

    assert told(("a", {"limit": 60.0}), ("a", {"limit": 90.0}), ("b", {"limit": 60.0})) == [
        "a[limit=60]",
        "a[limit=90]",
        "b[limit=60]",
    ]
    assert told(("a", {"limit": 60.0, "mode": "x"}), ("b", {"mode": "x"})) == ["a", "b"]
    assert told(("a", {"limit": 60.0}), ("a", {})) == ["a[limit=60]", "a"]


def test_groups_of_instances_are_in_the_names_where_there_are_several(measured):
    records = [replace(r, run=replace(r.run, group=r.run.instance)) for r in measured.records]
    (waits, _) = build_sweeps(measured.suite, records, Budget())
    assert names(waits) == ["a, i", "b, i", "a, j", "b, j"]
    assert [strand.predicted is None for strand in waits.strands] == [False, True, False, True]


def test_a_method_keeps_its_mark_and_another_gets_a_colour_of_its_own(sweeps, measured, make_run):
    assert [s.number for s in sweeps[0].strands] == [s.number for s in sweeps[1].strands] == [0, 1]
    records = [make_run(f"m{i}", {"s": 1}, objective=1, measures={"price": 1.0}) for i in range(60)]
    (view,) = build_sweeps(measured.suite, records, Budget())
    assert len({mark(strand.number) for strand in view.strands}) == len(view.strands) == 48
    assert len({mark(strand.number).colour for strand in view.strands[:8]}) == 8
    assert view.left_out == 12


def test_axes_are_logarithmic_where_they_can_be(sweeps, measured, make_run):
    assert (sweeps[0].is_log_y, sweeps[1].is_log_y, sweeps[0].is_log_x) == (True, False, False)

    def view(*values):
        records = [make_run("a", {"s": s}, objective=1, measures={"mean_wait_s": y}) for s, y in values]
        return build_sweeps(measured.suite, records, Budget())[0]

    assert not view((1, -1.0), (2, 1.0)).is_log_y
    assert not view((1, 0.0), (2, 0.0)).is_log_y
    assert view((1, 0.0), (51, 1.0)).is_log_x
    assert not view((0, 1.0), (51, 1.0)).is_log_x


def test_a_small_budget_keeps_both_ends_of_a_line(measured, make_run):
    records = [make_run("a", {"s": s}, objective=1, measures={"price": 1.0 * s}) for s in range(100)]
    (view,) = build_sweeps(measured.suite, records, Budget(curve=3))
    assert view.strands[0].measured.x == (0.0, 50.0, 99.0)
    assert build_sweeps(measured.suite, measured.records, Budget(sweeps=1))[0].title.startswith("Waits")
    assert len(build_sweeps(measured.suite, measured.records, Budget(sweeps=1))) == 1


def test_without_a_suite_there_are_none(measured):
    assert build_sweeps(None, measured.records, Budget()) == ()


@pytest.mark.parametrize(
    ("name", "title"), [("mean_wait_s", "mean wait (s)"), ("s", "s"), ("jobs", "jobs"), ("on_demand", "on demand")]
)
def test_readable(name, title):
    assert readable(name) == title
