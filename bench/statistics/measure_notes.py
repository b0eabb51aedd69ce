"""What measures are, from where a family documents them: `name, name : text` in the docstring of its `measures`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedgap.instances.family import Family

_NAMES = r"[a-z0-9_*]+(?:, [a-z0-9_*]+)*"
_ENTRY = re.compile(rf"(?<![\w*])({_NAMES}) : (.*?)(?= {_NAMES} : |$)")


def measure_note(family: Family | None, name: str) -> str:
    """Return what a measure of a family is; empty where the family does not say. `*` in its words is any text."""
    text = " ".join(("" if family is None else family.measures.__doc__ or "").replace("`", "").split())
    for names, note in _ENTRY.findall(text):
        if any(fnmatchcase(name, each) for each in names.split(", ")):
            return str(note).rstrip(".;")
    return ""
