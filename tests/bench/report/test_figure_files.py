"""Figures as files: which there are, that they never change, that their text is text."""

from dataclasses import replace

import pytest

from schedgap.bench.report.figure_files import drawn_figures, write_figures
from schedgap.bench.report.figures.packing import MethodCurve, solution_figures
from schedgap.bench.report.figures.selection import Budget
from schedgap.bench.report.page import build_content
from schedgap.instances.errors import ReportError
from schedgap.instances.picture import Curve

NAMES = ["paper", "gaps", "time-profile", "gap-profile", "anytime", "scatter"]


def drawn(content, *names):
    """The text of figures, which are the same each time that they are drawn."""
    found = drawn_figures(content)
    first, second = ([found[name]("svg").decode() for name in names] for _ in range(2))
    assert first == second
    return first


@pytest.fixture(scope="module")
def content(results):
    return build_content(results)


def test_svg(content, tmp_path):
    first = write_figures(content, tmp_path / "first")
    second = write_figures(content, tmp_path / "second")
    assert [path.name for path in first] == [f"{name}.svg" for name in NAMES]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert all(">exact</text>" in path.read_text() or path.stem == "paper" for path in first)
    assert not any("broken" in path.read_text() for path in first)


def test_png(content, tmp_path):
    paths = write_figures(content, tmp_path, "png")
    assert [path.name for path in paths] == [f"{name}.png" for name in NAMES]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_pdf(content, tmp_path):
    paths = write_figures(content, tmp_path, "pdf")
    assert [path.name for path in paths] == [f"{name}.pdf" for name in NAMES]
    assert all(path.read_bytes().startswith(b"%PDF") and b"CreationDate" not in path.read_bytes() for path in paths)


def test_growth(results, suite, make_record):
    records = tuple(
        make_record("near", f"n{tasks}", source={"tasks": tasks}, objective=1, bound=1, wall_s=tasks / 100)
        for tasks in (100, 200)
    )
    sizes = replace(results, suite=suite.model_copy(update={"headline": "runtime"}), records=records)
    content = build_content(sizes)
    assert drawn(content, "growth")
    assert set(drawn_figures(content)) == {"growth", "gaps", "time-profile", "gap-profile", "scatter"}


def test_sweeps(measured):
    """The figures of a suite's sweeps come first; a logarithmic axis has a place for the zeros of `b`."""
    content = build_content(measured)
    assert list(drawn_figures(content)) == ["sweep-1", "sweep-2", "gaps", "time-profile", "scatter"]
    waits, price = drawn(content, "sweep-1", "sweep-2")
    for text in ("Waits &amp; &lt;b&gt;machines&lt;/b&gt;", "mean wait (s)", "a", "b", "model", "the paper", "0"):
        assert f">{text}</text>" in waits, text
    assert not any(f">{text}</text>" in price for text in ("model", "the paper"))


def test_maps(mapped):
    content = build_content(mapped)
    assert list(drawn_figures(content)) == ["map-1", "gaps", "time-profile", "scatter"]
    (shown,) = drawn(content, "map-1")
    for text in ("Who is best", "a", "b", "1.5", "2.25", "1 of 1"):
        assert f">{text}</" in shown, text


def test_many_long_names_leave_room_for_the_axes(measured, make_run, tmp_path):
    """Matplotlib warns, which is an error here, if the legend takes all."""
    records = tuple(
        make_run(
            f"method-{i}", {"s": s, "limit": f"{i:040d}"}, objective=1 + i, wall_s=1.0 + i, measures={"price": i + s}
        )
        for i in range(40)
        for s in (1, 2)
    )
    assert len(write_figures(build_content(replace(measured, records=records)), tmp_path)) == 4


def test_letters_that_the_font_lacks(results, make_record):
    """They are in the SVG for the reader's fonts to show; matplotlib's warning would be an error here."""
    records = (make_record("a[s=等待]", "i", objective=2, bound=1, wall_s=1.0),)
    content = build_content(replace(results, records=records))
    assert "等待" in drawn(content, "gaps")[0]
    assert drawn_figures(content)["gaps"]("pdf")


def test_files_are_not_written_over(content, tmp_path):
    (tmp_path / "scatter.svg").write_text("mine")
    with pytest.raises(ReportError, match=r"scatter\.svg exists and is not written over"):
        write_figures(content, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["scatter.svg"]
    write_figures(content, tmp_path, force=True)
    assert "mine" not in (tmp_path / "scatter.svg").read_text()


def test_curves_of_solutions(curved):
    """They come last, say what they are of, and are the same each time."""
    content = build_content(curved)
    assert list(drawn_figures(content))[-4:] == ["curve-1", "curve-2", "curve-3", "curve-4"]
    cost, _, _, machines = drawn(content, "curve-1", "curve-2", "curve-3", "curve-4")
    for text in ("Cost &amp; &lt;b&gt;time&lt;/b&gt;", "i", "hours", "dollars", "a", "b", "20"):
        assert f">{text}</text>" in cost, text
    for text in ("Machines", "k", "machines"):
        assert f">{text}</text>" in machines, text


def test_long_tails_flat_curves_and_long_names(curved):
    """On a logarithmic axis with a place for 0, on axes away from 0, and beside a name that is cut."""
    tail = Curve("tail", "x", "y", (0.0, 1.0, 1e4), (7.0, 7.0, 7.0))
    flat = Curve("flat", "x", "y", (-1.0, 3.0), (-5.0, -5.0), is_step=True)
    figures = [
        *solution_figures([MethodCurve(0, "a", tail)], "word " * 50, Budget(), 1),
        *solution_figures([MethodCurve(1, "b", flat)], "i", Budget(), 2),
    ]
    content = replace(build_content(curved), curve_figures=tuple(figures))
    first, second = drawn(content, "curve-1", "curve-2")
    assert all(f">{text}</text>" in first for text in ("0", "10,000", "a"))
    assert " word…</text>" in first or "word…</text>" in first
    assert ">−5</text>" in second or ">-5</text>" in second


def test_timetables(timed):
    """The best schedule and the worst, as text and boxes."""
    content = build_content(timed)
    assert list(drawn_figures(content))[-1] == "timetable-1"
    (text,) = drawn(content, "timetable-1")
    for word in ("machine &lt;0&gt;", "waiting", "m0", "runs", "waits", "seconds"):
        assert f">{word}</text>" in text, word
    assert ">m1</text>" not in text
