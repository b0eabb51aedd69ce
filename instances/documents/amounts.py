"""Amounts: decimal numbers as people write them, and exact integer units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.errors import SchedgapError


def to_units(
    values: Any, scale: int | IntArray, what: str, error: type[SchedgapError], names: Sequence[Sequence[str]] = ()
) -> IntArray:
    """Convert decimal numbers to integer units, exactly for up to 15 significant digits.

    names : of the first axes' entries, and so on, by which a number is called in a message; others go by their index.

    Raises
    ------
    SchedgapError
        of the class `error` if a number is not a whole number of units.
    """
    numbers = np.asarray(values, dtype=np.float64)
    # What is too large is refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * scale
        units = np.rint(scaled)
        off = np.abs(scaled - units) > 4 * np.spacing(np.maximum(np.abs(scaled), 1))
    if (unknown := np.isnan(numbers)).any():
        raise error(f"{what}{_place(tuple(np.argwhere(unknown)[0]), names)} is no number; give one.")
    if off.any():
        index = tuple(np.argwhere(off)[0])
        per = np.broadcast_to(np.asarray(scale), numbers.shape)[index]
        found = f"{what}{_place(index, names)}: {numbers[index]:.15g}"
        raise error(f"{found} is not a whole number of 1/{per}; round it, since sums are exact integers.")
    large = np.abs(units) >= 2**53
    if large.any():
        index = tuple(np.argwhere(large)[0])
        raise error(f"{what}{_place(index, names)}: {numbers[index]:g} is too large to be exact; use larger units.")
    return units.astype(np.int64)


def _place(index: tuple[int, ...], names: Sequence[Sequence[str]]) -> str:
    """Return which entry an index means: `of 'gcn', 'p3', 'ram_gib'`, and numbers where there are no names."""
    parts = [f"'{names[axis][entry]!s:.60}'" if axis < len(names) else str(entry) for axis, entry in enumerate(index)]
    return f" of {', '.join(parts)}" if parts else ""


def from_units(value: int, scale: int) -> float | int:
    """Return an integer amount as people write it: a whole number where it is one."""
    whole, rest = divmod(int(value), scale)
    return whole if rest == 0 else int(value) / scale
