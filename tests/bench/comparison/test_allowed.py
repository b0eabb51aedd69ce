"""Regressions that are told and do not fail: by the suite's policy, and by somebody's word."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from schedgap.bench.comparison.comparison import Accepted, compare_results, read_accepted, sort_out
from schedgap.bench.comparison.findings import ChangeKind, Finding
from schedgap.bench.comparison.output import to_json, to_junit, to_markdown, to_tables
from schedgap.bench.suites.collection import Allowed, Gate
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SuiteError

WORSE = Finding(ChangeKind.OBJECTIVE, "provisioning", "mine[a=1]", "big-1", "d1", "large", change=0.02)
SLOW = Finding(ChangeKind.TIME, "provisioning", "mine[a=1]", change=2.5)
FALSE = Finding(ChangeKind.CONTRADICTION, "provisioning", "mine[a=1]", "big-1", "d1", "large")
DAY = date(2027, 1, 31)


def accepted(**given):
    return Accepted(**{"reason": "half the moves", "who": "ann", "until": DAY, **given})


@pytest.mark.parametrize(
    ("rule", "covers"),
    [
        ({}, [WORSE, SLOW]),
        ({"method": "mine[a=*"}, [WORSE, SLOW]),
        ({"method": "other*"}, []),
        ({"what": "objective"}, [WORSE]),
        ({"group": "large", "instance": "big-?"}, [WORSE]),
        ({"change": 0.02}, [WORSE]),
        ({"change": 0.019}, []),
    ],
)
def test_which_are_allowed(rule, covers):
    """Brackets of a label are no pattern; what contradicts a bound is never allowed."""
    counting, told, _ = sort_out([WORSE, SLOW, FALSE], [Allowed(reason="noise", **rule)], ())
    assert [replace(each, allowed=None) for each in told] == covers
    assert counting == [each for each in (WORSE, SLOW, FALSE) if each not in covers]
    assert {each.allowed for each in told} <= {"allowed by the suite: noise"}


def test_what_was_accepted_ends():
    """Until its day, and with a note from then on; an entry without any use is named too."""
    counting, told, notes = sort_out([WORSE], (), [accepted()], today=DAY)
    assert (counting, notes) == ([], [])
    assert told[0].allowed == "accepted by ann until 2027-01-31: half the moves"
    assert sort_out([WORSE], (), [accepted()], today=date(2027, 2, 1)) == (
        [WORSE],
        [],
        ["Accepted until 2027-01-31, which is over: * (half the moves); decide anew."],
    )
    *_, notes = sort_out([], (), [accepted(method="mine")], today=DAY)
    assert notes == ["Accepted, and nothing is worse there any more: mine (half the moves); remove the entry."]


def test_every_format_tells_of_it(make_record):
    """The suite of NEW says what; the verdict is that of the rest."""
    suite, _ = read_suite("smoke")
    gate = Gate(min_effect=0.5, allowed=[Allowed(method="a", reason="a yardstick")])
    sides = [
        Results(Path(name), suite.model_copy(update={"gate": gate}), (), records, 2, {})
        for name, records in (
            ("base", (make_record("a", objective=5), make_record("b", objective=5))),
            ("new", (make_record("a", objective=6), make_record("b", objective=5))),
        )
    ]
    found = compare_results(*sides)
    assert (found.verdict, found.min_effect, found.regressions) == ("ok", 0.5, ())
    assert to_json(found)["allowed"][0]["allowed"] == "allowed by the suite: a yardstick"
    for text in (to_tables(found), to_markdown(found)):
        assert "No regression, 1 allowed" in text
        assert "a yardstick" in text
    assert 'failures="0" errors="0" skipped="1"' in to_junit(found)
    plain = [replace(side, suite=suite) for side in sides]
    assert compare_results(*plain).verdict == "regression"


def test_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_accepted(None) == []
    text = '[[accepted]]\nmethod = "mine"\nreason = "half the moves"\nwho = "ann"\nuntil = 2027-01-31\n'
    Path("gate-accepted.toml").write_text(text)
    assert read_accepted(None) == [accepted(method="mine")]
    for change, message in (
        (("until = 2027-01-31\n", ""), r"gate-accepted.toml: accepted.0.until.* missing|until"),
        (('who = "ann"', 'whom = "ann"'), "whom"),
        (('"mine"', "mine"), "gate-accepted.toml: not TOML"),
    ):
        Path("gate-accepted.toml").write_text(text.replace(*change))
        with pytest.raises(SuiteError, match=message):
            read_accepted(None)
    with pytest.raises(SuiteError, match=r"other\.toml: cannot be read"):
        read_accepted(Path("other.toml"))
