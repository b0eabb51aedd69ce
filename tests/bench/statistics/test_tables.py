"""How figures are written."""

from dataclasses import asdict

import pytest

from schedgap.bench.statistics.headlines.gap import limits_note, time_of
from schedgap.bench.statistics.headlines.measures import measure_columns
from schedgap.bench.statistics.summary import summarise
from schedgap.bench.statistics.tables import (
    Head,
    failures,
    folded,
    in_percent,
    in_seconds,
    number,
    percent,
    seconds,
    table_html,
    table_lines,
    verified_note,
)
from schedgap.instances.method import Status

# A row of the headline `measures`.
MEASURED = {
    "wait_s": 9198.0,
    "wait_s_low": 8400.0,
    "wait_s_high": 10_512.0,
    "paper_wait_s": None,
    "model_wait_s": None,
    "gap_mean": None,
}


@pytest.mark.parametrize(
    ("share", "shown"),
    [(None, "-"), (0.0, "0%"), (0.3691, "36.91%"), (0.0112, "1.12%"), (0.0008, "0.080%"), (0.000008, "0.00080%")],
)
def test_percent(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("time", "shown"), [(None, "-"), (0.00015, "150 us"), (0.0424, "42.4 ms"), (1.5, "1.50 s"), (250.4, "250 s")]
)
def test_seconds(time, shown):
    assert seconds(time) == shown


def test_number():
    assert (number(None), number(22114.962), number(12.0)) == ("-", "22,114.962", "12")


def test_failures_are_counted_by_method_and_kind(make_record):
    records = [
        make_record("a", "i", status=Status.CRASHED, reason="it broke"),
        make_record("a", "j", status=Status.CRASHED, reason="it broke again"),
        make_record("b", "i", objective=1),
    ]
    assert failures(records) == ["a: crashed (2 of its runs), on i: it broke"]


def test_what_a_failed_run_had_found_is_told(make_record):
    dead = {"status": Status.TIMEOUT, "reason": "killed after 2 s"}
    found = [make_record("a", **dead, objective=2_500_000, bound=2_000_000), make_record("b", **dead, bound=1_000_000)]
    assert failures(found) == [
        "a: timeout (1 of its runs), on i: killed after 2 s; before, it had found a solution of 2.5 and a bound of 2 $/h",
        "b: timeout (1 of its runs), on i: killed after 2 s; before, it had found a bound of 1 $/h",
    ]
    assert failures([make_record("c", status=Status.INVALID, reason="it lies", bound=1)]) == [
        "c: invalid (1 of its runs), on i: it lies"
    ]


def test_what_a_failure_printed_last_is_told(make_record):
    """Three lines, without those that the reason says already; of the first run only, as the reason is."""
    output = "1\n2\n\n  three \x07\n4\nit broke\n"
    records = [make_record("a", name, status=Status.CRASHED, reason="it broke", output=output) for name in "ij"]
    told = ["a: crashed (2 of its runs), on i: it broke", "  | 2", "  | three \ufffd", "  | 4"]
    assert failures(records) == told


def test_long_reasons_are_cut(make_record):
    (line,) = failures([make_record("a", "i", status=Status.ERROR, reason="x" * 1000)])
    assert line == "a: error (1 of its runs), on i: " + "x" * 157 + "..."


def test_reasons_are_one_line_that_moves_no_cursor(make_record):
    """A method's own words, with the colours, line breaks and half characters that it pleased to print."""
    (line,) = failures([make_record("a", "i", status=Status.ERROR, reason="one\n\x1b[31mtwo \ud800")])
    assert line == "a: error (1 of its runs), on i: one \ufffd[31mtwo \ufffd"


def test_without_a_bound_no_gaps_are_claimed(make_record):
    solved, lied = make_record("a", "i", objective=5), make_record("b", "i", bound=9, status=Status.INVALID)
    assert verified_note([solved, lied]) == "Every solution was verified; no bound was proven, so there are no gaps."
    bounded = make_record("b", "i", bound=4)
    assert verified_note([solved, bounded]) == "Every solution was verified; gaps are against the best proven bound."


@pytest.mark.parametrize(
    ("time", "shown"),
    [(None, "-"), (0.00015, "0.000150"), (0.0424, "0.0424"), (0.5, "0.500"), (1.5, "1.50"), (1250.4, "1,250")],
)
def test_seconds_below_a_head_that_names_the_unit(time, shown):
    assert in_seconds(time) == shown


def test_a_share_below_a_head_that_names_the_unit():
    assert (in_percent(None), in_percent(0.3691)) == ("-", "36.91")


HEADS = (Head("method", is_text=True), Head("gap (%)"), Head("worst gap (%)", 1), Head("wins", 2))
ROWS = [("first-fit", "1.2", "10.25", "3"), ("best-fit[order=cpu,ties=index]", "0", "0", "14")]


