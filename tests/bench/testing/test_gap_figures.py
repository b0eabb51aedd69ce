"""Figures of one method against bounds, by hand: objectives 100 and 50 against 80 and 50, and a run that failed."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from schedgap.bench.testing.gap_figures import gaps_of, shown
from schedgap.instances.method import Status


@pytest.fixture
def bounds(make_record):
    return [
        make_record("exact", "far", objective=80_000_000, bound=80_000_000),
        make_record("exact", "near", bound=50_000_000),
        make_record("exact", "lost", status=Status.TIMEOUT),
    ]


@pytest.fixture
def gaps(make_record, bounds):
    own = [
        make_record("mine", "near", objective=50_000_000),
        make_record("mine", "far", objective=100_000_000),
        make_record("mine", "broken", status=Status.CRASHED, reason="gone"),
        make_record("mine", "lost", objective=1_000_000),
        make_record("mine", "empty"),
    ]
    return gaps_of("some", own, bounds)


def test_figures(gaps):
    """Gaps 0 and 20 %; three runs have none, one of them failed."""
    assert (gaps.mean, gaps.median, gaps.p95, gaps.worst) == (0.1, 0.1, 0.2, 0.2)
    assert (gaps.runs, gaps.failed, gaps.proven_optimal) == (5, 1, 1)
    assert gaps.per_instance == {"near": 0.0, "far": 0.2}
    assert gaps.worst_instance == "far"
    assert gaps.problems == (
        "broken: crashed, gone",
        "lost: nobody proved a bound (exact timeout)",
        "empty: no_solution",
    )


def test_totals_are_of_what_has_a_gap(gaps):
    content = json.loads(json.dumps(gaps.to_json()))
    assert (content["objective_total"], content["bound_total"]) == (150.0, 130.0)
    assert content["gap_worst"] == 0.2
    assert [each["gap"] for each in content["instances"]] == [0.0, 0.2, None, None, None]


def test_every_field_is_named_on_the_page(gaps):
    named = set(re.findall(r"`(\w+)`", (Path(__file__).parents[3] / "docs" / "pytest.md").read_text()))
    content = gaps.to_json()
    assert {*content, *content["instances"][0]} <= named


def test_a_comparison_names_the_worst(gaps):
    assert gaps.mean.explain(f"{shown(gaps.mean)} <= {shown(0.02)}") == [
        "mean gap 10.00% <= 2.00%, worst on far",
        "mine on some: 5 runs, 1 failed, 1 proven optimal",
        "20.00% on far: 100 $/h, bound 80",
        "0% on near: 50 $/h, bound 50",
    ]
    assert shown("much") == "'much'"
    assert repr(gaps) == (
        "<mine on some: 1 of 5 failed, mean gap 10.00%, 1 of 5 proven optimal, worst 20.00% on far, 0% on near>"
    )


def test_without_any_gap_there_is_no_figure(make_record):
    gaps = gaps_of("some", [make_record("mine", "broken", status=Status.CRASHED)], [])
    assert repr(gaps) == "<mine on some: no gap in 1 runs>"
    with pytest.raises(ValueError, match="has no mean gap"):
        _ = gaps.mean


def test_instances_of_one_name_are_told_apart(make_record):
    first = make_record("mine", "twin", objective=2, bound=1)
    second = replace(first, run=replace(first.run, digest="0123456789abcdef"))
    assert list(gaps_of("some", [first, second], []).per_instance) == ["twin (twin)", "twin (01234567)"]
