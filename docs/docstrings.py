"""Docstrings as the API pages show them: a sentence `name : what it is` becomes an item of a list."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

# At the start of a line or of a sentence: `jobs, limits : of the runs`.
NAMED = re.compile(r"(?:^[ ]*|(?<=[.;)`]) )((?:`?[a-z_]\w*`?)(?:, `?[a-z_]\w*`?)*) : (?=\S)", re.MULTILINE)


class Items(Extension):
    """Writes the docstrings anew, except for the sections of numpydoc, which are read as they are."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring of what was just read."""
        if obj.docstring is None:
            return
        text = obj.docstring.value
        section = re.search(r"^[ ]*\w+\n[ ]*---", text, re.MULTILINE)
        end = len(text) if section is None else section.start()
        obj.docstring.value = "\n\n".join(map(_listed, text[:end].split("\n\n"))) + text[end:]


def _listed(paragraph: str) -> str:
    """Return a paragraph with its list, which begins after an empty line."""
    items = NAMED.sub(lambda found: f"\n- **{found[1]}**: ", paragraph)
    return items if items == paragraph else items.replace("\n- **", "\n\n- **", 1)
