import numpy as np
import pytest

from schedgap.instances.picture import (
    IDLE,
    MARK,
    MAX_MARKS,
    MAX_ROWS,
    MAX_SPANS,
    PARTS,
    RUNS,
    TICKS,
    WAITS,
    Spans,
    timetable,
)

WORDS = {RUNS: "runs", WAITS: "waits", IDLE: "idle"}


def spans(*given):
    """Return spans of (row, begin, end, look, label)."""
    return Spans(*np.array(given, np.int64).reshape(-1, 5).T)


def drawn(given, **more):
    return timetable([given], lambda row: f"row {row}", lambda label: f"job {label}", WORDS, **more)


def marks(row):
    return [row.marks[i : i + MARK] for i in range(0, len(row.marks), MARK)]


def test_spans_beside_each_other_have_lanes_and_a_free_one_is_used_again():
    """Over 10 s: job 7 for 5 s, job 8 beside it from 2 s to 10 s, job 7 again in the first lane."""
    table = drawn(spans((0, 0, 5, RUNS, 7), (0, 2, 10, RUNS, 8), (0, 6, 8, WAITS, 7)))
    assert (table.unit, table.begin, table.end) == ("seconds", 0, 10)
    assert (table.looks[RUNS], table.looks[WAITS], table.looks[IDLE]) == ("runs", "waits", "")
    assert table.labels == ("job 7", "job 8")
    half, tenth = PARTS // 2, TICKS // 10
    assert marks(table.rows[0]) == [
        (0, half, 0, 5 * tenth, RUNS, 0),
        (half, half, 2 * tenth, 8 * tenth, RUNS, 1),
        (0, half, 6 * tenth, 2 * tenth, WAITS, 0),
    ]
    assert table.is_sound


def test_what_is_alone_takes_the_whole_height():
    table = drawn(spans((0, 0, 5, RUNS, 1), (0, 0, 5, RUNS, 2), (0, 5, 10, IDLE, -1)))
    assert marks(table.rows[0])[0] == (0, PARTS, TICKS // 2, TICKS // 2, IDLE, -1)


def test_rows_without_spans_and_those_above():
    table = drawn(spans((-1, 0, 1, WAITS, 0), (2, 1, 2, RUNS, 0)), rows=np.arange(3))
    assert [row.name for row in table.rows] == ["row -1", "row 0", "row 1", "row 2"]
    assert [len(row.marks) for row in table.rows] == [6, 0, 0, 6]


def test_many_rows_are_chosen_evenly_and_this_is_said():
    table = drawn(spans(*((row, 0, 1, RUNS, row) for row in range(1000)), (-1, 0, 1, WAITS, 0)))
    assert [row.name for row in table.rows][:2] == ["row -1", "row 0"]
    assert table.rows[-1].name == "row 999"
    assert len(table.rows) == MAX_ROWS + 1
    assert table.note == f"1,000 rows, of which {MAX_ROWS} are shown, evenly chosen"


def test_too_many_spans_in_a_row_become_means_that_add_up():
    """10,000 jobs of 3 s, one a second: 3 at a time, but for the ends; half of them wait."""
    begin = np.arange(10_000)
    table = timetable(
        [Spans.of(np.zeros_like(begin), begin, begin + 3, np.where(begin % 2, RUNS, WAITS), begin)],
        str,
        str,
        WORDS,
    )
    (row,) = table.rows
    assert "on average" in table.note
    assert row.peak == pytest.approx(3, rel=1e-3)
    area = sum(mark[1] / PARTS * row.peak * mark[3] / TICKS * 10_002 for mark in marks(row))
    assert area == pytest.approx(30_000, rel=0.01)
    assert {mark[4] for mark in marks(row)} == {RUNS, WAITS}
    assert all(mark[5] == -1 for mark in marks(row))
    assert len(marks(row)) <= MAX_MARKS


def test_units_follow_the_length_and_large_times_do_not_overflow():
    table = drawn(spans((0, 2**60, 2**60 + 7200 * 10**6, RUNS, 0)), per_second=10**6)
    assert table.unit == "minutes"
    assert table.end - table.begin == pytest.approx(120)
    assert marks(table.rows[0])[0][2:4] == (0, TICKS)


def test_nothing_that_lasts_is_no_timetable():
    assert drawn(spans((0, 3, 3, RUNS, 0))) is None


def test_more_spans_than_are_sorted_are_told_of_only():
    many = np.zeros(MAX_SPANS + 1, np.int64)
    table = timetable([Spans.of(many, 0, 1, RUNS, -1)], str, str, WORDS)
    assert table.rows == ()
    assert "1,000,001 spans" in table.note
