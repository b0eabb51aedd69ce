"""Keys: what makes a run another run, and what does not."""

import pytest
from msgspec.structs import replace

from schedgap.bench.records.runs import Limits, file_names


@pytest.fixture
def run(make_record):
    return replace(make_record("a").run, parameters={"x": 1, "y": 2}, backend="highs", backend_version="1.14")


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "other"},
        {"method": "other"},
        {"version": 2},
        {"parameters": {"x": 1, "y": 3}},
        {"backend": "scip"},
        {"backend_version": "1.15"},
        {"seed": 1},
        {"limits": Limits(wall_s=99.0)},
        {"limits": Limits(wall_s=100.0, memory_mib=1)},
        {"limits": Limits(wall_s=100.0, threads=2)},
        {"limits": Limits(wall_s=100.0, cpu_s=1.0)},
        {"limits": Limits(wall_s=100.0, time_limit_s=1.0)},
        {"family": "fairness"},
    ],
    ids=str,
)
def test_what_can_change_the_answer_changes_the_key(run, change):
    assert replace(run, **change).key != run.key


@pytest.mark.parametrize(
    "change",
    [
        {"instance": "other name"},
        {"group": "other"},
        {"source": {"kind": "file"}},
        {"label": "a[x=1]"},
        {"given": {"x": 1}},
        {"parameters": {"y": 2, "x": 1}},
    ],
    ids=str,
)
def test_names_and_order_do_not(run, change):
    assert replace(run, **change).key == run.key


def test_wall_is_twice_the_time_limit_and_ten_seconds():
    assert Limits.from_time_limit(30).wall_s == 70
    assert Limits.from_time_limit(30, wall_s=31, memory_mib=None) == Limits(time_limit_s=30, wall_s=31)


def test_no_two_runs_share_a_file_and_names_are_plain_where_they_can_be(run):
    """Three instances called `i-1`, `i/1` and `i-1`, of the last a second method that is called as the first is."""
    changes = (
        {"instance": "i-1", "digest": "11111111a"},
        {"instance": "i/1", "digest": "22222222b"},
        {"instance": "i-1", "digest": "33333333c", "label": "a[x=a/b]"},
        {"instance": "i-1", "digest": "33333333c", "label": "a[x=a-b]", "seed": 1},
        {"instance": "i\0\n\ud800", "digest": "4"},
    )
    runs = {each.key: each for each in (replace(run, **change) for change in changes)}
    names = file_names(runs, lambda run: run.file_name)
    keys = list(runs)
    assert [names[key] for key in keys] == [
        "i-1.a.11111111",
        "i-1.a.22222222",
        f"i-1.a[x=a-b].33333333.{keys[2][:8]}",
        f"i-1.a[x=a-b].33333333.{keys[3][:8]}",
        "i---.a",
    ]
    turned = {key: runs[key] for key in reversed(keys)}
    assert file_names(turned, lambda run: run.file_name) == names
