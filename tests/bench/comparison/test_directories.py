"""Directories of runs, read and compared."""

import json

import pytest

from schedgap.bench import compare
from schedgap.instances.errors import JournalError


@pytest.fixture
def written(tmp_path, make_record):
    """A directory with one run."""
    (tmp_path / "good").mkdir()
    row = json.dumps(make_record("a", objective=5).to_row())
    (tmp_path / "good" / "journal.jsonl").write_text(row + "\n")
    return tmp_path / "good"


def test_directories(written, tmp_path):
    """Neither plan nor hosts are needed."""
    copied = tmp_path / "copied"
    copied.mkdir()
    (copied / "journal.jsonl").write_bytes((written / "journal.jsonl").read_bytes())
    found = compare(written, str(copied))
    assert (found.verdict, found.compared) == ("ok", 1)
    assert (found.base.directory, found.base.runs, found.base.failed) == (written, 1, 0)
    for sides, name in (((tmp_path / "none", written), "BASE"), ((written, tmp_path), "NEW")):
        found = compare(*sides)
        assert found.verdict == "not-comparable"
        assert found.problem.startswith(f"{name} {sides[name == 'NEW']} has no journal.jsonl")


def test_a_directory_is_not_compared_with_itself(written):
    """It would always be green."""
    found = compare(written, written.parent / "good" / ".." / "good")
    assert (found.verdict, found.problem) == ("not-comparable", f"BASE and NEW are both {written}; give two.")


def test_a_corrupt_journal_is_an_error(written, tmp_path):
    (tmp_path / "journal.jsonl").write_text("nonsense\n")
    with pytest.raises(JournalError, match="line 1"):
        compare(written, tmp_path)
