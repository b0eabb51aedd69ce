"""Process trees: what a run and everything that it started use together, and how to end all of it.

Files that are memory (memfd, tmpfs as `/dev/shm`) take memory without being in any process. A file of a tmpfs that no process
of the run has open any more cannot be told from anybody else's, and is not counted.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import resource
import signal
import stat
import struct
import sys
import time
from collections.abc import Collection, Container, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

import psutil

from schedgap.instances.errors import SchedgapError

FileId: TypeAlias = tuple[int, int]
_BLOCK = 512
_KIB = 1024
# Of a process's maps (addresses rights offset device inode path): files without a name. Of its status: a figure in KiB.
_NAMELESS = re.compile(rb"^(.*) \(deleted\)$", re.MULTILINE)
_TABLES = re.compile(rb"^VmPTE:\s+(\d+)", re.MULTILINE)


def files_in_memory(processes: Iterable[psutil.Process], *, is_open_enough: bool = False) -> dict[FileId, int]:
    """Return the bytes that files in memory, or without a name, take which the processes have open or share, by device and inode.

    Shared memory that nobody opened is such a file (`/dev/zero`): its pages are in no process once those that touched them are
    gone. Only root sees how many there are: to others it counts in full, as far as it is mapped. is_open_enough : do not look for
    it, which takes a millisecond a process.
    """
    found: dict[FileId, int] = {}
    for process in processes:
        with suppress(OSError):
            maps = b"" if is_open_enough else Path(f"/proc/{process.pid}/maps").read_bytes()
            for line in _NAMELESS.findall(maps) if b" (deleted)" in maps else ():
                addresses, rights, *rest = line.decode(errors="replace").split(maxsplit=5)
                if rights.endswith("s"):
                    identity, size = _shared(process.pid, addresses, *rest[:3])
                    found[identity] = max(size, found.get(identity, 0))
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{process.pid}/fd"):
                with suppress(OSError):
                    known = os.stat(entry.path)
                    # Of files without a name some are on a disk, where nothing else counts them.
                    if stat.S_ISREG(known.st_mode) and (known.st_dev in _tmpfs() or known.st_nlink == 0):
                        found[known.st_dev, known.st_ino] = known.st_blocks * _BLOCK
    return found


def _shared(pid: int, addresses: str, offset: str, device: str, inode: str) -> tuple[FileId, int]:
    """Return which file is at these addresses of a process, and the bytes that it takes."""
    first, last = (int(part, 16) for part in addresses.split("-"))
    try:
        size = os.stat(f"/proc/{pid}/map_files/{first:x}-{last:x}").st_blocks * _BLOCK
    except OSError:
        size = int(offset, 16) + last - first
    return _identity(device, inode), size


def _identity(device: str, inode: str) -> FileId:
    major, minor = (int(part, 16) for part in device.split(":"))
    return os.makedev(major, minor), int(inode)


def mapped_of(process: psutil.Process, files: Container[FileId]) -> int:
    """Return the process's share, in bytes, of the pages of these files that are mapped: those are resident, too."""
    total, counts = 0, False
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/smaps").read_text(errors="replace").splitlines():
            words = line.split()
            if not words[0].endswith(":"):
                # address permissions offset device inode path
                counts = _identity(*words[3:5]) in files
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


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process the parent of all processes below it whose parents die, so that none can slip away.

    Raises
    ------
    SchedgapError
        where the system has no such thing.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Ask for SIGKILL when the process that forked this one dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if not sys.platform.startswith("linux"):
        raise SchedgapError(f"runs are limited by means of Linux (prctl, pidfd); this is {sys.platform}.")
    if c_library().prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise SchedgapError(f"prctl({option}) failed: {os.strerror(code)}; runs cannot be limited here.")


@cache
def c_library() -> ctypes.CDLL:
    """Return the library of C, for calls that Python has not."""
    return ctypes.CDLL(None, use_errno=True)


# `perf_event_open` by machine; a counter of software, of the processor's time in nanoseconds.
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_SOFTWARE, _TASK_CLOCK = 1, 1
# Children's time is added; times of the kernel and a hypervisor on their own are not asked for, which only root may.
_INHERITED, _FOR_ALL_USERS = 1 << 1, 1 << 5 | 1 << 6
_CLOSED_ON_EXEC = 8


