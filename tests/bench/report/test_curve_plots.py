"""Curves of solutions as files."""

from dataclasses import replace

from schedgap.bench.report import build_content, write_figures
from schedgap.bench.report.curve_data import CurveFigure, CurveLine


def test_svg(curved, tmp_path):
    """They come last, say what they are of, and are the same each time."""
    content = build_content(curved)
    first = write_figures(content, tmp_path / "first")
    second = write_figures(content, tmp_path / "second")
    assert [path.stem for path in first][-4:] == ["curve-1", "curve-2", "curve-3", "curve-4"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    cost, _, _, machines = (path.read_text() for path in first[-4:])
    for text in ("Cost &amp; &lt;b&gt;time&lt;/b&gt;", "i", "hours", "dollars", "a", "b", "20"):
        assert f">{text}</text>" in cost, text
    for text in ("Machines", "k", "machines"):
        assert f">{text}</text>" in machines, text


def test_long_tails_flat_curves_and_long_names(curved, tmp_path):
    """On a logarithmic axis with a place for 0, on axes away from 0, and beside a name that is cut."""
    tail = CurveFigure("tail", "x", "y", "word " * 50, True, (CurveLine(0, (0.0, 1.0, 1e4), (7.0, 7.0, 7.0), False),))
    flat = CurveFigure("flat", "x", "y", "i", False, (CurveLine(1, (-1.0, 3.0), (-5.0, -5.0), True),))
    content = replace(build_content(curved), curve_figures=(tail, flat))
    first, second = (path.read_text() for path in write_figures(content, tmp_path)[-2:])
    assert all(f">{text}</text>" in first for text in ("0", "10,000", "a"))
    assert " word…</text>" in first or "word…</text>" in first
    assert ">−5</text>" in second or ">-5</text>" in second
