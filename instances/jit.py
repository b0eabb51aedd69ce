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
    return _compiled(func, cache=True)


def lean_kernel(func: F) -> F:
    """Like `kernel`, without Numba's memory management: it cannot allocate, and does not count references.

    For loops that run a million times a second: counting costs two atomic instructions an array and call, and took a
    third of the time of the packing loop.
    """
    return _compiled(func, cache=True, _nrt=False)


def inner_kernel(func: F) -> F:
    """Compile `func` for lean kernels only: Python cannot call it, which halves the time to compile it."""
    return _compiled(func, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined_kernel(func: F) -> F:
    """Like `inner_kernel`, and always copied into its callers: for short parts of inner loops."""
    return _compiled(func, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def _compiled(func: F, **options: Any) -> F:
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    njit: Any = numba.njit
    decorate = njit(nogil=True, boundscheck=boundscheck, fastmath=False, **options)
    return cast("F", decorate(func))


def prepare() -> None:
    """Make Numba set itself up, which takes a quarter of a second and otherwise falls on a process's first kernel."""
    _nothing()


@kernel
def _nothing() -> None:
    pass
