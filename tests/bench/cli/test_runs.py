"""Parts of suites, what would be run, and what was."""

import json

import pytest

from schedgap.bench.suites.results import read_results


@pytest.fixture
def asked(schedgap, hostile, write_suite, tmp_path, monkeypatch):
    """Ask something about a suite of three methods on two instances: `asked("run", "-k", "honest")`."""
    monkeypatch.chdir(tmp_path)
    suite = write_suite(["x-honest", "x-random", "x-error"], seeds=2)
    return lambda *options: schedgap("run", suite, "--plugin", hostile, *options)


def test_a_part_of_a_suite_is_no_whole(asked, schedgap, tmp_path):
    """The plan stays whole, so everybody sees what is missing; the rest is done by the same command without -k."""
    code, out, _ = asked("-k", "honest", "-k", "*-s1")
    assert code == 0
    assert "1 runs, 1 of them now, 0 failed, 5 of 6 still to be done; recorded in runs/little." in out
    results = read_results(tmp_path / "runs" / "little")
    assert (results.planned, len(results.records)) == (6, 1)
    assert results.command[-4:] == ("-k", "honest", "-k", "*-s1")
    assert "5 of 6 still to be done" in schedgap("report", "runs/little")[1]
    code, out, err = asked("-k", "onest|random", "--json", "--quiet")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert (content["runs"], content["planned"], content["measured_now"]) == (4, 6, 3)
    (row,) = json.loads(schedgap("runs", "--json")[1])["runs"]
    assert (row["suite"], row["planned"], row["done"], row["failed"]) == ("little", 6, 4, 0)
    assert row["last"].startswith("20")
    lines = schedgap("runs")[1].splitlines()
    assert lines[2].split()[:2] == ["runs/little", "little"]
    assert "4 of 6" in lines[2]


def test_a_dry_run_runs_and_writes_nothing(asked, tmp_path):
    code, out, _ = asked("--dry-run", "-j", "1")
    assert code == 0
    assert "suite little: 6 runs, 0 recorded in runs/little\n" in out
    assert "6 runs to do, one at a time; no journal in runs/ or results/ tells how long they take." in out
    assert not (tmp_path / "runs").exists()
    asked("-k", "honest", "--quiet")
    before = (tmp_path / "runs" / "little" / "journal.jsonl").read_bytes()
    content = json.loads(asked("--dry-run", "-k", "honest|random", "--json")[1])
    assert (content["planned"], content["recorded"], content["known"]) == (6, 2, 0)
    assert {run["method"] for run in content["runs"]} == {"x-random"}
    content = json.loads(asked("--dry-run", "-k", "honest", "--fresh", "--json")[1])
    assert (len(content["runs"]), content["known"], content["sources"]) == (2, 2, ["runs/little"])
    assert content["expected_s"] > 0
    assert "Nothing is to be done." in asked("--dry-run", "-k", "honest")[1]
    assert (tmp_path / "runs" / "little" / "journal.jsonl").read_bytes() == before


def test_no_run_is_chosen(asked, tmp_path):
    code, out, err = asked("-k", "onestly")
    assert (code, out) == (2, "")
    assert err.startswith("SuiteError: no run matches -k onestly; ")
    assert not (tmp_path / "runs").exists()


def test_no_runs(schedgap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert schedgap("runs")[1] == "There are no runs in runs; `schedgap run SUITE` makes some.\n"


def test_each_run_is_told(asked):
    _, _, err = asked("-k", "honest", "--verbose", "-j", "1")
    assert [line.partition(", ")[0] for line in err.splitlines()] == [
        "x-honest on table7-6-physical-s0: feasible",
        "x-honest on table7-6-physical-s1: feasible",
    ]


@pytest.mark.parametrize(
    "facts", [{"packages": []}, {"packages": {"schedgap": 5}}, {"commit": 9}, {"name": ["a"]}, {"affinity": "all"}]
)
def test_odd_facts_of_a_machine(schedgap, tmp_path, make_record, facts):
    folder = tmp_path / "x"
    (folder / "hosts").mkdir(parents=True)
    (folder / "journal.jsonl").write_text(json.dumps(make_record("a", objective=5).to_row()) + "\n")
    (folder / "hosts" / "host.json").write_text(json.dumps({"schema": "schedgap/host/1", **facts}))
    code, _, err = schedgap("runs", tmp_path)
    assert code == 2
    assert err.startswith(f"JournalError: {folder}/hosts/host.json: cannot be read (Expected `")
    assert err.endswith("); remove it.\n")
