"""The suites that come with the package; this module stays light, so that `schedgap list suites` answers at once."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable


def shipped_suites() -> dict[str, Traversable]:
    """Return the suites that come with the package, by name."""
    folder = files("schedgap.bench.suites")
    return {
        entry.name.removesuffix(".toml"): entry
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def suite_rows() -> list[dict[str, str]]:
    """Return name, family and question of each, unchecked: `read_suite` checks, and tests that all of them are whole."""
    documents = (tomllib.loads(entry.read_text(encoding="utf-8")) for entry in shipped_suites().values())
    return [{name: document[name] for name in ("name", "family", "question")} for document in documents]
