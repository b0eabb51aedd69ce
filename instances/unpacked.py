"""Packed files: traces, plain or gzip, as a stream, and one file out of many, below a directory or in an archive.

A small file that unpacks to gigabytes is refused, not unpacked, and nothing is unpacked to disk.
"""

from __future__ import annotations

import errno
import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from schedgap.instances.documents.openings import open_given, read_given
from schedgap.instances.errors import InstanceError, did_you_mean

GZIP = b"\x1f\x8b"
RAR = b"Rar!"
READ = "a directory, .tar, .tar.gz or .zip"
# Logs of jobs and of VMs are packed to a tenth or so.
MOST_UNPACKED, MOST_RATIO = 2**26, 50


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file that may be packed by gzip, whatever its name says.

    Raises
    ------
    OSError, EOFError, zlib.error
        where it cannot be read, also later, and where it unpacks to more than `MOST_RATIO` times its size.
    """
    with open_given(path) as file:
        is_packed = file.read(2) == GZIP
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        if is_packed:
            with gzip.GzipFile(fileobj=file) as packed:
                limited = _Limited(packed, max(MOST_UNPACKED, MOST_RATIO * size))
                # A buffered reader is a binary file in all but its type.
                yield cast("BinaryIO", io.BufferedReader(limited, 2**16))
        else:
            yield file


class _Limited(io.RawIOBase):
    """What a packed file holds, up to so many bytes."""

    def __init__(self, file: gzip.GzipFile, most: int) -> None:
        self._file, self._left, self._most = file, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        content = self._file.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise OSError(errno.EFBIG, f"it unpacks to more than {self._most} bytes, as no log of its size does")
        buffer[: len(content)] = content
        return len(content)


def member_bytes(path: Path, member: str = "") -> bytes:
    """Return the content of a file, or of its member. member : its path below the directory, or in the archive.

    Raises
    ------
    InstanceError
        for what cannot be read, an archive without such a member, and a kind of archive that is not read.
    """
    try:
        if member and path.is_dir():
            inside = path / member
            if not inside.resolve().is_relative_to(path.resolve()):
                raise InstanceError(f"{path}: member '{member:.100}' is outside of it; give the path of one below it.")
            return read_given(inside)
        if not member:
            return read_given(path)
        stamp = path.stat()
        members = _members(path, stamp.st_mtime_ns, stamp.st_size)
    except (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        where = f"{path / member}" if path.is_dir() else f"{path}"
        raise InstanceError(f"{where}: cannot be read ({reason!s:.100}); give {READ} that is whole.") from None
    if member not in members:
        near = did_you_mean(member, members) or f"its first is {min(members)}; " if members else ""
        raise InstanceError(f"{path}: no member '{member:.100}' among {len(members)}; {near}give the path of one.")
    return members[member]


@lru_cache(maxsize=2)
def _members(path: Path, _changed_ns: int, size: int) -> Mapping[str, bytes]:
    """Return all files of an archive, by path: a suite asks for hundreds of them, one after another."""
    with open_given(path) as file:
        start = file.read(4)
    if start == RAR:
        raise InstanceError(f"{path}: a RAR archive, which is not read; unpack it, and give the directory.")
    members: dict[str, bytes] = {}
    total, most = 0, max(MOST_UNPACKED, MOST_RATIO * size)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _refuse_more(path, sum(entry.file_size for entry in entries), most)
            return {entry.filename: archive.read(entry) for entry in entries}
    with unpacked(path) as content, tarfile.open(fileobj=content, mode="r|") as tar:
        for info in tar:
            # Of sparse files, which tar knows, an archive holds next to nothing.
            _refuse_more(path, total := total + info.size, most)
            file_in_tar = tar.extractfile(info) if info.isfile() else None
            if file_in_tar is not None:
                members[info.name.removeprefix("./")] = file_in_tar.read()
    return members


def _refuse_more(path: Path, total: int, most: int) -> None:
    if total > most:
        raise InstanceError(f"{path}: unpacks to {total} bytes, more than {most}; give the directory.")