class ProcessorClock:
    """Processor seconds of all processes that this one starts from now on, also of those that nobody waits for.

    The time of a child whose parent ignores SIGCHLD goes into no sum of the system's. A counter of performance has it; where none
    may be had (`/proc/sys/kernel/perf_event_paranoid` above 2, containers), `is_exact` is false and it is missing.
    """

    def __init__(self) -> None:
        number = _PERF_EVENT_OPEN.get(platform.machine())
        asked = struct.pack("IIQ24xQ64x", _SOFTWARE, 112, _TASK_CLOCK, _INHERITED | _FOR_ALL_USERS)
        call = c_library().syscall
        self._counter = -1 if number is None else call(number, asked, 0, -1, -1, ctypes.c_ulong(_CLOSED_ON_EXEC))

    @property
    def is_exact(self) -> bool:
        """Whether nothing is missing."""
        return self._counter >= 0

    def seconds(self, alive_s: float = 0.0) -> float:
        """Return the seconds so far, from an arbitrary beginning. alive_s : of the processes that are there, by `usage`."""
        if not self.is_exact:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime + alive_s
        return int.from_bytes(os.read(self._counter, 8), sys.byteorder) / 1e9 - time.process_time()


def descendants() -> list[psutil.Process]:
    """Return all live processes below this one."""
    try:
        return psutil.Process().children(recursive=True)
    except psutil.Error:
        return []


def usage(processes: list[psutil.Process], most: int = 0) -> tuple[int, float, int]:
    """Return resident bytes, processor seconds and threads of the processes together; what they share counts several times.

    Files in memory count while a process has them (`files_in_memory`), and tables of pages: no process's resident memory tells
    of them. most : bytes that matter: shared memory is looked for only where it could make more than these.
    """
    resident, unseen, seconds, threads = 0, 0, 0.0, 0
    for process in processes:
        with suppress(psutil.Error), process.oneshot():
            memory = process.memory_info()
            resident += memory.rss + _tables(process)
            # What is shared is in none of its own data.
            unseen += memory.vms - memory.data
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
            threads += process.num_threads()
    files = files_in_memory(processes, is_open_enough=resident + unseen <= most)
    return resident + sum(files.values()), seconds, threads


def _tables(process: psutil.Process) -> int:
    """Return the bytes of a process's tables of pages, of which each tells of 2 MiB that may all be one page."""
    with suppress(OSError):
        if found := _TABLES.search(Path(f"/proc/{process.pid}/status").read_bytes()):
            return int(found[1]) * _KIB
    return 0


def exact_usage(processes: list[psutil.Process]) -> int:
    """Return the bytes that `usage` returns, each page counted once; slower by far."""
    files = files_in_memory(processes)
    resident = sum(files.values())
    for process in processes:
        with suppress(psutil.Error):
            resident += _tables(process)
            try:
                resident += process.memory_full_info().pss
            except psutil.AccessDenied:
                # A process can close its books to others of its user: what it shares counts several times then.
                resident += process.memory_info().rss
        if files:
            resident -= mapped_of(process, files)
    return resident


def signal_all(processes: list[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to every process that still exists."""
    for process in processes:
        with suppress(psutil.Error, ProcessLookupError):
            process.send_signal(number)


def _kill(processes: list[psutil.Process]) -> None:
    """Kill processes, by groups first: a group ends as a whole, while its members fork faster than they can be listed."""
    own, groups = os.getpgrp(), set()
    for process in processes:
        with suppress(ProcessLookupError):
            groups.add(os.getpgid(process.pid))
    for group in groups - {own}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    signal_all(processes, signal.SIGKILL)


def end_strangers(known: Collection[int], patience_s: float = 10.0) -> None:
    """Kill the children of this process that it does not know, with all below them."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        strangers = [child for child in _children() if child.pid not in known]
        if not strangers:
            return
        for stranger in strangers:
            with suppress(psutil.Error):
                _kill([stranger, *stranger.children(recursive=True)])
        time.sleep(0.001)


def _children() -> list[psutil.Process]:
    try:
        return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    except psutil.Error:
        return []


def end_all(patience_s: float = 10.0) -> bool:
    """Kill and reap everything below this process; False if something outlived the patience.

    Orphans become children of this process (see `adopt_orphans`), so "no child" means "nothing is left".
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        if time.monotonic() > deadline:
            return False
        _kill(descendants())
        time.sleep(0.001)
