"""Every table at every width: no line is wider than the terminal, and no name is split over two lines."""

import json
import re
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.headlines.registry import find_headline, headline_rows
from schedgap.bench.suites.shipped import shipped_suites, suite_rows
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Status

RESULTS = Path(__file__).parents[3] / "results"
WIDTHS = (60, 80, 100, 120, 200)
DIRECTORIES = sorted(path.parent.name for path in RESULTS.glob("*/journal.jsonl"))
KINDS = ("suites", "methods", "backends", "instances", "traces")


def is_sound(text, names, width):
    """Check printed text; a name may only end its line at `[`, or behind the comma between two parameters."""
    words = set(re.split(r"\s+|(?=\[)|(?<=,)(?=[a-z_])", text))
    for name in names:
        missing = [piece for piece in re.split(r"\s+|(?=\[)|(?<=,)(?=[a-z_])", name) if piece and piece not in words]
        assert not missing, (name, missing)
    for line in text.splitlines():
        # What cannot be folded, such as a path, has a line of its own.
        assert len(line) <= width or (" " not in line.strip() and len(line.strip()) > width - 4), line
    return True


@pytest.fixture(params=WIDTHS)
def width(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_committed_results(schedgap, width, directory):
    code, out, _ = schedgap("report", RESULTS / directory)
    records = [json.loads(line) for line in (RESULTS / directory / "journal.jsonl").read_text().splitlines()]
    assert code == 0
    assert is_sound(out, {record["label"] for record in records if "label" in record}, width)


@pytest.fixture(scope="module")
def built(make_record):
    """Rows of a suite's own table, of records made up for each of its methods on an instance of each of its groups."""
    load_families()

    def rows(name):
        suite, _ = read_suite(name)
        records = []
        for number, block in enumerate(suite.blocks):
            for place, text in enumerate(block.methods or suite.methods):
                status = Status.INVALID if place == 1 else None
                measures = dict.fromkeys(suite.measures, 1234.5678 * (place + 1))
                figures = {"objective": 10**9 + place, "bound": 10**9 - 7, "wall_s": 0.000123 * 10**place}
                records.append(
                    make_record(text, f"i{number}", group=block.group, status=status, measures=measures, **figures)
                )
        return suite, headline_rows(suite, records)

    return rows


@pytest.mark.parametrize("name", shipped_suites())
def test_every_suite(built, name):
    """Rank by rank columns go; the names of methods and groups stay, and the figure that the suite is about."""
    suite, rows = built(name)
    headline, family = find_headline(suite), FAMILIES[suite.family]
    for width in WIDTHS:
        text = "\n".join(headline.lines(suite.title, rows, family, width))
        names = {row["method"] for row in rows} | {row.get("group", "") for row in rows}
        assert is_sound(text, names, width)
        if "Not shown: " in text:
            wide = int(re.search(r"COLUMNS=\s*(\d+)", text)[1])
            assert "Not shown" not in "\n".join(headline.lines(suite.title, rows, family, wide))


@pytest.mark.parametrize("kind", KINDS)
def test_every_list(schedgap, width, kind):
    names = {row["name"] for row in json.loads(schedgap("list", kind, "--json")[1])[kind]}
    for options in ([], ["--long"]):
        code, out, _ = schedgap("list", kind, *options)
        assert code == 0
        assert is_sound(out, names, width)


def test_a_line_for_each_method(schedgap, monkeypatch):
    """Below its family's name, with empty lines between families and a last sentence."""
    monkeypatch.setenv("COLUMNS", "80")
    rows = json.loads(schedgap("list", "methods", "--json")[1])["methods"]
    families = {row["family"] for row in rows}
    lines = schedgap("list", "methods")[1].splitlines()
    assert len(lines) == len(rows) + 2 * len(families) + 1
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [row["name"] for row in rows]


def test_lists_of_one_family(schedgap):
    rows = json.loads(schedgap("list", "suites", "--family", "sharing", "--json")[1])["suites"]
    assert {row["family"] for row in rows} == {"sharing"}
    assert rows == [row for row in suite_rows() if row["family"] == "sharing"]
    code, out, err = schedgap("list", "methods", "--family", "fairnes")
    assert (code, out) == (2, "")
    assert "there are no methods of family 'fairnes'; did you mean fairness? " in err


def test_rows_of_suites_are_what_suites_say():
    """They are read without the checks, which take longer than all else."""
    read = [read_suite(name)[0] for name in shipped_suites()]
    assert suite_rows() == [{"name": suite.name, "family": suite.family, "question": suite.question} for suite in read]