def test_a_table_with_room():
    assert table_lines("Fits", HEADS, ROWS, 80) == [
        "Fits",
        "method                          gap (%)  worst gap (%)  wins",
        "------------------------------  -------  -------------  ----",
        "first-fit                           1.2          10.25     3",
        "best-fit[order=cpu,ties=index]        0              0    14",
    ]


def test_titles_and_parameters_are_folded_before_anything_is_left_out():
    """24 columns for the names, 3, 5 and 4 for the figures, 2 between them: 42."""
    assert table_lines("", HEADS, ROWS, 42) == [
        "                               worst",
        "                          gap    gap",
        "method                    (%)    (%)  wins",
        "------------------------  ---  -----  ----",
        "first-fit                 1.2  10.25     3",
        "best-fit[order=cpu,         0      0    14",
        "ties=index]",
    ]


def test_columns_are_left_out_by_rank_and_named():
    lines = table_lines("", HEADS, ROWS, 41)
    assert lines[-1] == "Not shown: wins; COLUMNS=42 shows all."
    assert all("14" not in line for line in lines)
    assert table_lines("", HEADS, ROWS, 34)[-2:] == ["Not shown: worst gap (%), wins;", "COLUMNS=42 shows all."]


def test_without_room_for_the_first_columns_a_row_is_a_block():
    heads = (*HEADS[:2], Head("why", 1, is_text=True, is_prose=True))
    rows = [(*ROWS[1][:2], "it fits in no way"), ("a", "7", "")]
    assert table_lines("", heads, rows, 25) == [
        "best-fit[order=cpu,",
        "ties=index]",
        "    gap (%): 0",
        "    why: it fits in no",
        "    way",
        "a",
        "    gap (%): 7",
    ]


def test_groups_are_apart():
    lines = table_lines("", (Head("name", is_text=True),), [("a",), ("b",), ("c",)], 80, ["x", "x", "y"])
    assert lines == ["name", "----", "a", "b", "", "c"]


def test_a_name_longer_than_the_terminal_is_whole():
    assert folded("see runs/a-name-that-is-long for it", 10) == ["see", "runs/a-name-that-is-long", "for it"]


def test_names_move_no_cursor():
    """Colours of a terminal, and markup, which is nothing here."""
    lines = table_lines("[red]x[/red]", (Head("a"),), [("\x1b[31mone",)], 80)
    assert lines[0] == "[red]x[/red]"
    assert lines[-1] == "\ufffd[31mone"


def test_wide_letters_count_twice():
    assert table_lines("", (Head("a", is_text=True), Head("b")), [("漢字", "1"), ("x", "2")], 80)[2:] == [
        "漢字  1",
        "x     2",
    ]


def test_a_measure_stands_with_how_sure_its_mean_is():
    columns = {column.title: column.terminal_text for column in measure_columns([MEASURED])}
    assert columns["wait (s)"](MEASURED) == "9,198 ± 1,300"
    assert columns["wait (s)"](MEASURED | {"wait_s": 0.5, "wait_s_low": 0.49, "wait_s_high": 0.5012}) == "0.5 ± 0.01"
    # A single instance says nothing of others.
    assert columns["wait (s)"](MEASURED | {"wait_s_low": 9198.0, "wait_s_high": 9198.0}) == "9,198"
    assert columns["wait (s)"](MEASURED | {"wait_s": None, "wait_s_low": None, "wait_s_high": None}) == "-"


def test_a_method_whose_runs_all_failed_has_no_time(make_record):
    """Invalid in milliseconds, it would show the wall limit of 100 s; where some failed, a note says what counts."""
    failed = [make_record("liar", name, status=Status.INVALID, wall_s=0.003) for name in "ij"]
    skipped = make_record("liar", "k", status=Status.UNSUPPORTED)
    some = [make_record("some", "i", objective=5, wall_s=1.0), make_record("some", "j", status=Status.TIMEOUT)]
    rows = [asdict(summary) for summary in summarise([*failed, skipped, *some])]
    assert [row["sgm_time_s"] is None for row in rows] == [False, False]
    assert time_of(rows[0], "sgm_time_s") is time_of(rows[0], "par10_s") is None
    assert time_of(rows[1], "sgm_time_s") == rows[1]["sgm_time_s"]
    assert limits_note(rows[:1]) == ""
    assert limits_note(rows).startswith("In time (sgm) a failed run counts with its wall limit")


def test_html_is_escaped():
    """Names are anybody's: they are text, and move no cursor; a figure is on the right."""
    made = table_html("<b>", [Head("a & b", is_text=True), Head("n")], [["<script>", "1\n2"]], ["5 < 6"])
    assert made == (
        '<table><caption>&lt;b&gt;</caption>\n<thead><tr><th style="text-align: left">a &amp; b</th>'
        '<th style="text-align: right">n</th></tr></thead>\n<tbody><tr><td style="text-align: left">&lt;script&gt;</td>'
        '<td style="text-align: right">1<br>2</td></tr></tbody></table>\n<p>5 &lt; 6</p>'
    )
