"""Documents: JSON files, stated as a sequence of parts that read, check and write themselves.

Parts of documents that are tables: rows, columns, and either of them stored in a file beside beyond some size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar

import numpy as np
from pydantic import Field as Constraint
from pydantic import TypeAdapter

from schedgap.instances.documents.fields import REQUIRED, Field, Given, Part, Place, RowPart, Table, list_of, record
from schedgap.instances.documents.json_files import (
    arrays_beside,
    from_units,
    named_beside,
    naming_file,
    read_arrays,
    read_document,
    refuse_other_instance,
    to_units,
    write_arrays,
    write_document,
)
from schedgap.instances.errors import InstanceError, SchedgapError, SolutionError

Instance = TypeVar("Instance")
Solution = TypeVar("Solution")


@dataclass(frozen=True, slots=True)
class Value:
    """A number, name or list at the top of a document; a list of names is a tuple as an attribute.

    kind : what the key may hold. attribute : by default of the key's name. scale : units of the attribute in one of the
    document; 0 for what is no amount. default : of the attribute. omitted : not written where it is the default.
    """

    key: str
    kind: Any
    attribute: str = ""
    scale: int = 0
    default: Any = REQUIRED
    omitted: bool = False

    @property
    def keys(self) -> Given:
        """What the key may hold."""
        return {self.key: self.kind if self.default is REQUIRED else NotRequired[self.kind]}

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        """Return the attribute."""
        value = given.get(self.key, self.default)
        if self.key in given and self.scale:
            value = int(to_units(value, self.scale, self.key, place.error))
        return {self.attribute or self.key: tuple(value) if isinstance(value, list) else value}

    def write(self, source: Any, _: Place) -> dict[str, Any]:
        """Return the key, if it is written."""
        value: Any = getattr(source, self.attribute or self.key)
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if self.omitted and value == self.default:
            return {}
        value = list(value) if isinstance(value, tuple) else value
        return {self.key: from_units(value, self.scale) if self.scale else value}


class Group:
    """An object of values."""

    def __init__(self, key: str, *values: Value) -> None:
        self.key, self.values = key, values
        self.keys: dict[str, Any] = {key: record(key, {k: kind for each in values for k, kind in each.keys.items()})}

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        """Return the attributes of all values."""
        return {name: value for each in self.values for name, value in each.read(given[self.key], place).items()}

    def write(self, source: Any, place: Place) -> dict[str, Any]:
        """Return the object."""
        return {self.key: {key: value for each in self.values for key, value in each.write(source, place).items()}}


@dataclass(frozen=True, slots=True)
class Custom:
    """Keys of a document that are no plain values, with functions of their own, as a `Part` has them."""

    keys: Given
    read: Callable[[Any, Place], dict[str, Any]]
    write: Callable[[Any, Place], dict[str, Any]]


# Every kind of document there is, by its schema.
DOCUMENTS: dict[str, _Document] = {}


class _Document:
    """A JSON file of some schema."""

    error: type[SchedgapError] = InstanceError

    def __init__(self, schema: str, make: Callable[..., Any], *parts: Part) -> None:
        self.schema, self.make, self.parts = schema, make, parts
        DOCUMENTS[schema] = self

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """What checks the types of all fields."""
        keys = {"schema": Literal[self.schema]} | {key: kind for part in self.parts for key, kind in part.keys.items()}
        return TypeAdapter(record(self.schema, keys))

    def _read(self, given: Given, path: Path, solved: Any = None) -> Any:
        attributes: dict[str, Any] = {}
        owner = SimpleNamespace() if solved is None else solved
        place = Place(path, self.error, owner)
        with naming_file(path):
            for part in self.parts:
                attributes |= part.read(given, place)
                if solved is None:
                    vars(owner).update(attributes)
            return self.make(**attributes)

    def _write(self, source: Any, path: Path, owner: Any) -> None:
        place = Place(path, self.error, owner)
        document = {"schema": self.schema}
        for part in self.parts:
            document |= part.write(source, place)
        if place.arrays:
            write_arrays(arrays_beside(path), place.arrays, self.error)
        write_document(path, self.adapter, document, self.error)


class InstanceDocument(_Document, Generic[Instance]):
    """The file of an instance. make : makes one of the attributes of all parts, as keywords."""

    def __init__(self, schema: str, make: Callable[..., Instance], *parts: Part) -> None:
        super().__init__(schema, make, Value("name", str), *parts)

    def read(self, path: Path | str) -> Instance:
        """Read an instance.

        Raises
        ------
        InstanceError
            naming file, field, both values and the way out.
        """
        path = Path(path)
        instance: Instance = self._read(read_document(path, self.adapter, self.error), path)
        return instance

    def write(self, instance: Instance, path: Path | str) -> None:
        """Write an instance, and its large arrays beside; `read` gives back one of the same digest.

        Raises
        ------
        InstanceError
            if a file cannot be written.
        """
        self._write(instance, Path(path), instance)


class SolutionDocument(_Document, Generic[Instance, Solution]):
    """The file of a solution. make : makes one of the attributes of all parts, as keywords."""

    error = SolutionError

    def __init__(self, schema: str, make: Callable[..., Solution], *parts: Part) -> None:
        digest = Custom(
            {"instance": NotRequired[str]}, lambda *_: {}, lambda _, place: {"instance": place.owner.digest}
        )
        super().__init__(schema, make, digest, *parts)

    def read(self, instance: Instance, path: Path | str) -> Solution:
        """Read a solution of an instance; whether it is feasible is for `verify` to say.

        Raises
        ------
        SolutionError
            for a malformed file, a name that the instance has not, or the digest of another instance.
        """
        path = Path(path)
        given = read_document(path, self.adapter, self.error)
        refuse_other_instance(path, given.get("instance"), instance)
        solution: Solution = self._read(given, path, instance)
        return solution

    def write(self, instance: Instance, solution: Solution, path: Path | str) -> None:
        """Write a solution.

        Raises
        ------
        SolutionError
            if a file cannot be written.
        """
        self._write(solution, Path(path), instance)


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
