"""What results show of themselves: a line, a table, a frame, a figure."""

from dataclasses import replace

import pytest

from schedgap.bench import compare, gap, run_suite
from schedgap.bench.statistics.export_table import POINT_COLUMNS, RUN_COLUMNS
from schedgap.bench.suites.results import read_results
from schedgap.instances.errors import ReportError
from schedgap.instances.provisioning import table3


@pytest.fixture(scope="module")
def of_gap():
    """Alone each task pays $16.2 together, where $12.8 is the optimum: a gap of 3.4 / 16.2 = 20.99 %."""
    return gap(table3(), ["no-packing", "patterns"])


@pytest.fixture
def of_suite(tmp_path, write_suite):
    return run_suite(write_suite(["no-packing", "patterns"], seeds=2), out=str(tmp_path / "out"))


def test_a_gap(of_gap):
    assert repr(of_gap) == "<GapResult table3: bound 12.8, best solution 12.8 $/h, gap 0%, 2 runs>"
    title, heads, *rows = str(of_gap).splitlines()
    assert title == "table3"
    assert heads.split("  ")[0] == "method"
    cells = dict(zip([head.title for head in of_gap.table()[1]], rows[1].split(), strict=True))
    assert [cells[key] for key in ("method", "objective ($/h)", "machines", "gap (%)")] == [
        *("no-packing", "16.2", "4", "20.99")
    ]
    assert of_gap.to_json()["results"][0]["measures"]["machines"] == 4
    assert of_gap._repr_html_().count("<tr>") == 3
    assert '<td style="text-align: right">20.99</td>' in of_gap._repr_html_()


@pytest.mark.parametrize(("share", "said"), [(0.46, "54.00% OF THE CORE-HOURS"), (0.05, "95.00% of the core-hours")])
def test_what_a_gap_does_not_answer(of_gap, share, said):
    """Above a tenth of the input it cannot be overlooked."""
    part = replace(of_gap, left_out=(("jobs on several machines", share),), assumptions=("waiting is free",))
    title = f"table3: {said}"
    assert part.table()[0].startswith(title)
    assert part.table()[0].endswith(f"; left out: jobs on several machines ({share:.2%})")
    assert part.to_json()["left_out"] == [{"what": "jobs on several machines", "share": share}]
    assert part.to_json()["assumptions"] == ["waiting is free"]


def test_a_record(of_gap):
    exact = repr(of_gap.records[1])
    assert exact.startswith("<Record patterns on table3: optimal, objective 12.8 $/h, bound 12.8 $/h, ")
    assert exact.endswith(" s>")


def test_frames(of_gap):
    table = of_gap.frame()
    assert list(table.columns) == list(RUN_COLUMNS)
    assert table.objective.tolist() == [16_200_000, 12_800_000]
    assert table.objective_shown.tolist() == [16.2, 12.8]
    assert set(table.unit) == {"$/h"}
    assert table.gap.tolist() == pytest.approx([3.4 / 16.2, 0.0])
    assert list(of_gap.points().columns) == list(POINT_COLUMNS)


def test_a_suite(of_suite):
    assert repr(of_suite) == f"<SuiteResult little: 4 runs, 0 failed, in {of_suite.directory}>"
    assert str(of_suite).splitlines()[0] == "A little suite"
    assert of_suite._repr_html_().startswith("<table><caption>A little suite</caption>")
    assert len(of_suite.frame()) == 4
    assert repr(read_results(str(of_suite.directory))) == f"<Results in {of_suite.directory}: 4 of 4 runs>"


def test_a_comparison(of_suite, tmp_path):
    again = tmp_path / "again"
    again.symlink_to(of_suite.directory, target_is_directory=True)
    assert repr(compare(of_suite.directory, again)).startswith(
        f"<Comparison of {of_suite.directory} and {again}: not-com"
    )


def test_figures(of_gap, of_suite, tmp_path):
    """The first, one by its name, and a file of it; a gap of one instance has them as a suite."""
    first = of_suite.plot()
    assert first.name == "gaps"
    assert repr(first).startswith("<Drawing gaps, ")
    assert "gap-profile" in first.others
    assert first._repr_svg_().lstrip().startswith("<?xml")
    assert (
        of_suite.plot("gap-profile").save(str(tmp_path / "profile.svg")).read_text() == of_suite.plot("gap-profile").svg
    )
    assert "no-packing" in of_gap.plot("gaps").svg
    with pytest.raises(ReportError, match="there is no figure 'gap-profil'; did you mean gap-profile"):
        of_suite.plot("gap-profil")


def test_failures_are_told(write_suite, hostile, tmp_path):
    result = run_suite(write_suite(["x-honest", "x-abort"]), out=tmp_path / "failing", plugins=[hostile])
    assert "1 failed" in repr(result)
    assert "x-abort: crashed (1 of its runs)" in str(result).splitlines()[-1]
    assert "<p>x-abort: crashed (1 of its runs)" in result._repr_html_()
