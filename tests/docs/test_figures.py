"""Figures on pages that a comment ties to a cell in `results/` are read from there.

Behind a figure, `<!-- results/FILE > GROUP > METHOD > COLUMN -->`, or two of them with ` - ` or ` / ` between, and `1 - ` before
for what is saved; before a table whose first column names methods and whose others are the file's,
`<!-- table: results/FILE > GROUP -->`. A file without groups has none in the comment; of a file's further tables, such as the
one of a sweep, the words before the colon of their title are the group.
"""

import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
CELL = r"results/[^|>]+? > [^|>]*? ?> [^|>]+? > [^|>]+?"
FIGURE = re.compile(rf"(\d[\d,.]*(?: of \d+|%| points?| times| m?s\b)?)<!-- ((?:1 - )?{CELL}(?: [-/] {CELL})?) -->")
TABLE = re.compile(r"<!-- table: (results/[^|>]+?) > ([^|>]*?) ?-->\n\n((?:\|.*\n)+)")


def cells(line):
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def tables(lines):
    """Yield the title of each table without boxes, and the rows above and below its ruler, as cells."""
    rulers = [number for number, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line)]
    firsts = [
        next(number for number in range(ruler, 0, -1) if not lines[number - 1].startswith((" ", "instances", "method")))
        for ruler in rulers
    ]
    last = next(number for number in range(rulers[-1], len(lines)) if lines[number].endswith(("?", ".")))
    for ruler, first, end in zip(rulers, firsts, [*(first - 1 for first in firsts[1:]), last], strict=True):
        places = [slice(*dashes.span()) for dashes in re.finditer("-+", lines[ruler])]
        heads, body = (
            [[line[place].strip() for place in places] for line in part if line]
            for part in (lines[first:ruler], lines[ruler + 1 : end])
        )
        yield lines[first - 1], heads, body


@cache
def results(name):
    """Return the rows of a file's tables, by group and method, as texts by title of column."""
    lines = (ROOT / name).read_text().splitlines()
    begins = [number for number, line in enumerate(lines) if line.startswith("┏")]
    parts = boxes(lines, begins) if begins else tables(lines)
    rows = {}
    for place, (title, heads, body) in enumerate(parts):
        found = rows_of(heads, body)
        rows |= found if place == 0 else {(title.partition(":")[0], key[1]): row for key, row in found.items()}
    return rows


def boxes(lines, begins):
    """Yield the same of tables with boxes, which begin at those lines."""
    for begin in begins:
        end = next(number for number in range(begin, len(lines)) if lines[number].startswith("└"))
        heads, body = ([cells(line) for line in lines[begin:end] if bar in line] for bar in "┃│")
        yield lines[begin - 1], heads, body


def rows_of(heads, body):
    titles = [" ".join(filter(None, parts)) for parts in zip(*heads, strict=True)]
    body = [
        [f"{cell}%" if title.endswith(" (%)") else cell for title, cell in zip(titles, row, strict=True)]
        for row in body
    ]
    titles = [title.removesuffix(" (%)") for title in titles]
    named = 2 if titles[0] == "instances" else 1
    # Of columns with one title, such as those of a paper's figures, the first counts.
    return {
        (row[0] if named == 2 else "", row[named - 1]): dict(reversed(list(zip(titles, row, strict=True))))
        for row in body
    }


def held(expression):
    """Return what a comment stands for: a cell's text, or a number made of cells as a text."""
    first, *rest = re.split(r" ([-/]) (?=results/)", expression.removeprefix("1 - "))
    texts = [results(file)[group, method][column] for file, group, method, column in map(parts, [first, *rest[1:]])]
    if expression == first:
        return texts[0]
    value, *other = (Decimal(text.split(" ± ")[0].rstrip("%").replace(",", "")) for text in texts)
    if rest:
        value = value - other[0] if rest[0] == "-" else value / other[0]
    return str(1 - value if expression.startswith("1 - ") else value) + "%" * (
        texts[0].endswith("%") and rest[:1] == ["-"]
    )


def parts(cell):
    return [part.strip() for part in cell.split(">")]


def is_said(figure, cell):
    """Return whether a figure is what the cell holds, or rounds it: 53% is 0.5293."""
    if figure == cell:
        return True
    figure = figure.removesuffix(" times").replace(" points", "%").replace(" point", "%")
    if not re.fullmatch(r"[\d,.]+%?", figure) or not re.fullmatch(r"[\d,.]+%?", cell.split(" ± ")[0]):
        return False
    said, there = (Decimal(text.rstrip("%").replace(",", "")) for text in (figure, cell.split(" ± ")[0]))
    if figure.endswith("%") and not cell.endswith("%"):
        there *= 100
    return said == there.quantize(said)


def test_rounding():
    assert is_said("53%", "0.5293")
    assert is_said("0.827", "0.8271 ± 0.019")
    assert is_said("5 points", "0.0506")
    assert is_said("1.5 times", "1.537")
    assert not is_said("22.6%", "22.53%")
    assert not is_said("53", "0.5293")


FIGURES = [(path.name, *found) for path, text in PAGES.items() for found in FIGURE.findall(text)]
TABLES = [(path.name, *found) for path, text in PAGES.items() for found in TABLE.findall(text)]


def test_every_comment_is_read():
    number = sum(len(re.findall(r"<!-- (?:table: |1 - )?results/", text)) for text in PAGES.values())
    assert number == len(FIGURES) + len(TABLES) > 20
    assert "README.md" in {page for page, *_ in TABLES}


def test_arithmetic():
    file, method = "results/slacksched-fig10.txt", "C2 > slacksched"
    assert held(f"1 - {file} > {method} > njct") == str(
        1 - Decimal(results(file)["C2", "slacksched"]["njct"].split()[0])
    )
    assert held(f"{file} > {method} > njct / {file} > {method} > njct") == "1"
    assert (
        held("results/harvest-bounds.txt > > oracle > mean gap - results/harvest-bounds.txt > > oracle > mean gap")
        == "0.00%"
    )


@pytest.mark.parametrize(("page", "figure", "expression"), FIGURES)
def test_the_figure_is_the_files(page, figure, expression):
    there = held(expression)
    assert is_said(figure, there), f"{page} says {figure}, {expression} is {there}"


@pytest.mark.parametrize(("page", "file", "group", "table"), TABLES)
def test_the_table_is_the_files(page, file, group, table):
    titles, _, *rows = ([cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in table.splitlines())
    assert len(rows) > 1
    for method, *figures in rows:
        there = [results(file)[group, method][title] for title in titles[1:]]
        assert all(map(is_said, figures, there)), f"{page}: {method} is {figures}, {file} has {there}"
