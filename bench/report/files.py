"""Files that a report writes: never over another one unless told to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from schedgap.instances.documents import json_files
from schedgap.instances.errors import ReportError, about_file


def refuse_existing(paths: Iterable[Path], *, force: bool) -> None:
    """Raise unless none of the files exists.

    Raises
    ------
    ReportError
        naming the first file that exists.
    """
    for path in paths:
        if path.exists() and (path.is_dir() or not force):
            way_out = "give another name" if path.is_dir() else "give another name or --force"
            kind = "is a folder" if path.is_dir() else "exists and is not written over"
            raise ReportError(f"{path} {kind}; {way_out}.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; its folder is made if need be.

    Raises
    ------
    ReportError
        if it cannot be written.
    """
    with about_file(path.parent, "made", ReportError, "give another place"):
        path.parent.mkdir(parents=True, exist_ok=True)
    json_files.write_whole(path, content, ReportError, "give another place")
