"""Parts of documents that are tables: rows, columns, and either of them stored in a file beside beyond some size."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents.array_files import arrays_beside, named_beside, read_arrays
from schedgap.instances.documents.fields import REQUIRED, Field, Given, Part, Place, RowPart, Table, list_of, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Rows:
    """A list of objects, one a row.

    label : what messages call a row. least : how many there must be.
    """

    def __init__(self, key: str, *fields: Field | RowPart, label: str = "", least: int = 0) -> None:
        self.key, self.fields, self.label = key, fields, label
        row = record(key, {k: kind for each in fields for k, kind in each.keys.items()})
        self.keys: dict[str, Any] = {key: Annotated[list_of(row), Constraint(min_length=least)]}

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        """Return the attributes of all fields."""
        rows = given[self.key]
        is_named = any("name" in row for row in rows)
        names = [str(row.get("name", index)) for index, row in enumerate(rows)] if is_named else ()
        table = Table(self.key, self.label, names)
        return {name: value for each in self.fields for name, value in each.read(rows, table, place).items()}

    def write(self, source: Any, place: Place) -> dict[str, Any]:
        """Return the rows."""
        columns = [column for each in self.fields if (column := each.write(source, place))]
        rows = [dict(row) for row in columns[0]] if columns else []
        for column in columns[1:]:
            for row, part in zip(rows, column, strict=True):
                row.update(part)
        return {self.key: rows}


class Columns:
    """An object with a list for each field, all of one length; the lists are of the document itself if the key is empty.

    optional : need not be there, and is not written if it has no rows.
    """

    def __init__(self, key: str, *fields: Field, optional: bool = False) -> None:
        self.key, self.fields, self.optional = key, fields, optional
        columns: dict[str, Any] = {}
        for each in fields:
            held = list_of(each.held)
            columns[each.key] = held if each.default is REQUIRED else NotRequired[held]
        table = record(key, columns)
        self.keys: dict[str, Any] = {key: NotRequired[table] if optional else table} if key else columns

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        """Return the attributes of all fields."""
        if self.optional and self.key not in given:
            return {}
        columns = given[self.key] if self.key else given
        size = check_lengths(
            self.key, {each.key: len(columns[each.key]) for each in self.fields if each.key in columns}, place
        )
        table, attributes = Table(self.key), {}
        for each in self.fields:
            if each.key in columns:
                attributes[each.name] = each.loaded(columns[each.key], table, place)
            else:
                attributes[each.name] = np.full(size, each.default, np.int64)
        return attributes

    def write(self, source: Any, place: Place) -> dict[str, Any]:
        """Return the lists."""
        columns: dict[str, Any] = {}
        for each in self.fields:
            values = each.of(source)
            if values is not None and not (each.omitted and (values == each.default).all()):
                columns[each.key] = each.dumped(values, place)
        if self.optional and not any(columns.values()):
            return {}
        return {self.key: columns} if self.key else columns


def check_lengths(path: str, lengths: Mapping[str, int], place: Place) -> int:
    """Return the length of columns, refusing others than the first's."""
    first, *others = lengths
    for name in others:
        if lengths[name] != lengths[first]:
            where = f"{path}: " if path else ""
            raise place.error(
                f"{where}{name} has {lengths[name]} entries, {first} has {lengths[first]}; give one each."
            )
    return lengths[first]


@dataclass(frozen=True, slots=True)
class Array:
    """An array in a file beside a document: whole numbers, or text, which is a tuple as an attribute.

    attribute : by default of the same name. optional : not written where it is None or empty.
    """

    name: str
    dimensions: int = 1
    attribute: str = ""
    text: bool = False
    optional: bool = False

    @property
    def key(self) -> str:
        """Name of the attribute."""
        return self.attribute or self.name


_inline: ContextVar[float | None] = ContextVar("inline", default=None)


@contextmanager
def inline_up_to(size: float) -> Iterator[None]:
    """Have documents hold their parts up to this size meanwhile: `inf` for readers that know JSON alone, -1 for arrays."""
    token = _inline.set(size)
    try:
        yield
    finally:
        _inline.reset(token)


class Stored:
    """Parts of a document, or instead `<key>_file`, the name of an `.npz` file beside it with what they hold.

    arrays : what the file has. size : returns how large the parts of an object are; above `inline` they are stored, unless
    `inline_up_to` says otherwise.
    """

    def __init__(
        self, key: str, *parts: Part, arrays: Sequence[Array], size: Callable[[Any], int], inline: int = 10_000
    ) -> None:
        self.key, self.parts, self.arrays, self.size, self.inline = key, parts, arrays, size, inline
        self.file_key = f"{key}_file"
        self.keys: dict[str, Any] = {k: _optional(kind) for part in parts for k, kind in part.keys.items()}
        self.keys[self.file_key] = NotRequired[str]

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        """Return the attributes, from the document or from the file beside it.

        Raises
        ------
        SchedgapError
            if both are there or neither, and for a file that is not as it was written.
        """
        if (self.key in given) == (self.file_key in given):
            raise place.error(f"give either '{self.key}' or '{self.file_key}', not both and not neither.")
        if self.file_key not in given:
            return {name: value for part in self.parts for name, value in part.read(given, place).items()}
        for part in self.parts:
            for key in part.keys.keys() & given.keys():
                raise place.error(f"{key} are in the '{self.file_key}' too; leave out '{key}'.")
        beside = named_beside(place.path, self.file_key, given[self.file_key], place.error)
        wanted = {each.name: ("U" if each.text else "i", each.dimensions) for each in self.arrays}
        optional = [each.name for each in self.arrays if each.optional]
        arrays = read_arrays(beside, wanted, place.error, optional=optional)
        if len(self.parts) == 1 and isinstance(self.parts[0], Columns):
            check_lengths(self.key, {name: values.size for name, values in arrays.items()}, place)
        found = [each for each in self.arrays if each.name in arrays]
        return {each.key: tuple(arrays[each.name].tolist()) if each.text else arrays[each.name] for each in found}

    def write(self, source: Any, place: Place) -> dict[str, Any]:
        """Return the parts, or the name of the file beside, whose arrays are added to those of the place."""
        chosen = _inline.get()
        if self.size(source) <= (self.inline if chosen is None else chosen):
            return {key: value for part in self.parts for key, value in part.write(source, place).items()}
        for each in self.arrays:
            values = getattr(source, each.key)
            if not each.optional or (values is not None and len(values) > 0):
                stored = np.array(values, np.str_) if each.text else values
                place.arrays[each.name] = stored.astype(np.int8) if stored.dtype == np.bool_ else stored
        return {self.file_key: arrays_beside(place.path).name}


def _optional(kind: Any) -> Any:
    return kind if getattr(kind, "__origin__", None) is NotRequired else NotRequired[kind]
