"""Locked arrays and content hashes: frozen dataclasses do not freeze the arrays that they hold."""

from __future__ import annotations

import hashlib
import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def locked_ints(values: ArrayLike) -> IntArray:
    """Return `values` as a read-only C-ordered int64 array; a copy unless it is already one that nobody can write.

    Raises
    ------
    ValueError
        for fractions, or numbers that 64 bits do not hold, which NumPy would let wrap.
    """
    source = np.asarray(values)
    if source.size and not _fits(source):
        raise ValueError(f"expected whole numbers below 2^63, got {source.dtype} with {np.abs(source).max()}")
    if source.dtype.kind == "O":
        # Python's own whole numbers, of which some were too large to be seen as such at once.
        source = np.array([operator.index(value) for value in source.reshape(-1)], np.int64).reshape(source.shape)
    if source.dtype.kind not in "iub" and source.size and not np.array_equal(source, np.rint(source)):
        raise ValueError(f"expected whole numbers, got {source.dtype} with fractions")
    if source.dtype == np.int64 and source.flags.c_contiguous and not source.flags.writeable and source.base is None:
        return source
    array = np.array(source, dtype=np.int64, order="C", copy=True)
    array.setflags(write=False)
    return array


def _fits(source: NDArray[Any]) -> bool:
    """Return whether no number leaves 64 bits; false for NaN."""
    if source.dtype.kind == "u":
        return bool(source.max() <= np.iinfo(np.int64).max)
    if source.dtype.kind == "O":
        return all(-(2**63) <= value < 2**63 for value in source.reshape(-1).tolist())
    return source.dtype.kind != "f" or bool((np.abs(source) < 2.0**63).all())


def locked_bools(values: ArrayLike) -> BoolArray:
    """Return `values` as a read-only C-ordered bool array; a copy unless it is already one that nobody can write."""
    source = np.asarray(values)
    if source.dtype == np.bool_ and source.flags.c_contiguous and not source.flags.writeable and source.base is None:
        return source
    array = np.array(source, dtype=np.bool_, order="C", copy=True)
    array.setflags(write=False)
    return array


def locked_floats(values: ArrayLike) -> FloatArray:
    """Return `values` as a read-only C-ordered float64 array, a copy."""
    array = np.array(values, dtype=np.float64, order="C", copy=True)
    array.setflags(write=False)
    return array


def content_hash(parts: Iterable[object]) -> str:
    """Return the SHA-256 (hex) of a sequence of strings, numbers, None and int64 arrays, the same on every machine."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            little = np.ascontiguousarray(part, dtype="<i8")
            digest.update(f"array{little.shape}".encode())
            digest.update(little.data)
        else:
            text = repr(part).encode()
            digest.update(f"{len(text)}:".encode())
            digest.update(text)
    return digest.hexdigest()
