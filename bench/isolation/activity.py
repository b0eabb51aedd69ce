"""What the threads of this process are at, for whoever shows how far a suite is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# How it is said that kernels are compiled.
COMPILING = "compiling"
_LOCK = threading.Lock()
# By thread, the innermost last.
_DOING: dict[int, list[str]] = {}


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Have `activities` tell what this thread does meanwhile."""
    thread = threading.get_ident()
    with _LOCK:
        _DOING.setdefault(thread, []).append(what)
    try:
        yield
    finally:
        with _LOCK:
            _DOING[thread].pop()
            if not _DOING[thread]:
                del _DOING[thread]


def activities() -> list[str]:
    """Return what each busy thread does, those that began first at the beginning."""
    with _LOCK:
        return [whats[-1] for whats in _DOING.values()]


def is_compiling() -> bool:
    """Whether a thread compiles kernels, which it does once and not for each run."""
    return any(what.startswith(COMPILING) for what in activities())
