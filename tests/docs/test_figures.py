"""Figures on pages that a comment ties to a cell in `results/` are read from there.

Behind a figure, `<!-- results/FILE | GROUP | METHOD | COLUMN -->`; before a table whose first column names methods and whose
others are the file's, `<!-- table: results/FILE | GROUP -->`. A file without groups has none in the comment.
"""

import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
FIGURE = re.compile(
    r"(\d[\d,.]*(?: of \d+|%| m?s\b)?)<!-- (results/[^|>]+?) \| ([^|>]*?) ?\| ([^|>]+?) \| ([^|>]+?) -->"
)
TABLE = re.compile(r"<!-- table: (results/[^|>]+?) \| ([^|>]*?) ?-->\n\n((?:\|.*\n)+)")


def cells(line):
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def columns(lines):
    """Return the rows above and below the ruler of a table without boxes, as cells."""
    ruler = next(number for number, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line))
    places = [slice(*dashes.span()) for dashes in re.finditer("-+", lines[ruler])]
    first = next(
        number for number in range(ruler, 0, -1) if not lines[number - 1].startswith((" ", "instances", "method"))
    )
    end = next(number for number in range(ruler, len(lines)) if lines[number].endswith(("?", ".")))
    return (
        [[line[place].strip() for place in places] for line in part if line]
        for part in (lines[first:ruler], lines[ruler + 1 : end])
    )


@cache
def results(name):
    """Return the rows of a file's first table, by group and method, as texts by title of column."""
    lines = (ROOT / name).read_text().splitlines()
    heads, body = ([cells(line) for line in lines if bar in line] for bar in "┃│")
    if not heads:
        heads, body = columns(lines)
    titles = [" ".join(filter(None, parts)) for parts in zip(*heads, strict=True)]
    body = [
        [f"{cell}%" if title.endswith(" (%)") else cell for title, cell in zip(titles, row, strict=True)]
        for row in body
    ]
    titles = [title.removesuffix(" (%)") for title in titles]
    named = 2 if titles[0] == "instances" else 1
    rows = {}
    for row in body:
        # Of columns with one title, such as those of a paper's figures, the first counts.
        rows[row[0] if named == 2 else "", row[named - 1]] = dict(reversed(list(zip(titles, row, strict=True))))
    return rows


def is_said(figure, cell):
    """Return whether a figure is what the cell holds, or rounds it: 53% is 0.5293."""
    if figure == cell:
        return True
    if not re.fullmatch(r"[\d,.]+%?", figure) or not re.fullmatch(r"[\d,.]+%?", cell.split(" ± ")[0]):
        return False
    said, held = (Decimal(text.rstrip("%").replace(",", "")) for text in (figure, cell.split(" ± ")[0]))
    if figure.endswith("%") and not cell.endswith("%"):
        held *= 100
    return said == held.quantize(said)


def test_rounding():
    assert is_said("53%", "0.5293")
    assert is_said("0.827", "0.8271 ± 0.019")
    assert not is_said("22.6%", "22.53%")
    assert not is_said("53", "0.5293")


FIGURES = [(path.name, *found) for path, text in PAGES.items() for found in FIGURE.findall(text)]
TABLES = [(path.name, *found) for path, text in PAGES.items() for found in TABLE.findall(text)]


def test_every_comment_is_read():
    number = sum(len(re.findall(r"<!-- (?:table: )?results/", text)) for text in PAGES.values())
    assert number == len(FIGURES) + len(TABLES) > 20
    assert "README.md" in {page for page, *_ in TABLES}


@pytest.mark.parametrize(("page", "figure", "file", "group", "method", "column"), FIGURES)
def test_the_figure_is_the_files(page, figure, file, group, method, column):
    cell = results(file)[group, method][column]
    assert is_said(figure, cell), f"{page} says {figure}, {file} has {cell}"


@pytest.mark.parametrize(("page", "file", "group", "table"), TABLES)
def test_the_table_is_the_files(page, file, group, table):
    titles, _, *rows = ([cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in table.splitlines())
    assert len(rows) > 1
    for method, *figures in rows:
        held = [results(file)[group, method][title] for title in titles[1:]]
        assert all(map(is_said, figures, held)), f"{page}: {method} is {figures}, {file} has {held}"
