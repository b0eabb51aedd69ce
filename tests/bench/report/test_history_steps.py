"""What is said of a step of a history: better or worse only of the same runs, and of a gap only where solutions changed."""

from pathlib import Path

import pytest

from schedgap.bench.report.history_page import build_history
from schedgap.bench.statistics.history import Entry, MethodFigures


def history(figures):
    """Return what the page shows of these figures of a method, an entry each."""
    common = {"suite": "little", "label": "", "directory": "", "link": "", "quality": "mean gap"}
    date = "2030-01-01T00:00:00+00:00"
    return build_history(
        [Entry(commit=f"{i}", date=date, methods={"h": own}, **common) for i, own in enumerate(figures)], Path()
    )


def steps_of(before, after):
    """Eight entries with the first figures of a method, eight with the others: figure, change and verdict of its steps."""
    usual = {"time_s": 1.0, "runs": 3, "failed": 0}
    content = history([MethodFigures(**usual | part) for part in (before, after) for _ in range(8)])
    assert all(step.entry == 8 for step in content.steps)
    return {(step.figure, step.before_text, step.after_text, step.verdict) for step in content.steps}


THREE = {"quality": 0.12, "solved": 3, "over": "abc", "objective": 110.0}


def test_fewer_solved_runs_are_worse_whatever_the_means():
    lost = ("solved runs", "3", "2", "worse")
    two = {"quality": 0.0148, "solved": 2, "over": "ab", "objective": 90.0, "time_s": 0.5}
    assert steps_of(THREE, two) == {
        lost,
        ("mean gap", "12.00%", "1.48%", "other runs"),
        ("time (sgm)", "1.00 s", "500 ms", "other runs"),
    }
    assert {verdict for *_, verdict in steps_of(two, THREE)} == {"better", "other runs"}


def test_total_failure_is_worse():
    none = {"quality": None, "time_s": None, "solved": 0, "over": "", "objective": None, "failed": 3}
    assert steps_of(THREE, none) == {("solved runs", "3", "0", "worse")}


def test_entries_from_before_runs_were_counted_are_told_apart_by_their_failures():
    assert steps_of({"quality": 0.12}, {"quality": 0.01, "failed": 1}) == {
        ("mean gap", "12.00%", "1.00%", "other runs")
    }


@pytest.mark.parametrize(
    ("gap", "objective", "verdict"),
    [
        (0.04, 100.0, "better"),
        (0.04, 109.0, "bounds rose"),
        (0.04, 115.0, "worse, bounds rose"),
        (0.20, 121.0, "worse"),
        (0.20, 110.0, "bounds fell"),
        (0.20, 100.0, "bounds fell"),
    ],
)
def test_a_gap_is_better_where_solutions_are(gap, objective, verdict):
    """Half of the change of the gap, 8 points, must be that of the objectives."""
    ((figure, *_, found),) = steps_of(THREE, {**THREE, "quality": gap, "objective": objective})
    assert (figure, found) == ("mean gap", verdict)


def test_dearer_solutions_are_told_where_bounds_rose_as_much():
    dearer = {**THREE, "objective": 120.0}
    assert steps_of(THREE, dearer) == {("objective (sgm)", "110", "120", "worse")}


def test_a_suite_of_other_runs_is_neither_better_nor_worse():
    larger = {**THREE, "runs": 5, "solved": 5, "over": "abcde"}
    assert steps_of(THREE, larger) == {("solved runs", "3", "5", "other runs")}


def test_one_run_lost_at_the_last_of_many_entries_is_told():
    content = history([MethodFigures(0.1, 1.0, 3, 0, solved) for solved in (*[3] * 499, 2)])
    assert [(step.figure, step.entry, step.change) for step in content.steps] == [("solved runs", 499, "-1")]
    assert content.facts[3].is_bad
    assert [figure.title for figure in content.figures] == ["Mean gap", "Time (sgm)", "Solved runs"]
