"""`schedgap report`: what it prints, what it writes, and how it ends."""

import csv
import json

import pytest
from msgspec.structs import replace

from schedgap.bench import run_suite
from schedgap.bench.records.journal import journal_line

SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "A little suite"
question = "Does it work?"
family = "provisioning"
methods = ["patterns", "no-packing", "x-error"]
[[instances]]
generator = "table7"
parameters = { tasks = 6 }
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory, hostile):
    """Three runs on one instance, one of which failed."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "little.toml").write_text(SUITE)
    run_suite(folder / "little.toml", out=folder / "out", plugins=[hostile], jobs=1)
    return folder / "out"


def test_the_table_and_what_failed(schedgap, directory):
    code, out, err = schedgap("report", directory)
    assert (code, err) == (0, "")
    assert "A little suite" in out
    assert all(name in out for name in ("patterns", "no-packing", "Does it work?"))
    assert "3 runs, 1 failed; recorded in" in " ".join(out.split())
    assert "x-error: error (1 of its runs), on table7-6-physical-s0: ValueError: no such luck" in out


def test_json(schedgap, directory):
    code, out, err = schedgap("report", directory, "--json")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert (content["suite"], content["instances"], content["runs"], content["failed"]) == ("little", 1, 3, 1)
    assert [row["method"] for row in content["table"]] == [row["method"] for row in content["methods"]]


def test_without_a_plan_methods_of_one_name_in_two_families_are_two(schedgap, tmp_path, make_record):
    one, other = make_record("random", objective=10, bound=5), make_record("random", "j", objective=10, bound=10)
    run = replace(other.run, family="harvest")
    other = replace(other, key=run.key, run=run)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(journal_line(record.to_row()) for record in (one, other)))
    shown, page = schedgap("report", tmp_path, "--json")[1], tmp_path / "page.html"
    gaps = {row["method"]: row["gap_mean"] for row in json.loads(shown)["table"]}
    assert gaps == {"provisioning/random": 0.5, "harvest/random": 0.0}
    assert all(name in schedgap("report", tmp_path)[1] for name in gaps)
    schedgap("report", tmp_path, "--html", page)
    assert all(name in page.read_text() for name in gaps)


def test_files(schedgap, directory, tmp_path):
    page, figures, table = tmp_path / "new" / "report.html", tmp_path / "figures", tmp_path / "runs.csv"
    wanted = ("report", directory, "--html", page, "--figures", figures, "--figure-format", "pdf", "--table", table)
    code, out, err = schedgap(*wanted)
    assert (code, err) == (0, "")
    written = [line.split(" ")[1].rsplit("/", 1)[1] for line in out.splitlines()]
    assert written == ["runs.csv", "runs.points.csv", "report.html"] + [
        f"{name}.pdf" for name in ("gaps", "time-profile", "gap-profile", "anytime", "scatter")
    ]
    assert "A little suite" in page.read_text()
    with table.open(newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == ["patterns", "no-packing", "x-error"]
    assert schedgap(*wanted)[0] == 2
    # Figures that are there are written over in `test_files_are_not_written_over`.
    assert schedgap("report", directory, "--html", page, "--table", table, "--force")[0] == 0


@pytest.mark.parametrize("name", ["report.html", "runs.csv", "runs.points.csv", "scatter.svg"])
def test_nothing_is_written_if_one_file_exists(schedgap, directory, tmp_path, name):
    there = tmp_path / name
    there.write_text("mine")
    wanted = ("--html", tmp_path / "report.html", "--table", tmp_path / "runs.csv", "--figures", tmp_path)
    code, out, err = schedgap("report", directory, *wanted)
    assert (code, out) == (2, "")
    assert err == f"ReportError: {there} exists and is not written over; give another name or --force.\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_table_of_another_suffix_leaves_no_folder(schedgap, directory, tmp_path):
    code, out, err = schedgap("report", directory, "--table", tmp_path / "new" / "runs.xls")
    assert (code, out) == (2, "")
    assert "a table ends in .csv or .parquet, not '.xls'" in err
    assert list(tmp_path.iterdir()) == []


def test_a_directory_without_a_journal(schedgap, tmp_path):
    code, out, err = schedgap("report", tmp_path / "absent")
    assert (code, out) == (2, "")
    assert err.startswith("JournalError: ")
    assert len(err.splitlines()) == 1


def test_nothing_measured(schedgap, directory, tmp_path):
    """An empty journal, and one whose only run failed: that one has a page to look at."""
    (tmp_path / "journal.jsonl").write_text("")
    code, out, err = schedgap("report", tmp_path, "--html", tmp_path / "report.html")
    assert (code, out) == (4, "")
    assert err == f"{tmp_path}: nothing was measured: there is no run to report on.\n"
    assert not (tmp_path / "report.html").exists()
    lines = (directory / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_text("".join(line for line in lines if '"label":"x-error"' in line))
    code, _, err = schedgap("report", tmp_path, "--html", tmp_path / "report.html")
    assert (code, err) == (4, f"{tmp_path}: nothing was measured: no run ended with a result.\n")
    assert "no such luck" in (tmp_path / "report.html").read_text()
