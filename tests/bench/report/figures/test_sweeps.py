"""Measures over parameters: which lines there are, what they are called, and which marks they have."""

import pytest
from msgspec.structs import replace

from schedgap.bench.report.figures.drawing import mark
from schedgap.bench.report.figures.selection import Budget
from schedgap.bench.report.figures.sweeps import build_sweeps
from schedgap.bench.statistics.tables import readable


@pytest.fixture
def sweeps(measured):
    return build_sweeps(measured.suite, measured.records, Budget())


def names(figure):
    return list(dict.fromkeys(series.name for series in figure.series))


def measured_of(figure):
    return [series for series in figure.series if series.role == ""]


def of(figure, name):
    """Return the series of a name by their roles."""
    return {series.role: series for series in figure.series if series.name == name}


def test_a_sweep_with_nothing_to_show_is_no_figure(sweeps):
    assert [sweep.title for sweep in sweeps] == ["Waits & <b>machines</b>", "Price"]
    assert [sweep.name for sweep in sweeps] == ["sweep-1", "sweep-2"]
    assert (sweeps[0].x.title, sweeps[0].y.title) == ("s", "mean wait (s)")


def test_means_over_the_instances_with_least_and_most(sweeps):
    """At s = 1 `a` waits 10 s and 12 s, at s = 2 3 s and 5 s."""
    a, b = measured_of(sweeps[0])
    assert (a.x, a.y, a.spans) == ((1.0, 2.0), (11.0, 4.0), ((10.0, 3.0), (12.0, 5.0)))
    assert (b.x, b.y, b.spans) == ((1.0, 2.0), (0.0, 0.0), None)


def test_a_model_belongs_to_the_method_that_it_predicts(sweeps):
    a, b = of(sweeps[0], "a"), of(sweeps[0], "b")
    assert (a["model"].x, a["model"].y) == ((1.0, 2.0), (12.0, 4.4))
    assert a["model"].method == a[""].method
    assert "model" not in b


def test_the_papers_figures_stand_at_their_parameter(sweeps, measured):
    """The reference without a limit is of no line; `limit=60` is the runs' 60.0."""
    paper = of(sweeps[0], "a")["paper"]
    assert (paper.x, paper.y, paper.text[0].split("\n")[-1]) == (
        (2.0,),
        (5.0,),
        "the paper 5 (ours −20.0%), A, section 3",
    )
    assert "paper" not in of(sweeps[0], "b") | of(sweeps[1], "a")
    whole = measured.suite.reference[0].model_copy(update={"method": "a[s=2,limit=60]"})
    again = build_sweeps(measured.suite.model_copy(update={"reference": [whole]}), measured.records, Budget())
    assert of(again[0], "a")["paper"] == paper


def test_methods_are_chosen_by_name(measured):
    alone = measured.suite.sweep[0].model_copy(update={"methods": ["model-a"]})
    (view,) = build_sweeps(measured.suite.model_copy(update={"sweep": [alone]}), measured.records, Budget())
    (series,) = view.series
    assert (series.name, series.role, series.y) == ("model-a", "model", (12.0, 4.4))


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
    assert ["model" in of(waits, name) for name in names(waits)] == [True, False, True, False]


def test_a_method_keeps_its_mark_and_another_gets_a_colour_of_its_own(sweeps, measured, make_run):
    assert [s.method for s in measured_of(sweeps[0])] == [s.method for s in measured_of(sweeps[1])] == [0, 1]
    records = [make_run(f"m{i}", {"s": 1}, objective=1, measures={"price": 1.0}) for i in range(60)]
    (view,) = build_sweeps(measured.suite, records, Budget())
    assert len({mark(series.method) for series in view.series}) == len(view.series) == 48
    assert len({mark(series.method).colour for series in view.series[:8]}) == 8
    assert view.note.endswith("; 12 more lines left out: the figures cannot tell more apart")


def test_axes_are_logarithmic_where_they_can_be(sweeps, measured, make_run):
    assert (sweeps[0].y.scale, sweeps[1].y.scale, sweeps[0].x.scale) == ("log", "linear", "linear")

    def view(*values):
        records = [make_run("a", {"s": s}, objective=1, measures={"mean_wait_s": y}) for s, y in values]
        return build_sweeps(measured.suite, records, Budget())[0]

    assert view((1, -1.0), (2, 1.0)).y.scale == "linear"
    assert view((1, 0.0), (2, 0.0)).y.scale == "linear"
    assert view((1, 0.0), (51, 1.0)).x.scale == "log"
    assert view((0, 1.0), (51, 1.0)).x.scale == "linear"


def test_a_small_budget_keeps_both_ends_of_a_line(measured, make_run):
    records = [make_run("a", {"s": s}, objective=1, measures={"price": 1.0 * s}) for s in range(100)]
    (view,) = build_sweeps(measured.suite, records, Budget(curve=3))
    assert view.series[0].x == (0.0, 50.0, 99.0)
    assert build_sweeps(measured.suite, measured.records, Budget(sweeps=1))[0].title.startswith("Waits")
    assert len(build_sweeps(measured.suite, measured.records, Budget(sweeps=1))) == 1


def test_without_a_suite_there_are_none(measured):
    assert build_sweeps(None, measured.records, Budget()) == ()


@pytest.mark.parametrize(
    ("name", "title"), [("mean_wait_s", "mean wait (s)"), ("s", "s"), ("jobs", "jobs"), ("on_demand", "on demand")]
)
def test_readable(name, title):
    assert readable(name) == title
