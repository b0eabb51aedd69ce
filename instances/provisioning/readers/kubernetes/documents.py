"""Files of Kubernetes' objects: as kubectl prints them, one by one."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from schedgap.instances.documents.openings import open_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer


class _Head(Struct):
    kind: str = ""
    items: list[Raw] | None = None


class _Named(Struct):
    name: str = ""


class _Titled(Struct):
    metadata: _Named | None = None


def read_objects(paths: Sequence[Path | str]) -> Iterator[tuple[str, str, Struct | InstanceError]]:
    """Yield place, kind and object, or what is wrong with it, of each of `KINDS` in JSON files, or in those of a folder.

    A file is a List, as `kubectl get -o json` prints it, or one object. Objects are decoded one by one from a file that is
    mapped into memory, so that no more than one of them is held.

    Raises
    ------
    InstanceError
        naming the file that is none of kubectl's.
    """
    for path in _files(paths):
        content = _mapped(path)
        try:
            head = decode(content, _Head)
        except InstanceError as error:
            raise InstanceError(
                f"{path.name}: not JSON of kubectl ({error}); give what `kubectl get ... -o json` prints, in UTF-8."
            ) from None
        kind_of_list = head.kind.removesuffix("List")
        if head.items is None and head.kind not in KINDS and not head.kind.endswith("List"):
            raise InstanceError(
                f"{path.name}: its kind is '{head.kind:.60}', neither a List nor one of {', '.join(KINDS)}; leave it out."
            )
        raws = [content] if head.items is None and head.kind in KINDS else head.items or []
        for number, raw in enumerate(raws):
            place = f"{path.name} item {number}"
            yield from _objects(place, raw, kind_of_list)


def _objects(place: str, raw: Buffer, kind_of_list: str) -> Iterator[tuple[str, str, Struct | InstanceError]]:
    """Yield the object of an item, or those of a List that it is."""
    head: _Head | InstanceError = _decoded(place, raw, _Head)
    if isinstance(head, InstanceError):
        raise InstanceError(f"{head}; correct the object or take it out.")
    # Lists of one kind may leave it to the list.
    kind = head.kind or kind_of_list
    if not kind:
        raise InstanceError(f"{place}: it has no kind; correct the object or take it out.")
    if kind in KINDS:
        yield place, kind, _decoded(f"{place}, {kind}", raw, KINDS[kind])
    elif kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in KINDS):
        for number, item in enumerate(head.items or ()):
            yield from _objects(f"{place}, {number}", item, kind.removesuffix("List"))


def decode(raw: Buffer | Raw, kind: Any) -> Any:
    """Decode a document, or what was left raw in one.

    Raises
    ------
    InstanceError
        saying what is wrong with it, and where in it; the caller knows of what object.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InstanceError(" ".join(str(error).split())[:200]) from None


def _files(paths: Sequence[Path | str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise InstanceError(f"{path}: no *.json in this folder; give what `kubectl get ... -o json` prints.")
        files += inside
    if not files:
        raise InstanceError("no file of the cluster is given; give what `kubectl get pods,nodes -A -o json` prints.")
    return files


def _mapped(path: Path) -> Buffer:
    try:
        with open_given(path) as file:
            if not (size := file.seek(0, 2)):
                return b""
            content = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InstanceError(f"{path}: cannot be read ({reason}); give the JSON that kubectl prints.") from None
    return memoryview(content)[3:] if content[:3] == b"\xef\xbb\xbf" else content


def _decoded(place: str, raw: Buffer, kind: type[Struct]) -> Any:
    try:
        return decode(raw, kind)
    except InstanceError as error:
        problem = error
    try:
        titled = decode(raw, _Titled)
        name = f" ({titled.metadata.name!r:.60})" if titled.metadata else ""
    except InstanceError:
        name = ""
    return InstanceError(f"{place}{name}: {problem}")
