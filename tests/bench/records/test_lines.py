"""Lines read in one go are what is made of them field by field, or left to that."""

import json
from hashlib import sha256

import pytest
from msgspec.structs import replace

from schedgap.bench.records.journal import FILE_NAME, Lines, read_journal
from schedgap.bench.records.runs import Limits, Run
from schedgap.instances.errors import JournalError


@pytest.fixture
def row(make_record):
    trajectory = ((0.5, 2**63 - 1, None), (1.0, 5, 3))
    record = make_record("a", objective=2**80, bound=-(2**70), wall_s=1, trajectory=trajectory, source={"tasks": 5})
    return json.loads(json.dumps(record.to_row()))


def row_of_another(row, **changes):
    """The row of another run, with the key of its own."""
    changed = row | changes
    run = Run(**{name: changed[name] for name in Run.__struct_fields__ if name in changed})
    return changed | {"key": replace(run, limits=Limits(**changed["limits"])).key}


def line(row, **options):
    return json.dumps(row, **options).encode() + b"\n"


def test_a_line_is_the_record_of_its_row(row):
    """Whole numbers of any size, whole seconds, whatever stands between members, and in whatever order they stand."""
    expected = repr(Lines().of_row(row).to_row())
    for written in (line(row), line(row, separators=(",", ":")), line(row, sort_keys=True), line(row | {"more": [1]})):
        assert repr(Lines().record(written).to_row()) == expected


def test_what_is_made_is_frozen_and_can_be_replaced(row):
    record = Lines().record(line(row))
    with pytest.raises(AttributeError):
        record.run.seed = 3
    assert replace(record.run, seed=3).seed == 3
    assert record.measurement == Lines().of_row(row).measurement


def test_what_lines_have_in_common_is_kept_once(row):
    """Also with rows read field by field, and after other spaces; `True`, `1` and `1.0` are not in common."""
    lines = Lines()
    first, second = lines.record(line(row)), lines.record(line(row_of_another(row, seed=5)))
    spaced = lines.record(line(row, separators=(", ", " : ")))
    whole = lines.of_row(row)
    for other in (second, spaced, whole):
        assert other.run.source is first.run.source
        assert other.run.limits is first.run.limits
    assert second.run.digest is first.run.digest
    made = [lines.record(line(row | {"source": {"x": value}})).run.source["x"] for value in (1, True, 1.0, 0.0, -0.0)]
    assert list(map(repr, made)) == ["1", "True", "1.0", "0.0", "-0.0"]


def test_an_older_schema(row):
    older = {**row, "schema": "schedgap/run/1"}
    del older["stochastic"], older["reference_s"], older["measures"]
    assert Lines().record(line(older)) == Lines().of_row(older)
    assert Lines().record(line({**older, "schema": "schedgap/run/2"})) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "schedgap/run/0"},
        {"schema": "schedgap/verdict/1"},
        {"status": "splendid"},
        {"digest": ["a"]},
        {"limits": {"wall": 3}},
        {"limits": {"wall_s": "3"}},
        {"parameters": {"x": None}},
        {"source": {"x": 1e101}},
        {"seed": True},
        {"seed": 1.0},
        {"version": "1"},
        {"build_s": "1"},
        {"measures": {"machines": "5"}},
        {"details": {"nodes": 1e300}},
        {"trajectory": [[1, 2]]},
        {"trajectory": [["1", 2, 3]]},
        {"objective": 10**101},
        {"key": "0" * 32},
        {"limits": None},
        {"trajectory": [3]},
        {"label": "\ud800"},
        *({name: value} for name in ("objective", "bound") for value in ("5", 5.0, True)),
        *({"wall_s": value} for value in ("5", True, float("nan"), float("inf"))),
    ],
)
def test_lines_left_to_be_read_field_by_field(row, changes):
    assert Lines().record(line(row | changes)) is None


@pytest.mark.parametrize("name", ["key", "source", "solver", "host", "schema"])
def test_a_line_that_lacks_a_field(row, name):
    del row[name]
    assert Lines().record(line(row)) is None


def test_bytes_that_are_no_text(row):
    """Nothing is made of a field that nobody knows, so nobody would notice."""
    written = line(row | {"more": "?"}).replace(b"?", b"\xff")
    assert Lines().record(written) is None


def test_numbers_beyond_all_floats(row):
    for name in ("wall_s", "reference_s"):
        assert (
            Lines().record(line(row | {name: 5}).replace(f'"{name}": 5'.encode(), f'"{name}": 1e999'.encode())) is None
        )


def test_a_wrong_line_is_named(tmp_path, row):
    (tmp_path / FILE_NAME).write_bytes(line(row) + line(row | {"objective": "5"}))
    with pytest.raises(JournalError, match=r"line 2: .*objective is '5'; expected `int \| null`, got `str`"):
        read_journal(tmp_path)


def test_a_row_with_the_key_of_another(tmp_path, row):
    """Whoever changes a row, or copies one, for another instance, seed or method: its parts no longer make its key."""
    (tmp_path / FILE_NAME).write_bytes(line(row) + line(row | {"digest": "another"}))
    expected = row_of_another(row, digest="another")["key"]
    with pytest.raises(JournalError, match=rf"line 2: .*its key is '{row['key']}', its own parts make it '{expected}'"):
        read_journal(tmp_path)


@pytest.mark.parametrize("plugin", [None, "0123456789abcdef"])
@pytest.mark.parametrize("schema", ["schedgap/run/1", "schedgap/run/2"])
def test_both_ways_of_reading_make_the_same_key(row, plugin, schema):
    """Texts and numbers that JSON can write in several ways; a method of ours keeps the key that it always had."""
    changed = row_of_another(
        row,
        plugin=plugin,
        backend='h\u00fc"\\',
        parameters={"b": 1e22, "a": True, "\u00e4": 0.1, "c": "x\n"},
        limits={"time_limit_s": 1, "wall_s": 2.5, "cpu_s": None, "memory_mib": 7, "threads": 1},
        schema=schema,
    )
    if plugin is None:
        changed.pop("plugin", None)
    read = Lines().record(line(changed))
    assert read == Lines().of_row(changed)
    assert read.run.plugin == plugin
    parts = ("family", "digest", "method", "version", "parameters", "backend", "backend_version", "seed", "limits")
    whole = {name: changed[name] for name in parts} | ({} if plugin is None else {"plugin": plugin})
    assert read.key == sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]


def test_only_rows_of_plug_ins_name_one(row):
    record = Lines().of_row(row)
    assert "plugin" not in record.to_row()
    assert replace(record, run=replace(record.run, plugin="ab")).to_row()["plugin"] == "ab"
