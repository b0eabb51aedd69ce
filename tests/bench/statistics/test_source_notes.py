"""Whether runs have the paper's setting."""

import pytest
from pydantic import ValidationError

from schedgap.bench.statistics.headlines.registry import source_notes
from schedgap.bench.suites.collection import Setting
from schedgap.bench.suites.suite import Suite
from schedgap.instances.method import Status


def suite(source="", **setting):
    given = {"measure": "waiting_share", "method": "plain[b=1.0,a=2]", "why": "section 4.1"} | setting
    return Suite(
        schema="schedgap/suite/1",
        name="own",
        title="Own",
        question="?",
        family="harvest",
        source=source,
        methods=["plain[a=2,b=1]", "other"],
        instances=[{"generator": "quick"}],
        setting=[given],
    )


@pytest.fixture
def runs(make_record):
    """Make records of `plain[a=2,b=1]` with shares of time waited, by group, and one of another method that waits long."""

    def make(**shares):
        return [
            make_record(method, f"{group}-{i}", group=group, objective=1, measures={"waiting_share": share})
            for group, own in shares.items()
            for method, found in (("plain[a=2,b=1]", own), ("other", (0.9,)))
            for i, share in enumerate(found)
        ]

    return make


def test_each_group_that_differs_is_named_with_both_values(runs):
    source, calm, busy = source_notes(suite("Figure 5", most=0.05), runs(calm=(0.01, 0.05), busy=(0.2, 0.4)))
    assert source == "The paper's figures: Figure 5."
    assert calm == (
        "Not the paper's setting on busy, so no reproduction of it: waiting share of plain[b=1.0,a=2] is 0.3, above 0.05 "
        "(section 4.1)."
    )
    assert busy == "As in the paper (section 4.1): waiting share of plain[b=1.0,a=2] is 0.03."


def test_where_all_hold_one_sentence_says_so(runs):
    records = runs(calm=(0.01,), idle=(0.0,))
    assert source_notes(suite(most=0.05, least=0), records) == [
        "As in the paper (section 4.1): waiting share of plain[b=1.0,a=2] is 0 to 0.01."
    ]
    (idle,) = source_notes(suite(least=0.005, groups=["idle"]), records)
    assert idle.startswith("Not the paper's setting on idle") and "is 0, below 0.005" in idle


def test_a_group_without_a_figure_is_not_as_in_the_paper(runs, make_record):
    failed = [
        make_record("plain[a=2,b=1]", f"j{i}", group=group, status=Status.CRASHED) for i, group in enumerate("qr")
    ]
    assert source_notes(suite(most=0.05), [*runs(calm=(0.01,)), *failed]) == [
        "As in the paper (section 4.1): waiting share of plain[b=1.0,a=2] is 0.01; of q, r nobody knows."
    ]


def test_what_nobody_measured_is_said_once(runs):
    assert source_notes(suite(most=0.05, measure="else"), runs(calm=(0.01,))) == ["No run has the measure 'else'."]
    assert source_notes(None, runs(calm=(0.01,))) == []


def test_a_setting_has_a_bound():
    with pytest.raises(ValidationError, match="give 'least' or 'most'"):
        Setting(measure="waste", method="plain", why="section 4.1")
