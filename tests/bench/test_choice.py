"""Which runs are to be done."""

from types import SimpleNamespace

import pytest

from schedgap.bench.forecast import matching, to_do
from schedgap.instances.errors import SuiteError
from schedgap.instances.method import Status


@pytest.fixture
def plan(make_record):
    """Four runs, whose keys are their places."""
    runs = [
        make_record(label, instance, group=group).run
        for label, instance, group in (
            ("patterns", "table3", "small"),
            ("patterns[backend=cbc]", "table7-6", "small"),
            ("first-fit", "table3", "small"),
            ("first-fit", "cluster-100", "large"),
        )
    ]
    return SimpleNamespace(runs=dict(zip("0123", runs, strict=True)))


@pytest.mark.parametrize(
    ("only", "keys"),
    [
        ((), "0123"),
        (("patterns",), "01"),
        (("first", "table"), "2"),
        (("cbc|cluster",), "13"),
        (("patterns | large",), "013"),
        (("table?",), "02"),
        (("*backend=*]",), "1"),
        (("large",), "3"),
    ],
)
def test_by_names(plan, only, keys):
    assert to_do(plan, matching(plan, only), {}) == list(keys)


def test_where_nothing_matches(plan):
    with pytest.raises(SuiteError, match=r"no run matches -k first -k patern; did you mean patterns\? give a part"):
        matching(plan, only=["first", "patern"])


def test_by_what_is_recorded(plan, make_record):
    """A crash is done again by default, a timeout if asked for, everything if all is to be fresh."""
    known = {
        "0": make_record("patterns", objective=1),
        "1": make_record("patterns", status=Status.CRASHED),
        "2": make_record("first-fit", status=Status.TIMEOUT),
    }
    all_runs = matching(plan, [])
    assert to_do(plan, all_runs, known) == ["1", "3"]
    assert to_do(plan, all_runs, known, retry="none") == ["3"]
    assert to_do(plan, all_runs, known, retry="failed") == ["1", "2", "3"]
    assert to_do(plan, all_runs, known, fresh=True) == ["0", "1", "2", "3"]
    assert to_do(plan, matching(plan, ["first"]), known, retry="failed") == ["2", "3"]
