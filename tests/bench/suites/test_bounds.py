"""Files of bounds: what is written is read again, and what does not fit is refused in one sentence."""

import json

import pytest

from schedgap.bench.suites.bounds import Bounds, read_bounds, write_bounds
from schedgap.instances.errors import SuiteError
from schedgap.instances.method import Status


@pytest.fixture
def rows(make_record):
    """Two provers on two instances: 7 is the best of one, and nothing above 0 is proven of the other."""
    return [
        make_record("low", "one", bound=5),
        make_record("high", "one", bound=7),
        make_record("low", "two", bound=-3),
        make_record("false", "two", bound=9, status=Status.INVALID),
    ]


@pytest.fixture
def bounds(rows):
    return Bounds.of("mine", "provisioning", rows, {"machines"})


def test_the_highest_bound_of_each_instance_counts(bounds, rows):
    assert [(each.instance, each.bound, each.method) for each in bounds.instances] == [
        ("one", 7, "high"),
        ("two", 0, "low"),
    ]
    digests = {row.run.digest: row.run.instance for row in rows}
    assert [(row.run.label, row.measurement.bound) for row in bounds.rows(digests).values()] == [
        ("high", 7),
        ("low", 0),
    ]


def test_a_file_holds_all_of_it(bounds, tmp_path):
    write_bounds(bounds, tmp_path / "bounds.json")
    assert read_bounds(tmp_path / "bounds.json", "provisioning") == bounds


def test_another_instance_is_refused(bounds):
    with pytest.raises(SuiteError, match=r"instance one has digest abcdef\.\.\., .* one of that name with digest"):
        bounds.rows({"abcdef": "one"})
    with pytest.raises(SuiteError, match="none of that name"):
        bounds.rows({"abcdef": "three"})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"family": "sharing"}, "family is sharing there and provisioning here"),
        ({"code": "12"}, "code of the family is 12 there and None here"),
        ({"scale": 5}, "scale of the objective is 5 there"),
        ({"schema": "schedgap/suite/1"}, "schema"),
        ({"instances": [{"instance": "one"}]}, "digest"),
    ],
)
def test_what_does_not_fit_is_refused(bounds, tmp_path, changes, said):
    path = tmp_path / "bounds.json"
    write_bounds(bounds, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(SuiteError, match=said):
        read_bounds(path, "provisioning")


def test_no_file_is_refused(tmp_path):
    with pytest.raises(SuiteError, match="JSON file"):
        read_bounds(tmp_path / "none.json", "provisioning")
