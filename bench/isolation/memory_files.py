"""Files that are memory: memfd and tmpfs (`/dev/shm`), which take memory without being in any process.

A file of a tmpfs that no process of the run has open any more cannot be told from anybody else's, and is not counted.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    import psutil

FileId: TypeAlias = tuple[int, int]
_BLOCK = 512
_KIB = 1024


def open_files_in_memory(processes: Iterable[psutil.Process]) -> dict[FileId, int]:
    """Return the bytes that files in memory take which the processes have open, each once: by device and inode."""
    found: dict[FileId, int] = {}
    for process in processes:
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{process.pid}/fd"):
                with suppress(OSError):
                    known = os.stat(entry.path)
                    if stat.S_ISREG(known.st_mode) and (
                        known.st_dev in _tmpfs() or os.readlink(entry.path).startswith("/memfd:")
                    ):
                        found[known.st_dev, known.st_ino] = known.st_blocks * _BLOCK
    return found


def mapped_of(process: psutil.Process, files: Container[FileId]) -> int:
    """Return the process's share, in bytes, of the pages of these files that are mapped: those are resident, too."""
    total, counts = 0, False
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/smaps").read_text(errors="replace").splitlines():
            words = line.split()
            if not words[0].endswith(":"):
                # address permissions offset device inode path
                major, minor = (int(part, 16) for part in words[3].split(":"))
                counts = (os.makedev(major, minor), int(words[4])) in files
            elif counts and words[0] == "Pss:":
                total += int(words[1]) * _KIB
    return total


@cache
def _tmpfs() -> frozenset[int]:
    """Return the devices of the file systems that are memory."""
    devices = set()
    for line in Path("/proc/mounts").read_text(errors="replace").splitlines():
        words = line.split()
        if words[2] in ("tmpfs", "ramfs"):
            with suppress(OSError):
                devices.add(os.stat(words[1]).st_dev)
    return frozenset(devices)
