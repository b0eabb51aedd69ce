"""Pictures of solutions, packed for the page: what many of them share is written once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedgap.instances.picture import Bar, Picture


class PackedPictures:
    """Pictures as numbers: `axes`, `containers` (label, kept, capacity...) and `parts` (label, amounts...) are tables.

    A picture is [axes, left out, bars, notes], a bar is [container, repeat, part, count, part, count, ...].
    """

    def __init__(self) -> None:
        self.axes: dict[tuple[Any, ...], int] = {}
        self.containers: dict[tuple[Any, ...], int] = {}
        self.parts: dict[tuple[Any, ...], int] = {}
        self.pictures: dict[str, list[Any]] = {}
        self.size = 0

    def add(self, key: str, picture: Picture) -> None:
        """Pack a picture; `size` grows by the bytes of its JSON."""
        axes = self._number(self.axes, picture.axes)
        packed = [axes, picture.left_out, [self._bar(bar) for bar in picture.bars], picture.notes]
        self.pictures[key] = packed
        self.size += len(json.dumps([key, packed], separators=(",", ":")))

    def to_json(self) -> dict[str, Any]:
        """Return tables and pictures as the page's script reads them."""
        return {
            "axes": list(self.axes),
            "containers": list(self.containers),
            "parts": list(self.parts),
            "pictures": self.pictures,
        }

    def _bar(self, bar: Bar) -> list[int]:
        packed = [self._number(self.containers, (bar.label, bar.kept, *map(_rounded, bar.capacity))), bar.repeat]
        for part in bar.parts:
            packed += [self._number(self.parts, (part.label, *map(_rounded, part.amounts))), part.count]
        return packed

    def _number(self, table: dict[tuple[Any, ...], int], entry: tuple[Any, ...]) -> int:
        if entry not in table:
            table[entry] = len(table)
            self.size += len(json.dumps(entry))
        return table[entry]


def pack(pictures: Mapping[str, Picture], order: Iterable[str], limit: int) -> PackedPictures:
    """Return the first pictures in this order that fit into `limit` bytes; the others are left out."""
    packed = PackedPictures()
    for key in order:
        if key in pictures:
            if packed.size >= limit:
                break
            packed.add(key, pictures[key])
    return packed


def _rounded(amount: float) -> float:
    """Return an amount to six digits, as a whole number where it is one: shorter to write."""
    short = float(f"{amount:.6g}")
    return int(short) if short.is_integer() else short
