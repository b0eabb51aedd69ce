"""Folders for temporary files that go with their harness, however it ends: the next one sweeps what a kill left."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "schedgap-"
_LOCK = "lock"


class Scratch:
    """A folder of this process, locked while the process lives. path : where it is."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._fd = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Delete the folder with all that is in it."""
        delete(self.path)
        os.close(self._fd)


def sweep() -> None:
    """Delete the folders whose processes are gone."""
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _sweep(Path(entry.path))


def _sweep(folder: Path) -> None:
    """Delete one folder, if it is ours and nobody holds its lock; one that is just being made has none yet."""
    if folder.stat().st_uid != os.getuid():
        return
    fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        delete(folder)
    finally:
        os.close(fd)


def delete(folder: Path) -> None:
    """Delete a folder, also where a run took the right to write from folders in it."""

    def allow(function: object, path: str, error: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)

    shutil.rmtree(folder, onerror=allow)
