"""Where the gap of a solution comes from, by the prices that prove a bound; a family says so in `SPLITTERS`, or does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedgap.instances.picture import Split

SPLITTERS: dict[str, Callable[[Any, Any], Split | None]] = {}


def split(family: str, instance: Any, solution: Any) -> Split | None:
    """Return the split of a verified solution's gap; None where the family has none, or prices cost too much time."""
    return SPLITTERS[family](instance, solution) if family in SPLITTERS else None
