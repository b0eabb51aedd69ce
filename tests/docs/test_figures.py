"""Figures on pages that a comment ties to a cell in `results/` are read from there.

Behind a figure, `<!-- results/FILE > GROUP > METHOD > COLUMN -->`, or two of them with ` - ` or ` / ` between, and `1 - ` before
for what is saved. A file without groups has none in the comment; of a file's further tables, such as the
one of a sweep, the words before the colon of their title are the group, with `, GROUP` where it has groups.

Before a table stands one comment for all of its figures:

- `<!-- table: results/FILE > GROUP -->`: the first column names methods, the others are the file's.
- `<!-- table: results/FILE -->`: the first column names groups, the second methods, the others are the file's.
- `<!-- table: results/FILE > * > COLUMN -->`: the first column names methods, the others are groups.
"""

import re
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]}
CELL = r"results/[^|>]+? > [^|>]*? ?> [^|>]+? > [^|>]+?"
FIGURE = re.compile(rf"(\d[\d,.]*(?: of \d+|%| points?| times| [mu]?s\b)?)<!-- ((?:1 - )?{CELL}(?: [-/] {CELL})?) -->")
TABLE = re.compile(r"<!-- table: (results/[^|]+?) ?-->\n\n((?:\|.*\n)+)")


def cells(line):
    return [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]


def tables(lines):
    """Yield the title of each table, and its rows above and below the ruler, as cells; with boxes, else without."""
    for begin in (number for number, line in enumerate(lines) if line.startswith("┏")):
        end = next(number for number in range(begin, len(lines)) if lines[number].startswith("└"))
        yield lines[begin - 1], *([cells(line) for line in lines[begin:end] if bar in line] for bar in "┃│")
    rulers = [number for number, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line)]
    titles = [
        next(n for n in range(ruler - 1, -1, -1) if not lines[n].startswith((" ", "instances", "method")))
        for ruler in rulers
    ]
    for ruler, title, after in zip(rulers, titles, [*titles, len(lines)][1:], strict=True):
        places = [slice(*dashes.span()) for dashes in re.finditer("-+", lines[ruler])]
        end = next(
            number for number in range(ruler, len(lines)) if number == after or lines[number].endswith(("?", "."))
        )
        parts = (lines[title + 1 : ruler], lines[ruler + 1 : end])
        yield lines[title], *([[line[place].strip() for place in places] for line in part if line] for part in parts)


@cache
def results(name):
    """Return the rows of a file's tables, by group and method, as texts by title of column."""
    rows = {}
    for place, (title, heads, body) in enumerate(tables((ROOT / name).read_text().splitlines())):
        found = rows_of(heads, body)
        for (group, method), row in found.items():
            named = ", ".join(filter(None, [title.partition(":")[0], group]))
            rows[named if place else group, method] = row
    return rows


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_stand_in_tables(page):
    """A page that can be edited has few comments; one before a table holds all of it."""
    assert len(re.findall(r"<!-- (?:table: |1 - )?results/", PAGES[page])) <= 10


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


def there(source, titles, row):
    """Return the cells of a file that a row of a page's table stands for."""
    match parts(source):
        case [file]:
            return [results(file)[row[0], row[1]][title] for title in titles[2:]]
        case [file, group]:
            return [results(file)[group, row[0]][title] for title in titles[1:]]
        case [file, "*", column]:
            return [results(file)[group, row[0]][column] for group in titles[1:]]
    raise AssertionError(source)


@pytest.mark.parametrize(("page", "source", "table"), TABLES)
def test_the_table_is_the_files(page, source, table):
    titles, _, *rows = ([cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in table.splitlines())
    assert len(rows) > 1
    for row in rows:
        held_there = there(source, titles, row)
        assert held_there
        assert all(map(is_said, row[-len(held_there) :], held_there)), f"{page}: {row} is {held_there} in {source}"


# What looks like a measurement on the pages of the families has a comment that names its file, or is listed here: a percentage,
# a factor (`3 times`), a difference (`2 points`), a count (`16 of 18`), or a time with a decimal point, outside code. Listed is
# what the papers say, what a word means, and what a generator or a suite is given.
MEASURED = re.compile(
    r"(?<![\w.])\d[\d,.]*\s?(?:%(?! interval)|points?\b|times\b|of \d+\b)|(?<![\w.])\d[\d,]*\.\d+\s[mu]?s\b"
)
NOT_MEASURED = {
    "README.md": [],
    "docs/families.md": [],
    "docs/fairness.md": [
        "more than 1 %",
        "(random subsets, 18 % anywhere)",
    ],
    "docs/sharing.md": [
        '"18 % of jobs can be run at any nodes while 50 % of nodes can run 35 % of jobs"',
        "for 35 % of the jobs that can run on half of the machines or more",
        "for 35 % that can run on fewer",
        "at 50, 75, 90, 99 and 100 %",
    ],
    "docs/provisioning.md": [],
    "docs/harvest.md": [
        "between 60 and 80% of use",
        "where the latter is above 5%",
    ],
    "docs/waiting.md": [
        "but those with 1% of the core-hours",
        # A model's, in the second table's column of models.
        "here 529.4 s",
    ],
    "docs/reconfiguration.md": ["the paper's 67, 67 and 75%", "The paper says 58%"],
}


def unmarked(page, text):
    """Return what looks measured on a page, with some words around, without what has a comment or is listed."""
    text = TABLE.sub("", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    text = " ".join(FIGURE.sub("", text).split())
    for phrase in NOT_MEASURED[page]:
        text = text.replace(phrase, "")
    text = re.sub("`[^`]*`", "", text)
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in MEASURED.finditer(text)]


@pytest.mark.parametrize("page", NOT_MEASURED)
def test_every_figure_has_a_file(page):
    assert unmarked(page, (ROOT / page).read_text()) == []


@pytest.mark.parametrize(
    "said",
    [
        "It saves 12% of it.",
        "It is 3 times as fast.",
        "It gains 0.5 points.",
        "All, 16 of 18, are.",
        "It takes 4.05 s.",
        "About 12.5 % of `x`.",
    ],
)
def test_figures_without_a_file_are_found(said):
    assert len(unmarked("README.md", f"```console\n$ x 50%\n```\n\n{said} `y 7%`")) == 1


def test_a_comment_and_a_listed_phrase_are_enough():
    cell = "results/eva-table4.txt > physical cores > patterns > proven optimal"
    assert unmarked("README.md", f"30 of 30<!-- {cell} --> are; a point, in 5,000 s.") == []
    assert unmarked("docs/fairness.md", "who lacks more\nthan 1 %; or 2%") == ["who lacks ; or 2%"]


@pytest.mark.parametrize("page", [page for page, phrases in NOT_MEASURED.items() if phrases])
def test_what_is_listed_is_there(page):
    text = " ".join((ROOT / page).read_text().split())
    assert [phrase for phrase in NOT_MEASURED[page] if phrase not in text] == []
