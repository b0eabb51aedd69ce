"""Folders for temporary files of runs, which go with them, however they end: the next harness sweeps what a kill left.

What a run does in its folder is not to be trusted: nothing here follows a link, changes a file, or counts on the folder being
where it was made. A folder is known by its descriptor, on which its maker holds a lock.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Self

PREFIX = "schedgap-scratch-"
# A block of `st_blocks`, and what an entry counts at least.
_BLOCK, _LEAST = 512, 1024
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch:
    """A folder of this process, locked while the process lives, for one run after another; or a context manager of it.

    path : where it is. parent, prefix : where it is to lie, by default among the temporary files of this machine, and how its
    name begins.
    """

    def __init__(self, parent: Path | None = None, prefix: str = PREFIX) -> None:
        self._place = parent, prefix
        self._fd, self.path = _made(*self._place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.remove()

    def fresh(self) -> Path:
        """Return a new folder in this one, which is made anew where a run deleted it or moved it away."""
        if not _is_at(self._fd, self.path):
            self.remove()
            self._fd, self.path = _made(*self._place)
        folder = self.path / "run"
        folder.mkdir(mode=0o700)
        return folder

    def clear(self) -> None:
        """Delete all that is in the folder, wherever it is by now."""
        _empty(self._fd)

    def remove(self) -> None:
        """Delete the folder, too, and a link that was put in its place."""
        self.clear()
        for place in (self.path, Path(os.readlink(f"/proc/self/fd/{self._fd}"))):
            with suppress(OSError):
                if _is_at(self._fd, place):
                    place.rmdir()
                elif place == self.path and place.is_symlink():
                    place.unlink()
        os.close(self._fd)


def sweep(parent: Path | None = None, prefix: str = PREFIX) -> list[str]:
    """Delete the folders whose processes are gone, and return their names."""
    swept = []
    with suppress(OSError):
        root = os.open(parent or tempfile.gettempdir(), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in os.listdir(root):
                if name.startswith(prefix):
                    with suppress(OSError):
                        _sweep(name, root)
                        swept.append(name)
        finally:
            os.close(root)
    return swept


def sizes_of_files(folder: Path, entries_a_look: int = 10_000) -> Iterator[tuple[int, bool]]:
    """Yield the bytes that files beneath a folder take on their disk, as far as they are counted, and whether that is all.

    Without end: a look takes so many entries, and the next goes on from there or counts anew. A file of several names counts
    once, an entry a KiB at least. A folder that cannot be read, or whose path is too long for the system, counts without end.
    """
    while True:
        total, looked, linked, folders = 0, 0, set[int](), [str(folder)]
        while folders:
            try:
                entries = os.scandir(folders.pop())
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                total = sys.maxsize
                break
            with entries:
                for entry in entries:
                    total, looked = total + _LEAST, looked + 1
                    # It may be gone by now.
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
                        elif entry.inode() not in linked:
                            known = entry.stat(follow_symlinks=False)
                            total += known.st_blocks * _BLOCK
                            linked |= {known.st_ino} if known.st_nlink > 1 else set()
                    if looked % entries_a_look == 0:
                        yield total, False
        yield total, True


def _made(parent: Path | None, prefix: str) -> tuple[int, Path]:
    """Return a new locked folder; one that is swept before it is locked is made again."""
    while True:
        try:
            path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        except FileNotFoundError:
            if parent is not None:
                raise
            # The folder for temporary files that was found before is gone.
            tempfile.tempdir = None
            path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(OSError):
            fd = os.open(path, os.O_RDONLY | _FOLDER)
            # A shared disk may have no locks: nobody sweeps there.
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_at(fd, path):
                return fd, path
            os.close(fd)


def _sweep(name: str, root: int) -> None:
    """Delete one folder, if it is ours and nobody holds its lock, or a link in its place."""
    known = os.stat(name, dir_fd=root, follow_symlinks=False)
    if known.st_uid != os.getuid():
        return
    if not stat.S_ISDIR(known.st_mode):
        os.unlink(name, dir_fd=root)
        return
    fd = _opened(name, root)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _empty(fd)
        os.rmdir(name, dir_fd=root)
    finally:
        os.close(fd)


def _is_at(fd: int, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(fd), path.lstat())
    return False


def _empty(folder: int) -> None:
    """Delete all that is in a folder.

    A folder in it has its own folders moved up before it goes: that takes two descriptors at any depth, and as many moves as
    there are folders.
    """
    os.fchmod(folder, 0o700)
    token, numbers = secrets.token_hex(8), count()
    before: set[str] = set()
    # What does not go is another user's, or immutable.
    while (names := set(os.listdir(folder))) != before:
        before = names
        for name in names:
            with suppress(OSError):
                for each in _without_files((name,), folder):
                    inner = _opened(each, folder)
                    try:
                        for deeper in _without_files(os.listdir(inner), inner):
                            # Moving a folder writes into it, too.
                            os.close(_opened(deeper, inner))
                            os.rename(deeper, f"{token}-{next(numbers)}", src_dir_fd=inner, dst_dir_fd=folder)
                    finally:
                        os.close(inner)
                    os.rmdir(each, dir_fd=folder)


def _without_files(names: Iterable[str], folder: int) -> Iterator[str]:
    """Delete those of the names in a folder that are no folders, and yield the others."""
    for name in names:
        try:
            os.unlink(name, dir_fd=folder)
        except IsADirectoryError:
            yield name


def _opened(name: str, folder: int) -> int:
    """Return a descriptor of a folder, no link, in which this process may read and write from now on."""
    found = os.open(name, os.O_PATH | _FOLDER, dir_fd=folder)
    try:
        place = f"/proc/self/fd/{found}"
        os.chmod(place, 0o700)
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(found)
