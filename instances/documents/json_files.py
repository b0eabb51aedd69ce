"""JSON files at the border: strict documents in, one clear sentence out when they are wrong.

What fields of JSON documents may hold, in every family.

Amounts: decimal numbers as people write them, and exact integer units.

Files of arrays beside documents: nothing that they claim of themselves is believed.
"""

from __future__ import annotations

import json
import lzma
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import prod
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents.openings import open_given, open_new, read_given
from schedgap.instances.errors import SchedgapError, SolutionError, about_file, did_you_mean

STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
# Larger whole numbers are refused here, before NumPy meets one of more than 64 bits.
Count = Annotated[int, Field(ge=1, le=2**53)]
Index = Annotated[int, Field(ge=0, le=2**53)]


def to_units(
    values: Any, scale: int | IntArray, what: str, error: type[SchedgapError], names: Sequence[Sequence[str]] = ()
) -> IntArray:
    """Convert decimal numbers to integer units, exactly for up to 15 significant digits.

    names : of the first axes' entries, and so on, by which a number is called in a message; others go by their index.

    Raises
    ------
    SchedgapError
        of the class `error` if a number is not a whole number of units.
    """
    numbers = np.asarray(values, dtype=np.float64)
    # What is too large is refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * scale
        units = np.rint(scaled)
        off = np.abs(scaled - units) > 4 * np.spacing(np.maximum(np.abs(scaled), 1))
    if (unknown := np.isnan(numbers)).any():
        raise error(f"{what}{_place(tuple(np.argwhere(unknown)[0]), names)} is no number; give one.")
    if off.any():
        index = tuple(np.argwhere(off)[0])
        per = np.broadcast_to(np.asarray(scale), numbers.shape)[index]
        found = f"{what}{_place(index, names)}: {numbers[index]:.15g}"
        raise error(f"{found} is not a whole number of 1/{per}; round it, since sums are exact integers.")
    large = np.abs(units) >= 2**53
    if large.any():
        index = tuple(np.argwhere(large)[0])
        raise error(f"{what}{_place(index, names)}: {numbers[index]:g} is too large to be exact; use larger units.")
    return units.astype(np.int64)


def _place(index: tuple[int, ...], names: Sequence[Sequence[str]]) -> str:
    """Return which entry an index means: `of 'gcn', 'p3', 'ram_gib'`, and numbers where there are no names."""
    parts = [f"'{names[axis][entry]!s:.60}'" if axis < len(names) else str(entry) for axis, entry in enumerate(index)]
    return f" of {', '.join(parts)}" if parts else ""


def from_units(value: int, scale: int) -> float | int:
    """Return an integer amount as people write it: a whole number where it is one."""
    whole, rest = divmod(int(value), scale)
    return whole if rest == 0 else int(value) / scale


D = TypeVar("D")


def read_document(path: Path | str, adapter: TypeAdapter[D], error: type[SchedgapError]) -> D:
    """Parse and validate a JSON file.

    Raises
    ------
    SchedgapError
        of the class `error`, naming file, field, the value found and what was expected.
    """
    path = Path(path)
    with about_file(path, "read", error, "give the path of a JSON file"):
        text = read_given(path)
    try:
        found = adapter.validate_json(text)
    except ValidationError as problem:
        raise error(f"{path.name}: {first_problem(problem)}") from None
    # Readers of JSON drop one of two entries with one name, without a word.
    with naming_file(path):
        json.loads(text, object_pairs_hook=partial(_refuse_twice, error), parse_int=str, parse_float=str)
    return found


