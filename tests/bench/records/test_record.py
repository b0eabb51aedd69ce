"""Rows to records and back, exactly."""

import json

import pytest
from msgspec.structs import replace

from schedgap.bench.records.journal import Lines
from schedgap.bench.records.runs import LACKING, Limits


def rows(make_record, *sources):
    return [make_record("a", f"i{n}", source=source).to_row() for n, source in enumerate(sources)]


def test_round_trip_of_the_largest_numbers(make_record):
    most = 2**63 - 1
    record = make_record(
        "a", objective=most, bound=-most, trajectory=((0.1, most, most - 1),), details={"n": most, "x": 0.1}
    )
    row = json.loads(json.dumps(record.to_row()))
    assert Lines().of_row(row) == record
    assert row == json.loads(json.dumps(record.to_row()))


def test_what_rows_have_in_common_is_kept_once(make_record):
    first, second = rows(make_record, {"tasks": 5}, {"tasks": 5})
    lines = Lines()
    one, other = lines.of_row(first), lines.of_row(second)
    assert one.run.source is other.run.source
    assert one.run.limits is other.run.limits


def test_equal_values_of_other_types_stay_what_they_are(make_record):
    """True == 1 == 1.0 and 0.0 == -0.0, yet they are written differently, and keys are hashes of what is written."""
    values = [True, 1, 1.0, 0, 0.0, -0.0, False, "1"]
    lines = Lines()
    read = [lines.of_row(row).run.source["x"] for row in rows(make_record, *({"x": v} for v in values))]
    assert [repr(value) for value in read] == [repr(value) for value in values]
    whole, real = make_record("a").to_row(), make_record("a").to_row()
    whole["limits"] = whole["limits"] | {"wall_s": 100}
    whole["key"] = replace(make_record("a").run, limits=Limits(wall_s=100)).key
    limits = [lines.of_row(row).run.limits.wall_s for row in (whole, real)]
    assert [repr(value) for value in limits] == ["100", "100.0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "splendid"},
        {"limits": {"wall": 3}},
        {"limits": None},
        {"trajectory": [3]},
        {"trajectory": [[0.5, 2**63, None]]},
        {"digest": ["a"]},
        {"key": "another"},
        {"seed": 7},
        {"stochastic": 1},
        {"measures": {"machines": None}},
        *({name: value} for name in ("objective", "bound") for value in ("5", 5.0, True, 10**101)),
        *({name: value} for name in ("wall_s", "build_s", "reference_s") for value in ("5", True, 1e101)),
        *({name: value} for name in ("wall_s", "solve_s", "cpu_s", "peak_memory_mib") for value in (-1, -1e-9)),
        {"limits": {"wall_s": -1.0}},
        {"trajectory": [[-0.5, 1, None]]},
        *({"reference_s": value} for value in (float("nan"), float("inf"))),
    ],
    ids=str,
)
def test_rows_of_something_else(make_record, changes):
    with pytest.raises((ValueError, TypeError)):
        Lines().of_row(make_record("a").to_row() | changes)


def test_a_row_of_an_unknown_schema(make_record):
    with pytest.raises(KeyError):
        Lines().of_row(make_record("a").to_row() | {"schema": "schedgap/run/0"})


def test_what_older_versions_let_methods_say(make_record):
    """Details of any form are read; only numbers that no float holds are refused."""
    details = {"none": None, "list": [1, "a"], "nested": {"x": [1.5]}}
    row = make_record("a").to_row() | {"details": details}
    assert Lines().of_row(row).measurement.details == details


def test_a_row_that_lacks_a_field(make_record):
    row = make_record("a").to_row()
    for name in row.keys() - LACKING:
        with pytest.raises(KeyError):
            Lines().of_row({key: value for key, value in row.items() if key != name})
