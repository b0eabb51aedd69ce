"""Files that are opened so that nothing else than a file is: a device never ends, a pipe waits, a link is another file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, AnyStr, BinaryIO, cast

# Far beyond any document that is read as a whole, and any line of what is read by lines.
MOST_BYTES = 2**29
MOST_LINE = 2**26
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_given(path: Path | str, buffering: int = -1) -> BufferedReader:
    """Open a file to read it. buffering : as of `open`.

    Raises
    ------
    OSError
        as `open`, and for what is no regular file: reading it might never end.
    """
    # Opening a device may do something, opening a pipe wait, or let go whoever writes.
    _refuse_special(os.stat(path))
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_special(os.fstat(fd))
        return cast("BufferedReader", open(fd, "rb", buffering))
    except BaseException:
        os.close(fd)
        raise


def read_given(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file, or raise as `open_given`, and for more than `most` bytes."""
    with open_given(path) as file:
        size = os.fstat(file.fileno()).st_size
        # Many of the system's files say that they are empty.
        content = b"" if size > most else file.read(most + 1)
    if max(size, len(content)) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes, as no file of its kind has")
    return content


def lines_of(file: IO[AnyStr], most: int = MOST_LINE) -> Iterator[AnyStr]:
    """Yield the lines of a file, or raise `OSError` for one of more than `most` bytes or characters."""
    while line := file.readline(most + 1):
        if len(line) > most:
            raise OSError(errno.EFBIG, f"a line has more than {most} bytes, as no file of its kind has")
        yield line


def open_own(path: Path | str, flags: int) -> int:
    """Open a file of ours to write it, made if need be, and return its descriptor.

    Raises
    ------
    OSError
        as `os.open`, and where its name leads to another file too: a link, or what is no regular file.
    """
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link; remove it") from None
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is no file; remove it") from None
        raise
    found = os.fstat(fd)
    try:
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, f"it is {_kind(found)}, no file; remove it")
        if found.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has another name too, a hard link; copy it, and rename the copy over it")
    except OSError:
        os.close(fd)
        raise
    return fd


def open_new(path: Path | str) -> BinaryIO:
    """Open a file that is not there yet; what has its name is removed, not written to. Raises `OSError`."""
    Path(path).unlink(missing_ok=True)
    return cast("BinaryIO", os.fdopen(open_own(path, os.O_WRONLY | os.O_EXCL), "wb"))


def _refuse_special(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        kind = _kind(found)
        more = "; write what it gives into a file first" if kind == "a pipe" else ""
        raise OSError(errno.EINVAL, f"it is {kind}, no file{more}")


def _kind(found: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
