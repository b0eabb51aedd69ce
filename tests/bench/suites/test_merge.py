"""What cannot be merged, told in one sentence; nothing is written then."""

import json

import pytest

from schedgap.bench.records.contradictions import Contradiction
from schedgap.bench.records.host import host_facts, write_host
from schedgap.bench.records.journal import Journal, Lines
from schedgap.bench.suites.merge import merge
from schedgap.bench.suites.results import write_plan
from schedgap.bench.suites.suite import Suite
from schedgap.instances.errors import JournalError

SUITE = {
    "schema": "schedgap/suite/1",
    "name": "little",
    "title": "Little",
    "question": "?",
    "family": "provisioning",
    "methods": ["no-packing"],
    "instances": [{"generator": "table7"}],
}


@pytest.fixture
def write(tmp_path, make_record):
    """Write a directory: `write("a", {"i0": 5}, planned=3)` has a run on i0 with objective 5 of three planned ones."""

    def made(name, objectives, /, *, planned=3, facts=None, **changes):
        folder = tmp_path / name
        host = write_host_of(folder, facts)
        with Journal(folder) as journal:
            for instance, objective in objectives.items():
                journal.append(with_host(make_record("m", instance, objective=objective), host))
        keys = [make_record("m", f"i{number}").key for number in range(planned)]
        write_plan(folder, Suite.model_validate({**SUITE, **changes}), ["schedgap"], keys)
        return folder

    def write_host_of(folder, facts):
        folder.mkdir()
        return write_host(folder, facts or host_facts())

    def with_host(record, host):
        row = {**record.to_row(), "host": host}
        return Lines().of_row(json.loads(json.dumps(row)))

    return made


@pytest.fixture
def refusal(tmp_path):
    def refused(*folders):
        with pytest.raises(JournalError) as error:
            merge(folders, tmp_path / "out")
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted({folder.name for folder in folders})
        return str(error.value).replace(f"{tmp_path}/", "")

    return refused


def test_two_rows_of_one_run(write, refusal, make_record):
    key = make_record("m", "i0").key
    assert refusal(write("a", {"i0": 5}), write("b", {"i0": 6})) == (
        f"b and a have different rows of m on i0 (key {key}: objective 6, not 5); leave one of the directories out."
    )


def test_equal_rows_are_one(write, tmp_path):
    """The last row of a key is what counts, in each directory; what another version wrote may be spelt otherwise."""
    one, two = write("a", {"i0": 5, "i1": 1}), write("b", {"i0": 5, "i2": 2})
    path = two / "journal.jsonl"
    first, *others = path.read_text().splitlines(keepends=True)
    wrong = first.replace('"objective":5', '"objective":4')
    path.write_text(wrong + "".join(others) + json.dumps(json.loads(first)) + "\n")
    assert merge([two, one], tmp_path / "out").runs == 3
    lines = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["objective"] for line in lines] == [5, 1, 2]


def test_rows_of_no_plan_come_along(write, tmp_path):
    """An edited plug-in's earlier rows; and what a kill tore is left out."""
    one, two = write("a", {"i0": 5, "old": 7}), write("b", {"i1": 5})
    with open(two / "journal.jsonl", "a") as file:
        file.write('{"schema":"sched')
    assert (merge([one, two], tmp_path / "out").runs, len(read(tmp_path / "out"))) == (2, 3)


def read(folder):
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_verdicts_are_kept_once(write, tmp_path):
    folders = [write("a", {"i0": 5}), write("b", {"i1": 5})]
    for folder in folders:
        with Journal(folder) as journal:
            journal.append_verdict(Contradiction(("some key",), "it lied"))
    merge(folders, tmp_path / "out")
    assert [row["schema"] for row in read(tmp_path / "out")] == ["schedgap/run/2"] * 2 + ["schedgap/verdict/1"]


def test_other_suites_and_plans(write, refusal):
    one = write("a", {"i0": 5})
    assert refusal(one, write("b", {}, name="large")) == (
        "b is of suite large, a of suite little; merge shards of one suite, run alike."
    )


def test_other_fields_of_a_suite(write, refusal):
    assert refusal(write("a", {"i0": 5}), write("b", {}, seed=7, title="?")) == (
        "b has other title, seed in suite little than a; merge shards of one suite, run alike."
    )


def test_other_plans(write, refusal):
    assert refusal(write("a", {"i0": 5}), write("b", {}, planned=4)) == (
        "b and a have different plans, 1 and 0 of their 4 and 3 runs are in one only (a method's version, a back end's, "
        "a plug-in or an option); merge shards of one suite, run alike."
    )


def test_other_versions(write, refusal):
    facts = dict(host_facts())
    other = {**facts, "packages": {**facts["packages"], "highspy": "0.1", "joblib": "0.1"}}
    assert refusal(write("a", {"i0": 5}), write("b", {"i1": 5}, facts=other)) == (
        f"b was measured with other versions than a: highspy 0.1 (there {facts['packages']['highspy']}); "
        "leave one of the two out, and run it again with the versions of the others."
    )


def test_a_damaged_line(write, refusal):
    one, two = write("a", {"i0": 5}), write("b", {"i1": 5})
    with open(two / "journal.jsonl", "a") as file:
        file.write("{}\n")
    assert refusal(one, two).startswith("b/journal.jsonl line 2: no record of a run (KeyError('schema'))")


def test_no_plan(write, refusal):
    one, two = write("a", {"i0": 5}), write("b", {"i1": 5})
    (two / "plan.json").unlink()
    assert refusal(one, two) == "b has no plan.json; give directories of `schedgap run`."


def test_nothing_is_written_over(write, tmp_path, schedgap):
    one, two = write("a", {"i0": 5}), write("b", {"i1": 5})
    before = (one / "journal.jsonl").read_bytes()
    code, out, err = schedgap("merge", one, two, "--out", one)
    assert (code, out) == (2, "")
    assert err == f"JournalError: {one} exists and is not written over; choose another --out.\n"
    assert (one / "journal.jsonl").read_bytes() == before
