"""Trace files, plain or gzip, as a stream: a small file that unpacks to gigabytes is refused, not unpacked."""

from __future__ import annotations

import errno
import gzip
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GZIP = b"\x1f\x8b"
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
    with path.open("rb") as file:
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
