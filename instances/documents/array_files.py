"""Files of arrays beside documents: nothing that they claim of themselves is believed."""

from __future__ import annotations

import lzma
import struct
import tokenize
import warnings
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.documents.openings import open_given

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from schedgap.instances.errors import SchedgapError

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
