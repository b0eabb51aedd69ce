"""A list of objects that is printed again and again: from one look to the next, what came and what went.

Nearly all of a look is byte for byte the last one's. Stretches that are equal are passed over at the speed of a comparison
of memory; only objects that changed are cut out and decoded. It is what a reader of the whole text would see: pieces that
are each a JSON object, with the text of a list around them, are that list. Where a piece is none, all is read anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from msgspec import Raw, Struct

from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import decode

# Values that say nothing of an object: its version, and when its node was last heard of.
PASSING = re.compile(rb'"(?:resourceVersion|lastHeartbeatTime)": ?"([^"\\]*)"')
# Where the first object begins, within so many bytes.
ITEMS, MOST_HEAD = re.compile(rb'"items": ?\[\s*'), 4096
FIRST_CHUNK, LAST_CHUNK = 2**12, 2**17
# So many objects that are gone in a row are found by their key, and so many ends of one object are tried.
MOST_GONE, MOST_ENDS = 4096, 64
QUOTE, BACKSLASH, SPACE = 34, 92, 32


class Sighting(Protocol):
    """An object as a look shows it."""

    @property
    def key(self) -> int:
        """A number by which it is the same object from look to look."""


S = TypeVar("S", bound=Sighting)


class _List(Struct):
    kind: str = ""
    items: list[Raw] | None = None


@dataclass(slots=True)
class Look(Generic[S]):
    """A text, and where in it its N objects are.

    first, last : (N,) int64, where each begins, and the place after its end. keys : of the objects. passing : places of the
    bytes that say nothing, in order. seam : how, most likely, an object ends and the next one begins. come, gone : objects
    that are new or other than in the look before, and keys of those that are not in this one, or are among those that came.
    """

    text: bytes | bytearray
    kind: str
    first: IntArray
    last: IntArray
    keys: list[int]
    passing: IntArray
    seam: bytes
    come: list[S]
    gone: list[int]


Read = Callable[[bytes, str], S]


def read_look(text: bytes | bytearray, read: Read[S], before: Look[S] | None = None) -> Look[S]:
    """Read a text, by the look before it where there is one.

    read : returns an object, from its text and what the kind of the list says of its own; raises `InstanceError` for what is
    no JSON.

    Raises
    ------
    InstanceError
        for what is no list as kubectl prints it.
    """
    found = _Walk(before, text, read).look() if before is not None and len(before.keys) > 1 else None
    if found is None:
        found = _whole(text, read)
        found.gone = [] if before is None else before.keys
    return found


def _whole(text: bytes | bytearray, read: Read[S]) -> Look[S]:
    head: _List = decode(text, _List)
    if head.items is None:
        raise InstanceError(f"its kind is '{head.kind:.60}', not a List")
    kind, base = head.kind.removesuffix("List"), _address(text)
    first = np.array([_address(raw) - base for raw in head.items], np.int64)
    last = first + np.array([memoryview(raw).nbytes for raw in head.items], np.int64)
    come = [read(bytes(raw), kind) for raw in head.items]
    return Look(
        text, kind, first, last, [each.key for each in come], _passing(text), _seam(text, first, last), come, []
    )


def _seam(text: bytes | bytearray, first: IntArray, last: IntArray) -> bytes:
    starts = [text[at : at + 40] for at in first.tolist()]
    if len(starts) < 2:
        return b""
    # What the first and the last have in common in their order, all have.
    low, high = min(starts), max(starts)
    alike = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return bytes(b"}" + text[int(last[0]) : int(first[1])] + low[:alike])


def _address(buffer: bytes | bytearray | Raw) -> int:
    return int(np.frombuffer(buffer, np.uint8).__array_interface__["data"][0])


def _passing(text: bytes | bytearray, at: int = 0) -> IntArray:
    """Return the places of the bytes that say nothing, in order. at : where the text begins."""
    spans = [match.span(1) for match in PASSING.finditer(text)]
    return np.array([place for span in spans for place in range(at + span[0], at + span[1])], np.int64)


class _Walk(Generic[S]):
    """One way through a text and the one before it, object by object where they differ."""

    def __init__(self, before: Look[S], text: bytes | bytearray, read: Read[S]) -> None:
        self.old, self.text, self.read = before, text, read
        self.a, self.b = np.frombuffer(before.text, np.uint8), np.frombuffer(text, np.uint8)
        self.known = set(before.keys)
        size = len(before.text) - int(before.last[-1])
        head = ITEMS.search(text, 0, MOST_HEAD)
        self.begin, self.end = head.end() if head is not None else len(text), len(text) - size
        # A list has a version, too.
        heads = (PASSING.sub(b"", each) for each in (text[: self.begin], before.text[: int(before.first[0])]))
        self.is_alike = next(heads) == next(heads) and text[self.end :] == before.text[-size:]
        self.between = before.text[int(before.last[0]) : int(before.first[1])]
        self.firsts: list[IntArray] = []
        self.lasts: list[IntArray] = []
        self.places: list[IntArray] = []
        self.keys: list[int] = []
        self.come: list[S] = []
        self.gone: list[int] = []

    def look(self) -> Look[S] | None:
        """Return the look, None where the text must be read as a whole."""
        keys, between, number = self.old.keys, self.between, len(self.old.keys)
        i, at = 0, self.begin
        if not self.is_alike or at >= self.end:
            return None
        while True:
            stop, same = at, self._same(i, at) if i < number else i
            if same > i:
                stop = self._keep(i, same, at)
                i = same
            elif i + 1 < number and self.text.startswith(self._old(i + 1), at):
                self.gone.append(keys[i])
                i += 1
                continue
            else:
                seen, stop = self._next(at)
                if seen is None:
                    return None
                if i < number and seen.key != keys[i] and seen.key in self.known:
                    if (k := self._place(seen.key, i)) > i:
                        self.gone += keys[i:k]
                        i = k
                        continue
                elif i < number and seen.key == keys[i]:
                    i += 1
                self._add(seen, at, stop)
            if stop == self.end:
                break
            if not self.text.startswith(between, stop):
                return None
            at = stop + len(between)
        first, last, places = map(np.concatenate, (self.firsts, self.lasts, self.places))
        self.gone += keys[i:]
        return Look(self.text, self.old.kind, first, last, self.keys, places, self.old.seam, self.come, self.gone)

    def _old(self, i: int) -> bytes | bytearray:
        return self.old.text[int(self.old.first[i]) : int(self.old.last[i])]

    def _place(self, key: int, i: int) -> int:
        try:
            return self.old.keys.index(key, i, i + MOST_GONE)
        except ValueError:
            return i

    def _same(self, i: int, at: int) -> int:
        """Return the first object from i on that is not as the text has it from there on. O(bytes that are the same)."""
        begin = int(self.old.first[i])
        a, b = self.a[begin : int(self.old.last[-1])], self.b[at : self.end]
        size, done, chunk, passing = min(a.size, b.size), 0, FIRST_CHUNK, self.old.passing
        while done < size:
            stop = min(done + chunk, size)
            new = b[done:stop]
            other = a[done:stop] != new
            place = int(other.argmax())
            if other[place]:
                first = begin + done
                lo = int(passing.searchsorted(first + place))
                if lo < passing.size and passing[lo] == first + place:
                    places = passing[lo : int(passing.searchsorted(begin + stop))] - first
                    values = new[places]
                    # What could end a value is no part of one.
                    other[places] &= (values == QUOTE) | (values == BACKSLASH) | (values < SPACE)
                    place = int(other.argmax())
                if other[place]:
                    done += place
                    break
            done, chunk = stop, min(4 * chunk, LAST_CHUNK)
        return int(self.old.last.searchsorted(begin + done, side="right"))

    def _keep(self, i: int, j: int, at: int) -> int:
        """Take over the objects from i to j - 1, which the text has from a place on; return where they end in it."""
        begin, end = int(self.old.first[i]), int(self.old.last[j - 1])
        shift = at - begin
        lo, hi = self.old.passing.searchsorted((begin, end)).tolist()
        self._take(self.old.first[i:j] + shift, self.old.last[i:j] + shift, self.old.passing[lo:hi] + shift)
        self.keys += self.old.keys[i:j]
        return end + shift

    def _add(self, seen: S, at: int, stop: int) -> None:
        self._take(np.array([at]), np.array([stop]), _passing(self.text[at:stop], at))
        self.keys.append(seen.key)
        self.come.append(seen)

    def _take(self, first: IntArray, last: IntArray, passing: IntArray) -> None:
        self.firsts.append(first)
        self.lasts.append(last)
        self.places.append(passing)

    def _next(self, at: int) -> tuple[S | None, int]:
        """Return the object that begins at a place, and where it ends; None where none is found."""
        stop = at
        for _ in range(MOST_ENDS):
            found = self.text.find(self.old.seam, stop, self.end)
            stop = self.end if found < 0 else found + 1
            try:
                return self.read(bytes(self.text[at:stop]), self.old.kind), stop
            except InstanceError:
                if stop == self.end:
                    break
        return None, at
