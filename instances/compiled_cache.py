"""Where compiled code is kept on disk, and which of it a process may load: to load it is to run it.

An entry is a file: the SHA-256 of the rest, a stamp of what was compiled, and a pickle that `jit` makes and reads.

Trusted entries are in one folder. The harness, servers and judges load from there alone. A run reads that folder and writes
to its scratch (`write_to`); once it is over, its server moves what it compiled (`adopt`) to the trusted folder, or, of foreign
code, to a folder for exactly this code, from which nobody else loads.

That holds where runs can write to their scratch only. Where they can write what the user can, the trusted folder is in their
reach, and so is this package. What can be done then, for the command that is going on, does `Ledger`: a process that is trusted
loads what the harness saw before foreign code ran, and what trusted processes have compiled since.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path

SUFFIX = ".compiled"
# The folder in a run's scratch.
OWN = "compiled"
_NAME = re.compile(rf"[\w.]{{1,100}}-[0-9a-f]{{32}}{re.escape(SUFFIX)}")
_HASH = 32
# Of one entry (the largest of ours has 2 MB), and of all that is kept for some foreign code.
_MOST_BYTES, _MOST_FOREIGN_BYTES = 2**25, 2**26
_FOREIGN, _MOST_FOREIGN = "foreign", 32


# Tells a run, and what it starts, where entries are that it may load; `NUMBA_CACHE_DIR` is then where it writes.
READ = "SCHEDGAP_COMPILED"


def places() -> list[Path]:
    """Return where trusted entries are: in `NUMBA_CACHE_DIR`, else beside this module, and in the user's cache."""
    if told := os.environ.get(READ):
        return [Path(each) for each in told.split(os.pathsep)]
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(given).absolute() / "schedgap"]
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [Path(__file__).parent / "__pycache__" / "compiled", Path(user).absolute() / "schedgap" / "compiled"]


def writable() -> Path | None:
    """Return the first of `places` that can be written to; where there is none, say so once and return None."""
    for place in places():
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
            return place
    tried = " or ".join(map(str, places()))
    complain(f"{tried} cannot be written; set NUMBA_CACHE_DIR to a folder that can")
    return None


_COMPLAINTS: list[str] = []


def complain(problem: str) -> None:
    """Say once why this command compiles everything anew."""
    if not _COMPLAINTS:
        print(f"schedgap keeps no compiled code: {problem}.", file=sys.stderr)
    _COMPLAINTS.append(problem)


class Ledger:
    """The hashes of entries that may be loaded, in memory shared by the harness and the processes that it trusts.

    Until it is sealed, all may be. fd : of the memory, where another process has made it. No run inherits it.
    """

    # Stands in it once all is noted that was there.
    _SEAL = bytes(_HASH)

    def __init__(self, fd: int | None = None) -> None:
        self._fd, self._read, self._known = fd, 0, set[bytes]()
        self._noted: set[Path] = set()

    def fileno(self) -> int:
        """Return the descriptor, for a process that is trusted."""
        if self._fd is None:
            self._fd = os.memfd_create("compiled")
            # Several processes write.
            fcntl.fcntl(self._fd, fcntl.F_SETFL, os.O_APPEND)
        return self._fd

    def seal(self) -> None:
        """Note all that is there, since foreign code is about to run for the first time."""
        new = set(places()) - self._noted
        if new:
            self._noted |= new
            os.write(self.fileno(), b"".join(_hashes(new)) + self._SEAL)

    def note(self, *hashes: bytes) -> None:
        """Note entries that this process has made, or has from a run that is trusted."""
        if self._fd is not None:
            os.write(self._fd, b"".join(hashes))

    def learn(self) -> None:
        """Read what is new in it, for this process and those that it forks."""
        if self._fd is not None and (new := os.pread(self._fd, os.fstat(self._fd).st_size - self._read, self._read)):
            self._read += len(new)
            self._known.update(new[i : i + _HASH] for i in range(0, len(new), _HASH))

    def leave(self) -> None:
        """Keep to what is known, and note nothing: this process is to be a run."""
        self._fd = None

    def allows(self, *hashes: bytes) -> bool:
        """Return whether an entry that was read before this call has one of these hashes, or nothing foreign had run yet."""
        self.learn()
        return self._SEAL not in self._known or not self._known.isdisjoint(hashes)


