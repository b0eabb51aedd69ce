"""docs/papers.md has every table, figure and algorithm of the four papers, with commands that exist and measured files."""

import re
from pathlib import Path

import pytest

from schedgap.bench.suites.shipped import shipped_suites

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/papers.md").read_text()
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


def rows(paper):
    """Return the cells of a paper's table: item, verdict, what the paper says, what is here, command."""
    section = PAGE.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    table = re.search(r"^\| item \|.*\n\|[-|]+\n((?:\|.*\n)+)", section, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[1].splitlines()]


ROWS = [(paper, *row) for paper in NUMBERED for row in rows(paper)]


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


def test_the_counts_are_the_rows():
    for paper in [*NUMBERED, "all"]:
        verdicts = [row[2] for row in ROWS if paper in (row[0], "all")]
        said = re.search(rf"^\| {paper} \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
        assert [int(number) for number in said.groups()] == [len(verdicts), *map(verdicts.count, VERDICTS)]
