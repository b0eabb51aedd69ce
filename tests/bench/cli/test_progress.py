"""How far the work is, where stderr is no terminal."""

from collections import Counter

import pytest

from schedgap.bench.api import Progress
from schedgap.bench.cli import progress
from schedgap.bench.cli.progress import Pace, ProgressBar, duration
from schedgap.bench.isolation.pool import doing
from schedgap.instances.method import Status


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(progress, "LEAST_S", 0.0)


def test_a_line_at_each_tenth(often, capsys, make_record):
    """20 runs: ten lines, of which the first is after the second run."""
    record = make_record("a", objective=1)
    with ProgressBar("suite x") as bar:
        bar.show(Progress(0, 20, None, ("a note.",)))
        for done in range(1, 21):
            bar.show(Progress(done, 20, record))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "a note."
    assert [line.split(",")[0] for line in lines[1:]] == [f"suite x: {2 * tenth} of 20 runs" for tenth in range(1, 11)]
    assert "left" in lines[1]
    assert "left" not in lines[-1]


def test_nothing_is_said_of_the_time_left_while_kernels_are_compiled(often, capsys, make_record):
    with doing("compiling fifo (once)"), ProgressBar("suite x") as bar:
        bar.show(Progress(0, 480, None))
        bar.show(Progress(1, 480, make_record("a", objective=1, wall_s=0.1)))
        assert bar.left() == ""
    assert bar.left() != ""


def test_what_is_left_is_known_by_method(make_record):
    """Of a, one of 3 s is left to be done twice, of b one of 1 s three times: 9 s; of 4 s that were counted 8 had gone by."""
    pace = Pace(Counter(a=3, b=4))
    for label, wall_s in (("a", 3.0), ("b", 1.0)):
        pace.ended(make_record(label, objective=1, wall_s=wall_s))
    # As long as they took: one after another.
    pace.working_s = 4.0
    assert pace.left_s(5) == 9.0
    # Two at a time.
    pace.working_s = 2.0
    assert pace.left_s(5) == 4.5
    # Each had 2 s to do beside its method.
    pace.working_s = 8.0
    assert pace.left_s(5) == 19.0


def test_a_method_that_none_was_run_of_takes_as_long_as_all(make_record):
    pace = Pace(Counter(a=1, b=2))
    pace.ended(make_record("a", objective=1, wall_s=3.0))
    pace.working_s = 3.0
    assert pace.left_s(2) == 6.0


def test_steps_without_records_take_what_they_took():
    pace = Pace()
    pace.ended(None)
    pace.working_s = 2.0
    assert pace.left_s(3) == 6.0


def test_what_goes_on_is_told(often, capsys, make_record):
    with doing("compiling fifo (once)"), ProgressBar("suite x") as bar:
        bar.show(Progress(0, 2, None))
        bar.show(Progress(1, 2, make_record("a", status=Status.TIMEOUT)))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("suite x: 1 of 2 runs, 1 failed, ")
    assert line.endswith("; now compiling fifo (once)")


def test_little_is_said_of_what_is_short(capsys, make_record):
    with ProgressBar("suite x") as bar:
        bar.show(Progress(1, 1, make_record("a", objective=1)))
    assert capsys.readouterr().err == ""


def test_each_run_if_asked_for_and_nothing_if_asked_for(often, capsys, make_record):
    record = make_record("a", "i", objective=1, wall_s=0.25)
    with ProgressBar("suite x", verbose=True) as bar:
        bar.show(Progress(1, 30, record))
    assert capsys.readouterr().err == "a on i: feasible, 0.250 s\n"
    with ProgressBar("suite x", quiet=True) as bar:
        bar.show(Progress(30, 30, record, ("a note.",)))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (99, "99 s"), (250, "4 min"), (9000, "2.5 h")])
def test_durations(seconds, said):
    assert duration(seconds) == said


def test_steps_that_are_points_and_the_time_that_limits_leave(often, capsys, make_record):
    """The third of seven goes on; limits leave ten seconds for the rest, whatever the first two took."""
    with ProgressBar("a cluster", step="point") as bar:
        bar.show(Progress(0, 7, None, left_s=70))
        assert bar.left() == "70 s"
        bar.show(Progress(2, 7, None, left_s=0.2))
        assert bar.left() == "0 s"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("a cluster: point 3 of 7, ")
