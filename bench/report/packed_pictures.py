"""Pictures of solutions, packed for the page: what many of them share is written once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedgap.instances.picture import Bar, Picture, Timetable


class PackedPictures:
    """Pictures as numbers: `axes`, `containers` (label, kept, capacity...) and `parts` (label, amounts...) are tables.

    A picture is [axes, left out, bars, notes, split, timetable], a bar is [container, repeat, part, count, part, count, ...].
    `words` is a table of texts; a timetable is [unit, begin, end, looks, labels, rows, note] with their numbers, a row is
    [name, peak, mark, mark, ...]. What a picture lacks is 0.
    """

    def __init__(self) -> None:
        self.axes: dict[tuple[Any, ...], int] = {}
        self.containers: dict[tuple[Any, ...], int] = {}
        self.parts: dict[tuple[Any, ...], int] = {}
        self.words: dict[Any, int] = {}
        self.pictures: dict[str, list[Any]] = {}
        self.size = 0

    def add(self, key: str, picture: Picture) -> None:
        """Pack a picture; `size` grows by the bytes of its JSON."""
        axes = self._number(self.axes, picture.axes)
        bars = [self._bar(bar) for bar in picture.bars]
        split: Any = 0
        if (given := picture.split) is not None:
            losses = [[loss.name, loss.count, _rounded(loss.price), _rounded(loss.worth)] for loss in given.losses]
            split = [given.unit, _rounded(given.bound), losses]
        table = 0 if picture.timetable is None else self._timetable(picture.timetable)
        packed = [axes, picture.left_out, bars, picture.notes, split, table]
        self.pictures[key] = packed
        self.size += len(json.dumps([key, packed], separators=(",", ":")))

    def to_json(self) -> dict[str, Any]:
        """Return tables and pictures as the page's script reads them."""
        return {
            "axes": list(self.axes),
            "containers": list(self.containers),
            "parts": list(self.parts),
            "words": list(self.words),
            "pictures": self.pictures,
        }

    def _bar(self, bar: Bar) -> list[int]:
        packed = [self._number(self.containers, (bar.label, bar.kept, *map(_rounded, bar.capacity))), bar.repeat]
        for part in bar.parts:
            packed += [self._number(self.parts, (part.label, *map(_rounded, part.amounts))), part.count]
        return packed

    def _timetable(self, given: Timetable) -> list[Any]:
        looks, labels = ([self._number(self.words, word) for word in words] for words in (given.looks, given.labels))
        rows = [[self._number(self.words, row.name), row.peak, *row.marks] for row in given.rows]
        return [given.unit, _rounded(given.begin), _rounded(given.end), looks, labels, rows, given.note]

    def _number(self, table: dict[Any, int], entry: Any) -> int:
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