def _refuse_twice(error: type[SchedgapError], pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise error(f"{twice!r} is given twice in one object; give it once.")


def first_problem(problem: ValidationError, model: type[BaseModel] | None = None) -> str:
    """Return the first validation error as a sentence: the field, what was found, what is expected.

    model : that of the document, whose fields may have been meant by a name that is none.
    """
    # Another schema is why fields are unknown, and the misspelt name of an unknown field is why another is missing.
    errors = sorted(
        problem.errors(include_url=False),
        key=lambda each: (each["loc"] != ("schema",), each["type"] != "extra_forbidden"),
    )
    first = errors[0]
    where = ".".join(" ".join(f"{part!s:.60}".split()) for part in first["loc"]) or "the document"
    found = first["input"]
    shown = "" if isinstance(found, dict | list | bytes) or first["type"] == "missing" else f" (found {found!r:.60})"
    said = first["msg"].removeprefix("Value error, ")
    message = said[0].lower() + said[1:]
    if first["type"] == "extra_forbidden":
        near = did_you_mean(str(first["loc"][-1]), _fields_of(model))
        message, shown = f"unknown field; {near.strip() or 'remove it or correct its name'}", ""
    more = f" ({len(errors) - 1} more like this)" if len(errors) > 1 else ""
    told = f"{where}: {message}{shown}{more}"
    return told if told.endswith("?") else f"{told}."


def _fields_of(model: type[BaseModel] | None) -> set[str]:
    """Return the names of all fields of a document, at any depth."""
    schema = {} if model is None else model.model_json_schema()
    return {name for part in (schema, *schema.get("$defs", {}).values()) for name in part.get("properties", {})}


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Put the file's name before the message of an error raised within; its class stays."""
    try:
        yield
    except SchedgapError as problem:
        raise type(problem)(f"{path.name}: {problem}") from None


def refuse_other_instance(path: Path, given: str | None, instance: Any) -> None:
    """Refuse a solution file that is `given` to solve an instance of another digest; None is not checked.

    Raises
    ------
    SolutionError
        naming both.
    """
    if given is not None and given != instance.digest:
        raise SolutionError(
            f"{path.name}: solves instance {given[:12]}..., not {instance.name} ({instance.digest[:12]}...); "
            "give the instance that it was made for."
        )


def write_document(path: Path | str, adapter: TypeAdapter[D], document: D, error: type[SchedgapError]) -> None:
    """Write a JSON file whole or not at all.

    Raises
    ------
    SchedgapError
        of the class `error` if the file cannot be written.
    """
    path = Path(path)
    content = adapter.dump_json(document, indent=1, exclude_none=True)
    write_whole(path, content, error)


def write_whole(
    path: Path,
    content: bytes | Callable[[BinaryIO], object],
    error: type[SchedgapError],
    way_out: str = "choose another name",
) -> None:
    """Write a file whole or not at all, a new one in place of any that is there: what else that was linked to stays.

    content : or what writes it. way_out : what to do where it cannot be.

    Raises
    ------
    SchedgapError
        of the class `error` if the file cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        with open_new(partial) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
        partial.replace(path)
    except OSError as problem:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise error(f"{path}: cannot be written ({problem.strerror or problem}); {way_out}.") from None


# Arrays may be packed. These are far beyond what instances are made of, and no file of some kilobytes may ask for more.
MOST_UNPACKED, MOST_RATIO = 2**28, 100
_HEADERS: Mapping[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# What the readers of archives and arrays raise where a file is damaged, one way or another.
_DAMAGES = (
    *(ArithmeticError, EOFError, LookupError, MemoryError, RuntimeError, SyntaxError, TypeError, ValueError, Warning),
    *(lzma.LZMAError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


def arrays_beside(path: Path) -> Path:
    """Return where the large arrays of a document are written: `x.arrays.npz` beside `x.json`."""
    return path.with_suffix(".arrays.npz")


def named_beside(path: Path, field: str, name: str, error: type[SchedgapError]) -> Path:
    """Return the path of the file that a field of a document names.

    Raises
    ------
    SchedgapError
        of the class `error` if it names a folder too, or nothing.
    """
    if Path(name).name != name or name == "":
        raise error(f"{field} is '{name}'; give the name of a file beside this one, without a folder.")
    return path.with_name(name)


def write_arrays(path: Path, arrays: Mapping[str, Any], error: type[SchedgapError]) -> None:
    """Write an `.npz` file whole or not at all.

    Raises
    ------
    SchedgapError
        of the class `error` if the file cannot be written.
    """
    write_whole(path, lambda file: np.savez(file, **arrays), error)


def read_arrays(
    path: Path, wanted: Mapping[str, tuple[str, int]], error: type[SchedgapError], optional: Collection[str] = ()
) -> dict[str, Any]:
    """Read the wanted arrays of an `.npz` file, optional ones if they are there.

    wanted : name to kind (`i` whole numbers, `U` text) and number of dimensions. optional : names among them.

    Raises
    ------
    SchedgapError
        of the class `error` if the file cannot be read, or an array is missing or of another kind.
    """
    arrays: dict[str, Any] = {}
    try:
        with open_given(path) as file:
            if not zipfile.is_zipfile(file):
                raise error(f"{path.name}: no .npz file of arrays; write the instance anew.")
            with zipfile.ZipFile(file) as archive, warnings.catch_warnings():
                # What is no more than odd for NumPy is no array that was written here.
                warnings.simplefilter("error")
                names = set(archive.namelist())
                for key in wanted:
                    if f"{key}.npy" in names:
                        arrays[key] = _read_array(archive, archive.getinfo(f"{key}.npy"))
    except OSError as problem:
        reason = problem.strerror or problem
        raise error(f"{path.name}: cannot be read ({reason!s:.100}); keep it beside this file.") from None
    except _DAMAGES as problem:
        said = str(problem) or type(problem).__name__
        raise error(f"{path.name}: cannot be read as arrays ({said:.100}); write the instance anew.") from None
    missing = [key for key in wanted if key not in arrays and key not in optional]
    if missing:
        raise error(f"{path.name}: no array '{missing[0]}'; write the instance anew.")
    for key, values in arrays.items():
        kind, dimensions = wanted[key]
        if values.dtype.kind != kind or values.ndim != dimensions:
            expected = "whole numbers" if kind == "i" else "text"
            raise error(
                f"{path.name}: {key} is {values.dtype} in {values.ndim} dimensions, "
                f"expected {expected} in {dimensions}; write the instance anew."
            )
    return arrays


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    """Return the array of a member, whose header may claim no more than there is: memory is taken by what it says.

    Raises
    ------
    ValueError
        for other claims; other exceptions of `_DAMAGES` for what is no array.
    """
    if member.file_size > max(MOST_UNPACKED, MOST_RATIO * member.compress_size):
        raise ValueError(f"{member.filename} unpacks {member.compress_size} bytes to {member.file_size}")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = _HEADERS.get(version)
        if read_header is None:
            raise ValueError(f"{member.filename} is of version {version}")
        shape, _, dtype = read_header(file)
        claimed, there = prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if claimed != there:
            raise ValueError(f"{member.filename} claims {claimed} bytes and has {there}")
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
