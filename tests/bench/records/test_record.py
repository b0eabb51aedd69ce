"""Rows to records and back, exactly."""

import json

import pytest

from schedgap.bench.records.record import Record, Shared


def rows(make_record, *sources):
    return [make_record("a", f"i{n}", source=source).to_row() for n, source in enumerate(sources)]


def test_round_trip_of_the_largest_numbers(make_record):
    most = 2**63 - 1
    record = make_record(
        "a", objective=most, bound=-most, trajectory=((0.1, most, most - 1),), details={"n": most, "x": 0.1}
    )
    row = json.loads(json.dumps(record.to_row()))
    assert Record.from_row(row) == record
    assert row == json.loads(json.dumps(record.to_row()))


def test_what_rows_have_in_common_is_kept_once(make_record):
    first, second = rows(make_record, {"tasks": 5}, {"tasks": 5})
    shared = Shared()
    one, other = Record.from_row(first, shared), Record.from_row(second, shared)
    assert one.run.source is other.run.source
    assert one.run.limits is other.run.limits


def test_equal_values_of_other_types_stay_what_they_are(make_record):
    """True == 1 == 1.0 and 0.0 == -0.0, yet they are written differently, and keys are hashes of what is written."""
    values = [True, 1, 1.0, 0, 0.0, -0.0, False, "1"]
    shared = Shared()
    read = [Record.from_row(row, shared).run.source["x"] for row in rows(make_record, *({"x": v} for v in values))]
    assert [repr(value) for value in read] == [repr(value) for value in values]
    whole, real = make_record("a").to_row(), make_record("a").to_row()
    whole["limits"] = whole["limits"] | {"wall_s": 100}
    limits = [Record.from_row(row, shared).run.limits.wall_s for row in (whole, real)]
    assert [repr(value) for value in limits] == ["100", "100.0"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"status": "splendid"}, ValueError),
        ({"limits": {"wall": 3}}, TypeError),
        ({"limits": None}, TypeError),
        ({"trajectory": [3]}, TypeError),
        ({"digest": ["a"]}, TypeError),
        *(({name: value}, TypeError) for name in ("objective", "bound") for value in ("5", 5.0, True)),
        *(({"wall_s": value}, TypeError) for value in ("5", True)),
        *(({"reference_s": value}, ValueError) for value in (float("nan"), float("inf"))),
        ({"schema": "schedgap/run/0"}, KeyError),
    ],
)
def test_rows_of_something_else(make_record, changes, error):
    with pytest.raises(error):
        Record.from_row(make_record("a").to_row() | changes)


def test_a_row_that_lacks_a_field(make_record):
    row = make_record("a").to_row()
    for name in row:
        with pytest.raises(KeyError):
            Record.from_row({key: value for key, value in row.items() if key != name})
