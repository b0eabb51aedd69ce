"""Pictures of verified solutions beside the journal, for the report: `pictures.jsonl`, one line a run.

They are not synced: after a power failure some may be missing, and the report goes without them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import msgspec

from schedgap.instances.documents.openings import lines_of, open_given, open_own
from schedgap.instances.errors import JournalError, about_file
from schedgap.instances.picture import Bar, Curve, Picture, Split, Timetable

FILE_NAME = "pictures.jsonl"
# How lines begin, before the key and its closing quote.
_START = b'{"key":"'


def append_picture(directory: Path, key: str, picture: Picture) -> None:
    """Write down what the solution of the run `key` looks like.

    Raises
    ------
    JournalError
        if it cannot be written.
    """
    path = directory / FILE_NAME
    line = json.dumps({"key": key, **asdict(picture)}, separators=(",", ":")).encode() + b"\n"
    refusing = about_file(path, "written", JournalError, "make room or choose another --out")
    with refusing, open(open_own(path, os.O_RDWR | os.O_APPEND), "ab+") as file:
        # A line that a kill tore is ended first, so that it spoils no other.
        file.write(line if ends_a_line(file) else b"\n" + line)


def read_pictures(directory: Path, keys: Container[str]) -> dict[str, Picture]:
    """Return the pictures of these runs; torn and damaged lines are left out, and a later line of a key replaces an earlier.

    Raises
    ------
    JournalError
        if the file is there and cannot be read.
    """
    path = directory / FILE_NAME
    pictures: dict[str, Picture] = {}
    try:
        with open_given(path) as file:
            for line in lines_of(file):
                # Most pictures of a large journal are not wanted; reading them would take most of the time.
                if line.startswith(_START) and _key_of(line) not in keys:
                    continue
                try:
                    row = _DECODER.decode(line)
                except (ValueError, RecursionError):
                    continue
                if row.key in keys and _is_sound(row):
                    pictures[row.key] = Picture(*msgspec.structs.astuple(row)[1:])
    except FileNotFoundError:
        return pictures
    except OSError as error:
        raise JournalError(f"{path}: cannot be read ({error.strerror}); remove it to go without pictures.") from None
    return pictures


def picture_lines(directory: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield key, place in the file and bytes of each whole line that begins as `append_picture` writes it."""
    path = directory / FILE_NAME
    if not path.exists():
        return
    with about_file(path, "read", JournalError, "remove it to go without pictures"), open_given(path) as file:
        place = 0
        for line in lines_of(file):
            if line.startswith(_START) and line.endswith(b"\n"):
                yield _key_of(line), place, line
            place += len(line)


class _Row(msgspec.Struct):
    """A line. curves and what follows : lines of versions that knew none have none."""

    key: str
    axes: tuple[str, ...]
    bars: tuple[Bar, ...]
    left_out: int
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()
    timetable: Timetable | None = None
    split: Split | None = None


_DECODER = msgspec.json.Decoder(_Row)


def _key_of(line: bytes) -> str:
    """Return what stands between the first two quotes of a line's value."""
    return line[len(_START) : line.find(b'"', len(_START))].decode(errors="replace")


def _is_sound(row: _Row) -> bool:
    """Whether each bar, and each part of one, has an amount for each axis, and the timetable is sound."""
    axes = len(row.axes)
    if row.timetable is not None and not row.timetable.is_sound:
        return False
    return all(len(bar.capacity) == axes and all(len(part.amounts) == axes for part in bar.parts) for bar in row.bars)


def ends_a_line(file: BinaryIO) -> bool:
    """Whether a file is empty or ends with a whole line, which a kill did not tear."""
    if file.seek(0, 2) == 0:
        return True
    file.seek(-1, 2)
    return file.read(1) == b"\n"
