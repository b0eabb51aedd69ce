"""JSON Schemas against the models: what is read fits, what is refused for its form does not, and none is forgotten."""

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from schedgap.bench import run_suite
from schedgap.bench.cli.app import main
from schedgap.bench.programs import exchange as answers
from schedgap.bench.programs import run as protocol
from schedgap.bench.records.journal import VERDICT_SCHEMA
from schedgap.bench.schemas import json_schema, schema_names
from schedgap.bench.statistics.history import append_entry, entry_of
from schedgap.bench.suites.results import read_results
from schedgap.bench.suites.suite import Suite, read_suite
from schedgap.instances.documents import DOCUMENTS
from schedgap.instances.errors import InstanceError, SchedgapError
from schedgap.instances.family import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = [
    (path.name, language, text)
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for language, text in re.findall(r"```(json|toml)\n(.*?)```", path.read_text(), re.DOTALL)
]
EXAMPLES = [
    (page, json.loads(text) if language == "json" else tomllib.loads(text))
    for page, language, text in BLOCKS
    if text.lstrip("{ \n").startswith(('"schema"', "schema = ")) or "\nschema = " in text
]
SUITES = sorted([*(ROOT / "bench" / "suites").glob("*.toml"), *(ROOT / "docs" / "examples").rglob("*.toml")])


def checker(name):
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def checkers():
    return {name: checker(name) for name in schema_names()}


def test_every_format_has_one(checkers):
    """Each family's instances and solutions, and the page on files names all of them."""
    for family in FAMILIES:
        assert {f"schedgap/{family}/1", f"schedgap/{family}-solution/1"} <= set(checkers)
    page = (ROOT / "docs" / "files.md").read_text()
    assert [name for name in checkers if name.split("/")[1] not in FAMILIES and f"`{name}`" not in page] == []


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_the_pages_examples(checkers, page, example):
    checkers[example["schema"]].validate(example)


def test_there_are_examples():
    assert {example["schema"] for _, example in EXAMPLES} >= {*DOCUMENTS, "schedgap/suite/1"}


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_suites(checkers, path):
    checkers["schedgap/suite/1"].validate(tomllib.loads(path.read_text()))


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*/journal.jsonl")), ids=lambda path: path.parent.name)
def test_journals(checkers, path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows
    for row in rows[:: max(1, len(rows) // 50)]:
        checkers[row["schema"]].validate(row)


def test_files_beside_a_journal(checkers, write_suite, tmp_path):
    out = tmp_path / "out"
    results = run_suite(write_suite(["no-packing"]), out=out, jobs=1, shard="1/1")
    plan = json.loads((out / "plan.json").read_text())
    checkers["schedgap/plan/1"].validate(plan)
    assert not checkers["schedgap/plan/1"].is_valid({**plan, "suite": {**plan["suite"], "methods": 3}})
    (host,) = (out / "hosts").glob("*.json")
    checkers["schedgap/host/1"].validate(json.loads(host.read_text()))
    append_entry(tmp_path / "history.jsonl", entry_of(read_results(results.directory), commit="c"))
    checkers["schedgap/history/1"].validate(json.loads((tmp_path / "history.jsonl").read_text()))


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_written_files_fit_and_misspelt_ones_do_not(checkers, name, tmp_path):
    """What the schema refuses, the reader does too."""
    (example,) = (example for page, example in EXAMPLES if (page, example["schema"]) == ("files.md", name))
    wrong = {**example, "nmae": 1}
    assert not checkers[name].is_valid(wrong)
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    with pytest.raises(SchedgapError, match="nmae: unknown field"):
        DOCUMENTS[name].read(*[None] * ("-solution/" in name), tmp_path / "wrong.json")


@pytest.mark.parametrize(
    ("name", "said", "is_right"),
    [
        (answers.SCHEMA, {"schema": answers.SCHEMA, "solution": {"any": 1}, "bound": 12.5, "status": "feasible"}, True),
        (answers.SCHEMA, {"schema": answers.SCHEMA, "bound": "12.5"}, False),
        (answers.SCHEMA, {"schema": answers.SCHEMA, "status": "perfect"}, False),
        (answers.SCHEMA, {"bound": 1}, False),
        (protocol.SCHEMA, {"schema": protocol.SCHEMA, "fields": ["job"]}, True),
        (protocol.SCHEMA, {"decision": 3, "actions": {"start": []}}, True),
        (protocol.SCHEMA, {"decision": "3", "actions": {}}, False),
        (VERDICT_SCHEMA, {"schema": VERDICT_SCHEMA, "keys": ["a"], "reason": "b"}, True),
        (VERDICT_SCHEMA, {"schema": VERDICT_SCHEMA, "keys": "a", "reason": "b"}, False),
    ],
)
def test_lines_of_programs_and_journals(checkers, name, said, is_right):
    assert checkers[name].is_valid(said) is is_right


def test_the_command_prints_the_models_own(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["schedgap", "schema", "schedgap/suite/1"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["properties"] == Suite.model_json_schema()["properties"]
    assert read_suite("smoke")[0].schema_ == printed["title"]


def test_another_name_is_refused():
    with pytest.raises(InstanceError, match=r"there is no schema 'schedgap/harvst/1'; did you mean"):
        json_schema("schedgap/harvst/1")
