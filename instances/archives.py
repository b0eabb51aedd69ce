"""One file out of many: below a directory, or in an archive (.tar, .tar.gz, .zip), which is never unpacked to disk."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError, did_you_mean
from schedgap.instances.unpacked import MOST_RATIO, MOST_UNPACKED, unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RAR = b"Rar!"
READ = "a directory, .tar, .tar.gz or .zip"


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
            return inside.read_bytes()
        if not member:
            return path.read_bytes()
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
    with path.open("rb") as file:
        start = file.read(4)
    if start == RAR:
        raise InstanceError(f"{path}: a RAR archive, which is not read; unpack it, and give the directory.")
    members: dict[str, bytes] = {}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            total, most = sum(entry.file_size for entry in entries), max(MOST_UNPACKED, MOST_RATIO * size)
            if total > most:
                raise InstanceError(f"{path}: unpacks to {total} bytes, more than {most}; give the directory.")
            return {entry.filename: archive.read(entry) for entry in entries}
    with unpacked(path) as content, tarfile.open(fileobj=content, mode="r|") as tar:
        for info in tar:
            file_in_tar = tar.extractfile(info) if info.isfile() else None
            if file_in_tar is not None:
                members[info.name.removeprefix("./")] = file_in_tar.read()
    return members
