"""What a shell completes besides commands and options: names of suites, families and methods."""

from __future__ import annotations

from importlib import import_module

from schedgap.bench.suites.shipped import shipped_suites, suite_rows


def complete_suite(incomplete: str) -> list[str]:
    """Return the shipped suites that begin so."""
    return [name for name in shipped_suites() if name.startswith(incomplete)]


def complete_family(incomplete: str) -> list[str]:
    """Return the families that begin so; each has a suite."""
    return sorted({row["family"] for row in suite_rows() if row["family"].startswith(incomplete)})


def complete_method(incomplete: str) -> list[str]:
    """Return the methods of all families that begin so; this imports them, which takes a second or two."""
    rows = import_module("schedgap.bench.cli.listed").methods([])
    return sorted({row["name"] for row in rows if row["name"].startswith(incomplete)})
