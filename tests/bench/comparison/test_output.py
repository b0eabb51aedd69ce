"""A comparison as table, Markdown, JUnit and JSON: read back, and with names that are markup in each of them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from schedgap.bench.comparison import wording
from schedgap.bench.comparison.comparison import compare_results
from schedgap.bench.comparison.output import SHOWN_IN_MARKDOWN, render
from schedgap.bench.suites.results import Results
from schedgap.instances.method import Status

NASTY = "ended by | <b>SIGSEGV</b>\n`x` [red]\x00\x1b[31m"


def side(records, name):
    return Results(Path(name), None, (), tuple(records), len(records), {})


@pytest.fixture
def comparison(make_record):
    """Of `exact` a crash, of `heuristic` +2.5% on one instance, -10% on another, of `drawn` one seed is missing."""

    def drawn(seed):
        made = make_record("drawn", "i", objective=10**6, wall_s=0.25, reference_s=0.001)
        return replace(made, run=replace(made.run, seed=seed, stochastic=True))

    base = [
        make_record("exact", "i", objective=10**6, bound=10**6, status=Status.OPTIMAL),
        make_record("heuristic", "i", objective=2 * 10**6, wall_s=1.0, reference_s=0.001),
        make_record("heuristic", "j", objective=3 * 10**6, bound=0),
        make_record("broken", "i", status=Status.TIMEOUT),
        drawn(1),
        drawn(2),
    ]
    new = [
        make_record("exact", "i", status=Status.CRASHED, reason=NASTY),
        make_record("heuristic", "i", objective=2_050_000, wall_s=1.0, reference_s=0.001),
        make_record("heuristic", "j", objective=2_700_000, bound=0),
        make_record("broken", "i", status=Status.MEMORY),
        drawn(1),
        make_record("late", "i", objective=10**6),
    ]
    return compare_results(side(base, "old/dir"), side(new, "new_dir"))


@pytest.fixture
def nothing(make_record):
    return compare_results(side([], "old"), side([make_record("a", objective=1)], "new"))


def test_json(comparison):
    content = json.loads(render(comparison, "json"))
    assert list(content) == [
        "schema",
        "base",
        "new",
        "verdict",
        "problem",
        "pairs",
        "min_effect",
        "time_factor",
        "regressions",
        "improvements",
        "allowed",
        "methods",
        "notes",
    ]
    assert (content["schema"], content["verdict"], content["problem"]) == ("schedgap/compare/1", "regression", None)
    assert content["base"] == {"directory": "old/dir", "suite": None, "planned": 6, "runs": 6, "failed": 1}
    assert content["new"]["failed"] == 2
    assert [(f["kind"], f["method"], f["instance"]) for f in content["regressions"]] == [
        ("missing", "drawn", "i"),
        ("failed", "exact", "i"),
        ("objective", "heuristic", "i"),
    ]
    worse = content["regressions"][2]
    assert (worse["base"], worse["new"], worse["change"]) == (2_000_000, 2_050_000, 0.025)
    assert worse["message"] == "objective 2 -> 2.05 $/h (+2.50%)"
    assert content["regressions"][0]["message"] == "feasible in BASE, not measured in NEW"
    assert content["regressions"][1]["reason"] == NASTY
    (better,) = content["improvements"]
    assert (better["instance"], better["message"]) == ("j", "objective 3 -> 2.7 $/h (-10.00%)")
    heuristic = content["methods"][1]
    assert (heuristic["method"], heuristic["better"], heuristic["worse"], heuristic["same"]) == ("heuristic", 1, 1, 0)
    assert heuristic["gap_change"]["instances"] == 2
    assert heuristic["time_ratio"]["mean"] == 1.0


def test_junit(comparison):
    root = ElementTree.fromstring(render(comparison, "junit"))
    assert root.tag == "testsuites"
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "3",
        "errors": "0",
        "skipped": "2",
    }
    cases = {(case.get("classname"), case.get("name")): case for case in root.iter("testcase")}
    assert list(cases) == [
        ("exact", "i"),
        ("heuristic", "i"),
        ("heuristic", "j"),
        ("broken", "i"),
        ("drawn", "i seed 1"),
        ("drawn", "i seed 2"),
        ("late", "i"),
    ]
    failures = {key: case.find("failure") for key, case in cases.items() if case.find("failure") is not None}
    assert {key: failure.get("type") for key, failure in failures.items()} == {
        ("exact", "i"): "failed",
        ("heuristic", "i"): "objective",
        ("drawn", "i seed 2"): "missing",
    }
    message = failures["heuristic", "i"].get("message")
    assert message == "heuristic on i: objective 2 -> 2.05 $/h (+2.50%)"
    assert "\ufffd" in failures["exact", "i"].get("message")
    skipped = {
        key: case.find("skipped").get("message") for key, case in cases.items() if case.find("skipped") is not None
    }
    assert skipped == {("broken", "i"): "timeout in BASE, memory in NEW", ("late", "i"): "in NEW only"}
    assert cases["heuristic", "i"].get("time") == "1.000000"


def test_junit_has_a_case_for_each_finding_about_a_method(make_record):
    def timed(wall_s):
        return [make_record("a", name, objective=5, wall_s=wall_s, reference_s=0.001) for name in "ij"]

    found = compare_results(side(timed(0.1), "o"), side(timed(0.9), "n"), time_factor=2.0)
    root = ElementTree.fromstring(render(found, "junit"))
    (case,) = [case for case in root.iter("testcase") if case.find("failure") is not None]
    # (900 + 4) / (100 + 4) = 8.69
    assert (case.get("classname"), case.get("name")) == ("a", "time over all instances")
    assert case.find("failure").get("message") == "a on all instances: takes 8.69x [8.69x, 8.69x] as long"


def test_the_least_change_can_be_seen(make_record):
    """One micro-dollar more of $1,012.8, and one more of nothing."""
    base = [make_record("a", "i", objective=1_012_800_000), make_record("a", "j", objective=0)]
    new = [make_record("a", "i", objective=1_012_800_001), make_record("a", "j", objective=1)]
    content = json.loads(render(compare_results(side(base, "old"), side(new, "new")), "json"))
    assert [finding["message"] for finding in content["regressions"]] == [
        "objective 1,012.8 -> 1,012.800001 $/h (+0.000000%)",
        "objective 0 -> 0.000001 $/h (-)",
    ]


def test_an_instance_without_a_name_is_still_one(make_record):
    sides = [
        side([replace(run, run=replace(run.run, instance=""))], "s")
        for run in (make_record("a", "i", objective=5), make_record("a", "i", objective=6))
    ]
    found = compare_results(*sides)
    assert wording.about(found.regressions[0]) == "i"
    (case,) = ElementTree.fromstring(render(found, "junit")).iter("testcase")
    assert case.find("failure").get("type") == "objective"


def test_contradictions_are_told_in_every_format(make_record):
    base = [make_record("exact", objective=120, bound=90), make_record("greedy", objective=100)]
    new = [make_record("exact", objective=120, bound=120), make_record("greedy", objective=130)]
    found = compare_results(side(base, "o"), side(new, "n"))
    for form in ("table", "markdown", "json", "junit"):
        assert "is above a verified solution" in render(found, form)


def test_markdown(comparison):
    lines = render(comparison, "markdown").splitlines()
    assert lines[0] == "### ❌ schedgap: 3 regressions, 1 improvement in 5 pairs of runs."
    assert lines[2] == "BASE is old/dir, NEW is new\\_dir."
    assert lines[4] == "| what | method | instance | BASE | NEW | change | why |"
    assert lines[6] == "| missing | drawn | i seed 2 | feasible | - | - |  |"
    assert lines[7].startswith(
        "| failed | exact | i | optimal | crashed | - | ended by \\| &lt;b&gt;SIGSEGV&lt;/b&gt; \\`x\\`"
    )
    assert lines[8] == "| objective | heuristic | i | 2 | 2.05 | +2.50% |  |"
    text = "\n".join(lines)
    assert text.count("<details>") == text.count("</details>") == 3
    assert "<b>" not in text
    # Every row of a table has as many cells as its title.
    for block in text.split("\n\n"):
        rows = [line.replace("\\|", "").count("|") for line in block.splitlines() if line.startswith("|")]
        assert len(set(rows)) <= 1


def test_nobody_is_called_by_a_comment(make_record):
    """Hosts of comments tell those whose name follows an @."""
    base, new = ([make_record("a", "@octocat/team", objective=objective)] for objective in (5, 6))
    text = render(compare_results(side(base, "@o"), side(new, "n")), "markdown")
    assert "octocat/team" in text
    assert "@o" not in text


def test_markdown_is_short_however_much_is_worse(make_record):
    count = SHOWN_IN_MARKDOWN + 950
    base = [make_record("a", f"i{number}", objective=100) for number in range(count)]
    new = [make_record("a", f"i{number}", objective=101 + number) for number in range(count)]
    text = render(compare_results(side(base, "o"), side(new, "n")), "markdown")
    assert "and 950 more findings" in text
    # The largest changes come first.
    assert f"| objective | a | i{count - 1} |" in text.splitlines()[6]
    assert len(text) < 65_536


def test_table(comparison):
    text = render(comparison, "table")
    assert "Regressions (3)" in text
    assert "Improvements (1)" in text
    assert text.endswith("3 regressions, 1 improvement in 5 pairs of runs.\n")
    assert "[red]" in text
    assert "\x1b" not in text
    assert "\x00" not in text


def test_no_regression_is_said(make_record):
    runs = [make_record("a", objective=5)]
    text = render(compare_results(side(runs, "o"), side(runs, "n")), "table")
    assert text.endswith("No regression, 0 improvements in 1 pair of runs.\n")


def test_what_cannot_be_compared(nothing):
    said = "Nothing to compare: BASE old: no run ended with a result (0 done of 0 planned)."
    assert render(nothing, "table") == ""
    assert render(nothing, "markdown").startswith(f"### ⚠️ schedgap: {said}\n")
    content = json.loads(render(nothing, "json"))
    assert (content["verdict"], content["problem"]) == ("not-comparable", said.removeprefix("Nothing to compare: "))
    root = ElementTree.fromstring(render(nothing, "junit"))
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    assert root.find(".//error").get("message") == said


def test_benchmark_json(comparison, nothing):
    """Figures of NEW alone; no mean gap of `heuristic`: on j nobody proved a bound."""
    entries = json.loads(render(comparison, "benchmark-json"))
    assert all(set(entry) == {"name", "unit", "value", "extra"} for entry in entries)
    values = {entry["name"]: (entry["value"], entry["unit"]) for entry in entries}
    assert values["exact: failed runs"] == values["broken: failed runs"] == (1, "runs")
    assert values["drawn: time (sgm)"] == (pytest.approx(0.25), "s")
    assert values["drawn: mean gap"][1] == "%"
    assert {"exact: mean gap", "heuristic: mean gap"}.isdisjoint(values)
    extra = next(entry["extra"] for entry in entries if entry["name"] == "drawn: mean gap")
    assert " runs of old/dir and new_dir compared; gap " in extra
    assert render(nothing, "benchmark-json") == "[]\n"
    assert render(nothing, "bencher-json") == "{}\n"
    metrics = json.loads(render(comparison, "bencher-json"))
    figures = {(each["name"].split(":")[0], each["value"]) for each in entries}
    assert {(label, each["value"]) for label, own in metrics.items() for each in own.values()} == figures
    assert {measure for own in metrics.values() for measure in own} == {"mean-gap", "time", "failed-runs"}
