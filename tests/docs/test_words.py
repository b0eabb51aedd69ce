"""Sentences on the pages are short: at most 16 words on average, and at most a tenth of them over 25.

A sentence is of running text: no code, tables, headings or comments. What is code counts as a word.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AVERAGE, LONG, MOST_LONG = 16, 25, 0.1
FENCE = re.compile(r"^( *)```.*?^\1``` *$", re.MULTILINE | re.DOTALL)
BEGINS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sentences(text):
    """Yield the numbers of words of the sentences of a page."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("\n\n", text), flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", text))
    for block in BEGINS.split(text):
        if (block := block.strip()) and block[0] not in "#|<":
            lines = [line for line in re.sub(r"^(?:[-*]|\d+\.)\s+", "", block).splitlines() if line.lstrip()[:1] != "|"]
            parts = re.split(r"(?<=[.!?])[\"')*]*\s+(?=[\w\"'(*])", " ".join(lines))
            yield from (words for part in parts if (words := len(re.findall(r"\w[\w'.,/%-]*", part))) > 1)


def test_what_is_counted():
    page = "# A title\n\nOne two three. Four, `five of them`!\n\n| no | table |\n\n- six [seven](eight.md)\n\n```\nno code\n```\n"
    assert list(sentences(page)) == [3, 2, 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page):
    words = list(sentences(page.read_text()))
    average, long = sum(words) / len(words), sum(each > LONG for each in words) / len(words)
    print(f"{page.relative_to(ROOT)}: {average:.1f} words a sentence, {long:.0%} over {LONG}")
    assert average <= AVERAGE
    assert long <= MOST_LONG
