"""Pictures of verified solutions beside the journal, for the report: `pictures.jsonl`, one line a run.

They are not synced: after a power failure some may be missing, and the report goes without them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from schedgap.instances.errors import JournalError
from schedgap.instances.picture import Bar, Curve, Part, Picture

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

FILE_NAME = "pictures.jsonl"
# How lines begin, before the key and its closing quote.
_START = '{"key":"'


def append_picture(directory: Path, key: str, picture: Picture) -> None:
    """Write down what the solution of the run `key` looks like.

    Raises
    ------
    JournalError
        if it cannot be written.
    """
    path = directory / FILE_NAME
    line = json.dumps({"key": key, **asdict(picture)}, separators=(",", ":"))
    try:
        with path.open("a", encoding="utf-8") as file:
            # A line that a kill tore is ended first, so that it spoils no other.
            file.write(line + "\n" if _ends_a_line(path) else "\n" + line + "\n")
    except OSError as error:
        raise JournalError(
            f"{path}: cannot be written ({error.strerror}); make room or choose another --out."
        ) from None


def read_pictures(directory: Path, keys: Container[str]) -> dict[str, Picture]:
    """Return the pictures of these runs; torn lines are left out, and a later line of a key replaces an earlier one."""
    path = directory / FILE_NAME
    pictures: dict[str, Picture] = {}
    if not path.exists():
        return pictures
    with path.open(encoding="utf-8") as file:
        for line in file:
            # Most pictures of a large journal are not wanted; reading them would take most of the time.
            if line.startswith(_START) and line[len(_START) : line.find('"', len(_START))] not in keys:
                continue
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row["key"] in keys:
                pictures[row["key"]] = _picture(row)
    return pictures


def _picture(row: dict[str, Any]) -> Picture:
    bars = tuple(
        Bar(
            bar["label"],
            bar["repeat"],
            tuple(bar["capacity"]),
            tuple(Part(part["label"], part["count"], tuple(part["amounts"])) for part in bar["parts"]),
        )
        for bar in row["bars"]
    )
    curves = tuple(
        Curve(
            curve["title"],
            curve["x_label"],
            curve["y_label"],
            tuple(curve["x"]),
            tuple(curve["y"]),
            curve["is_step"],
        )
        # Lines of versions that knew no curves have none.
        for curve in row.get("curves", ())
    )
    return Picture(tuple(row["axes"]), bars, row["left_out"], curves)


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            return True
        file.seek(-1, 2)
        return file.read(1) == b"\n"
