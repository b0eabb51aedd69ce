"""Lines read in one go are what `Record.from_row` makes of them, or left to it."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from schedgap.bench.records.journal import FILE_NAME, read_journal
from schedgap.bench.records.lines import Lines
from schedgap.bench.records.record import Record
from schedgap.instances.errors import JournalError


@pytest.fixture
def row(make_record):
    trajectory = ((0.5, 2**80, None), (1.0, 5, 3))
    record = make_record("a", objective=2**80, bound=-(2**70), wall_s=1, trajectory=trajectory, source={"tasks": 5})
    return json.loads(json.dumps(record.to_row()))


def line(row, **options):
    return json.dumps(row, **options).encode() + b"\n"


def test_a_line_is_the_record_of_its_row(row):
    """Whole numbers of any size, whole seconds, whatever stands between members, and in whatever order they stand."""
    expected = repr(Record.from_row(row))
    for written in (line(row), line(row, separators=(",", ":")), line(row, sort_keys=True), line(row | {"more": [1]})):
        assert repr(Lines().record(written)) == expected


def test_what_is_made_is_frozen_and_can_be_replaced(row):
    record = Lines().record(line(row))
    with pytest.raises(FrozenInstanceError):
        record.run.seed = 3
    assert replace(record.run, seed=3).seed == 3
    assert record.measurement == Record.from_row(row).measurement


def test_what_lines_have_in_common_is_kept_once(row):
    """Also with rows read by `from_row`, and after other spaces; `True`, `1` and `1.0` are not in common."""
    lines = Lines()
    first, second = lines.record(line(row)), lines.record(line(row | {"key": "b"}))
    spaced = lines.record(line(row, separators=(", ", " : ")))
    whole = Record.from_row(row, lines.shared)
    for other in (second, spaced, whole):
        assert other.run.source is first.run.source
        assert other.run.limits is first.run.limits
    assert second.run.digest is first.run.digest
    made = [lines.record(line(row | {"source": {"x": value}})).run.source["x"] for value in (1, True, 1.0, 0.0, -0.0)]
    assert list(map(repr, made)) == ["1", "True", "1.0", "0.0", "-0.0"]


def test_an_older_schema(row):
    older = {**row, "schema": "schedgap/run/1"}
    del older["stochastic"], older["reference_s"], older["measures"]
    assert Lines().record(line(older)) == Record.from_row(older)
    assert Lines().record(line({**older, "schema": "schedgap/run/2"})) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "schedgap/run/0"},
        {"schema": "schedgap/verdict/1"},
        {"status": "splendid"},
        {"digest": ["a"]},
        {"limits": {"wall": 3}},
        {"limits": None},
        {"trajectory": [3]},
        {"label": "\ud800"},
        *({name: value} for name in ("objective", "bound") for value in ("5", 5.0, True)),
        *({"wall_s": value} for value in ("5", True, float("nan"), float("inf"))),
    ],
)
def test_lines_left_to_from_row(row, changes):
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
    with pytest.raises(JournalError, match=r"line 2: .*objective is '5', not a whole number"):
        read_journal(tmp_path)
