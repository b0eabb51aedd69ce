"""A directory of results: what the suite planned, what the journal holds, and what neither may be."""

import json
import os

import pytest

from schedgap.bench import run_suite
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.suites.results import FILE_NAME, read_plan, read_results, write_plan
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import JournalError


@pytest.fixture(scope="module")
def directory(tmp_path_factory, hostile):
    """Two methods on two instances, and after that the suite with one method only."""
    folder = tmp_path_factory.mktemp("results")
    text = """
        schema = "schedgap/suite/1"
        name = "little"
        title = "Little"
        question = "?"
        family = "provisioning"
        methods = METHODS
        [[instances]]
        generator = "table7"
        parameters = { tasks = 6 }
        seeds = 2
        """
    for methods in (["no-packing", "x-honest"], ["x-honest", "x-error"]):
        (folder / "little.toml").write_text(text.replace("METHODS", json.dumps(methods)))
        run_suite(folder / "little.toml", out=folder / "out", plugins=[hostile], jobs=1)
    return folder / "out"


def test_results_are_those_of_the_plan(directory, hostile):
    """The journal also holds the two runs of no-packing, which the suite does not name any more."""
    results = read_results(directory)
    assert results.suite.name == "little"
    assert results.command[:2] == ("schedgap", "run")
    assert results.command[-2:] == ("--plugin", str(hostile))
    assert [record.run.label for record in results.records] == ["x-honest", "x-error"] * 2
    assert results.planned == 4
    assert {record.host for record in results.records} == set(results.hosts)


def test_without_a_plan_everything_counts(directory, tmp_path):
    (tmp_path / "journal.jsonl").write_bytes((directory / "journal.jsonl").read_bytes())
    results = read_results(tmp_path)
    assert results.suite is None
    assert len(results.records) == results.planned == 6


def test_solved_runs_have_pictures(directory):
    records = read_results(directory).records
    pictures = read_pictures(directory, {record.key for record in records})
    assert set(pictures) == {record.key for record in records if record.run.label == "x-honest"}
    assert all(sum(bar.repeat for bar in picture.bars) == 6 for picture in pictures.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no plan of a suite"),
        ('{"schema": "schedgap/plan/0"}', "schema 'schedgap/plan/0', this version reads 'schedgap/plan/1'"),
        ('{"schema": "schedgap/plan/1", "suite": {}, "keys": [], "command": []}', r"suite\.schema: field required"),
    ],
)
def test_a_plan_that_is_none(directory, tmp_path, text, message):
    (tmp_path / "journal.jsonl").write_bytes((directory / "journal.jsonl").read_bytes())
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(JournalError, match=message):
        read_results(tmp_path)


def test_no_results_at_all(tmp_path):
    with pytest.raises(JournalError, match="give the directory of a suite's runs"):
        read_results(tmp_path)


def test_a_command_with_letters_that_the_locale_does_not_know(tmp_path):
    """The plan has them as they were typed."""
    write_plan(tmp_path, read_suite("smoke")[0], ["schedgap", os.fsdecode("\u00fc.py".encode()), "\udcc3\udcbc.py"], [])
    assert read_plan(tmp_path).command == ("schedgap", "\u00fc.py", "\u00fc.py")


def test_a_key_twice_in_a_plan(tmp_path):
    write_plan(tmp_path, read_suite("smoke")[0], [], ["a", "b", "a"])
    with pytest.raises(JournalError, match=r"plan\.json: a key is there twice"):
        read_plan(tmp_path)