LEDGER = Ledger()
# Where this process writes, if it is a run or was started by one, and then where is what earlier ones have written.
_OWN: list[Path] = [Path(own)] if os.environ.get(READ) and (own := os.environ.get("NUMBA_CACHE_DIR")) else []


def follow(fd: int) -> None:
    """Keep to the ledger of the harness that has started this process."""
    # Not for what servers start.
    os.set_inheritable(fd, False)
    LEDGER.__init__(fd)  # type: ignore[misc]


def write_to(scratch: Path, code: str | None) -> None:
    """Have this process, a run, write to its scratch. code : hash of the foreign code that it runs, None for ours."""
    kept = [] if code is None else [place / _FOREIGN / code for place in places()]
    _OWN[:] = [scratch / OWN, *kept]
    os.environ[READ] = os.pathsep.join(map(str, [*places(), *kept]))
    os.environ["NUMBA_CACHE_DIR"] = str(scratch / OWN)
    LEDGER.leave()


def load(name: str, stamp: bytes) -> bytes | None:
    """Return what was kept under a name, with this stamp; None where there is nothing, or nothing that may be loaded."""
    for place in dict.fromkeys([*_OWN, *places()]):
        content = _content(place / name)
        if content is None or content[_HASH : 2 * _HASH] != stamp or not _is_whole(content):
            continue
        head = content[:_HASH]
        # What runs of ours have compiled is for other runs; a process that judges has no part in what a run may write.
        if place in _OWN or LEDGER.allows(*([head, _of_run(head)] if _OWN else [head])):
            return content[2 * _HASH :]
    return None


def save(name: str, stamp: bytes, body: bytes) -> None:
    """Keep something under a name, where this process may write."""
    place = _OWN[0] if _OWN else writable()
    if place is None:
        return
    head = hashlib.sha256(stamp + body).digest()
    with suppress(OSError):
        place.mkdir(exist_ok=True)
        _write(place / name, head + stamp + body)
        LEDGER.note(head)


def adopt(scratch: Path, code: str | None, *, is_foreign: bool) -> None:
    """Keep what a run has compiled, now that it is over. code : as for `write_to`; nothing foreign is kept without."""
    try:
        with os.scandir(scratch / OWN) as entries:
            names = sorted(entry.name for entry in entries if _NAME.fullmatch(entry.name))
    except OSError:
        return
    place = writable() if names and (code is not None or not is_foreign) else None
    if place is None:
        return
    left = _MOST_FOREIGN_BYTES
    with suppress(OSError):
        if is_foreign:
            assert code is not None
            place = place / _FOREIGN / code
            if not place.exists():
                place.mkdir(parents=True)
                _forget_oldest(place.parent)
            left -= sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(place))
        for name in names:
            content = _content(scratch / OWN / name)
            if content is None or len(content) > left or not _is_whole(content):
                continue
            left -= len(content)
            _write(place / name, content)
            if not is_foreign:
                LEDGER.note(_of_run(content[:_HASH]))


def _forget_oldest(folder: Path) -> None:
    """Delete what is kept of the foreign code that compiled something new the longest time ago."""
    ages = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in os.scandir(folder))
    for _, path in ages[:-_MOST_FOREIGN]:
        shutil.rmtree(path, ignore_errors=True)


def _hashes(folders: set[Path]) -> list[bytes]:
    """Return what the entries of folders say that their hashes are; `load` holds them to it."""
    heads = []
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            heads += [_read(entry.path, _HASH) for entry in entries if entry.name.endswith(SUFFIX)]
    return [head for head in heads if head is not None and len(head) == _HASH]


def _of_run(head: bytes) -> bytes:
    return hashlib.sha256(b"run" + head).digest()


def _is_whole(content: bytes) -> bool:
    return hashlib.sha256(content[_HASH:]).digest() == content[:_HASH]


def _content(path: Path) -> bytes | None:
    return _read(path, _MOST_BYTES)


def _read(path: Path | str, most: int) -> bytes | None:
    """Return the first bytes of a regular file, None where there is none; links are not followed, nothing is waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            known = os.fstat(fd)
            return os.read(fd, min(most, known.st_size)) if stat.S_ISREG(known.st_mode) else None
        finally:
            os.close(fd)
    except OSError:
        return None


def _write(path: Path, content: bytes) -> None:
    """Write a file at once, or none."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
