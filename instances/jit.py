"""All Numba policy, in one decorator. Importing this module imports Numba; nothing that `--help` needs does."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(func: F) -> F:
    """Compile `func` on first use: no GIL, cached on disk, no fastmath (results must not depend on the machine).

    `NUMBA_BOUNDSCHECK=1` turns bounds checks on; give such a run its own `NUMBA_CACHE_DIR`, since Numba's cache does
    not record the choice.
    """
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    decorate: Any = numba.njit(nogil=True, cache=True, boundscheck=boundscheck, fastmath=False)
    return cast("F", decorate(func))


def lean_kernel(func: F) -> F:
    """Like `kernel`, without Numba's memory management: it cannot allocate, and does not count references.

    For loops that run a million times a second: counting costs two atomic instructions an array and call, and took a
    third of the time of the packing loop.
    """
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    decorate: Any = numba.njit(nogil=True, cache=True, boundscheck=boundscheck, fastmath=False, _nrt=False)
    return cast("F", decorate(func))


def inner_kernel(func: F) -> F:
    """Like `lean_kernel`, and copied into its callers: for short parts of inner loops, since copies take compile time."""
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    decorate: Any = numba.njit(
        nogil=True, cache=True, boundscheck=boundscheck, fastmath=False, forceinline=True, _nrt=False
    )
    return cast("F", decorate(func))
