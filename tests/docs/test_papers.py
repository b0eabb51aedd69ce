"""docs/papers.md has every table, figure and algorithm of the four papers, with commands that exist and measured files.

What was measured is in docs/papers.toml: cells of `results/` that the page says, and rules that verdicts are computed from.
"""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from schedgap.bench.suites.shipped import shipped_suites
from tests.docs.test_figures import held, is_said

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/papers.md").read_text()
EVIDENCE = tomllib.loads((ROOT / "docs/papers.toml").read_text())
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4}
# What the papers number; the text of Eunomia has no Figure 2.
NUMBERED = {
    "Eva": {"Table": range(1, 15), "Figure": range(1, 9), "Algorithm": [1]},
    "Eunomia": {"Table": range(1, 5), "Figure": [1, 3, 4, 5, 6], "Algorithm": [1]},
    "Waiting Game": {"Table": [1], "Figure": range(1, 14)},
    "SlackSched": {"Table": [1], "Figure": range(1, 36), "Algorithm": [1, 2, 3]},
}
VERDICTS = ("reproduced", "taken over", "differs")
ITEM = re.compile(r"(Table|Figure|Algorithm)s? ([IV]+|\d+)(?:[a-d])?(?: to (\d+))?")
# How far a number may be from the paper's.
TOLERANCE = 0.1
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1}


def rows(paper, first="item"):
    """Return the cells of a paper's table: item, verdict, what the paper says, what is here, command."""
    section = PAGE.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    table = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", section, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[1].splitlines()] if table else []


ROWS = [(paper, *row) for paper in NUMBERED for row in rows(paper)]
LOOKED = [(paper, *row) for paper in NUMBERED for row in rows(paper, "looked into")]


def near(paper, here):
    """Whether a number, or each of several, is within the tolerance."""
    if isinstance(paper, list):
        return len(paper) == len(here) and all(map(near, paper, here))
    return abs(here - paper) <= TOLERANCE * abs(paper) + 1e-9


def both(paper, here):
    """Whether a ratio is near, and so is what is saved or gained by it."""
    return near(paper, here) and near(1 - paper, 1 - here)


def within(low, high, here):
    """Whether a number is in the paper's interval, or near its ends."""
    return (1 - TOLERANCE) * low - 1e-9 <= here <= (1 + TOLERANCE) * high + 1e-9


def rises(values):
    return all(a < b for a, b in pairwise(values))


def falls(values):
    return rises(values[::-1])


RULES = {"near": near, "both": both, "within": within, "rises": rises, "falls": falls}


def listed(cells):
    """Yield the comments of `test_figures` that a list of cells stands for."""
    for cell in cells:
        cell = re.sub(r"(^(?:1 - )?| [-/] )([\w-]+)(?= > )", r"\1results/\2.txt", cell)
        choice = re.search(r"[^>]*\|[^>]*", cell)
        for each in choice[0].split("|") if choice else [""]:
            yield cell.replace(choice[0], f" {each.strip()} ", 1).strip() if choice else cell


def number(text):
    value, unit = re.fullmatch(r"(-?[\d.]+(?:e-?\d+)?) ?(%|[mu]?s)?", text.split(" ± ")[0].replace(",", "")).groups()
    return float(value) * (0.01 if unit == "%" else SECONDS.get(unit, 1))


def verdict_of(rule):
    """Return what a rule of papers.toml says."""
    values = [number(held(cell)) for cell in listed([*rule.get("cells", []), *rule.get("also", [])])]
    holds = eval(rule["holds"], {**RULES, "x": values})
    return "reproduced" if holds and "setting" not in rule else "differs"


def test_both_readings_count():
    # 0.86 is near 0.9, but 0.14 is not near 0.1.
    assert near(0.9, 0.86)
    assert not both(0.9, 0.86)
    assert both(0.58, 0.581)
    assert within(0.1, 0.15, 0.155)
    assert not within(0.1, 0.15, 0.17)


def test_names_with_bars_are_several():
    assert list(listed(["1 - eva-e2 > a, b > eva > x / eva-e2 > a, b > owl > x", "eva-e2 > g > a|b > x"])) == [
        "1 - results/eva-e2.txt > a, b > eva > x / results/eva-e2.txt > a, b > owl > x",
        "results/eva-e2.txt > g > a > x",
        "results/eva-e2.txt > g > b > x",
    ]


@pytest.mark.parametrize("paper", NUMBERED)
def test_nothing_is_missing(paper):
    there = set()
    for item, *_ in rows(paper):
        for kind, first, last in ITEM.findall(item):
            begin = int(first) if first.isdigit() else ROMAN[first]
            there |= {(kind, number) for number in range(begin, int(last or begin) + 1)}
    assert there == {(kind, number) for kind, numbers in NUMBERED[paper].items() for number in numbers}


@pytest.mark.parametrize(("paper", "item", "verdict", "says", "here", "command"), ROWS)
def test_a_verdict_has_its_evidence(paper, item, verdict, says, here, command):
    assert here
    assert verdict in VERDICTS
    suites = re.findall(r"`schedgap run ([\w-]+)", command)
    assert set(suites) <= set(shipped_suites())
    files = re.findall(r"\]\((\.\./[\w./-]+)\)", command)
    assert all((ROOT / "docs" / file).exists() for file in files)
    tests = re.findall(r"`pytest ([\w/.-]+)", command)
    assert all((ROOT / test).exists() for test in tests)
    assert (suites and files) or tests or verdict == "taken over"
    rule = EVIDENCE[paper].get(item, {})
    if verdict == "taken over":
        assert "holds" not in rule
    elif "holds" in rule:
        assert verdict == verdict_of(rule), f"{item}: change the verdict or the rule {rule['holds']}"
    else:
        assert tests, f"{item}: give a rule in docs/papers.toml, or a test"


@pytest.mark.parametrize(("paper", "item", "here"), [(row[0], row[1], row[-2]) for row in [*ROWS, *LOOKED]])
def test_the_figures_are_the_files(paper, item, here):
    """The cells of an item are said in their order; between them may be others, such as the paper's or a test's."""
    said = iter(re.findall(r"\d(?:[\d,.]*\d)?(?: of \d+|%| points?| times| [mu]?s\b)?", here))
    for cell in listed(EVIDENCE[paper].get(item, {}).get("cells", [])):
        there = held(cell)
        assert any(is_said(figure, there) or is_said(re.sub(" [mu]?s$", "", figure), there) for figure in said), (
            f"{item} does not say {there}, which is {cell}"
        )


def test_no_rule_is_left_over():
    for paper, rules in EVIDENCE.items():
        assert set(rules) <= {row[1] for row in [*ROWS, *LOOKED] if row[0] == paper}


def test_the_counts_are_the_rows():
    for paper in [*NUMBERED, "all"]:
        verdicts = [row[2] for row in ROWS if paper in (row[0], "all")]
        said = re.search(rf"^\| {paper} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
        assert [int(number) for number in said.groups()] == [len(verdicts), *map(verdicts.count, VERDICTS)]
