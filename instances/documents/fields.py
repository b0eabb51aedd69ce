"""Fields of rows and columns, stated once: what a key may hold, and how it becomes an attribute of an object, and back.

Rows that are jobs of several tasks, with amounts for each task or one for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, NotRequired, Protocol, TypeAlias

import numpy as np
from pydantic import Field as Constraint
from typing_extensions import TypedDict

from schedgap.instances.arrays import FloatArray, first_true
from schedgap.instances.documents.json_files import STRICT, Amount, Positive, from_units, to_units
from schedgap.instances.errors import SchedgapError
from schedgap.instances.units import resource_scales

REQUIRED: Any = object()
Given: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document is read or written.

    owner : holds what fields look up: the instance; while one is read, what has been read of it.
    arrays : while a document is written, what goes to the file beside it.
    """

    path: Path
    error: type[SchedgapError]
    owner: Any
    arrays: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """The rows or columns that a field is of, for messages.

    path : of the table in the document. label : what a row is called; empty for columns. names : of the rows, none where
    they go by their number.
    """

    path: str
    label: str = ""
    names: Sequence[str] = ()

    def at(self, key: str) -> str:
        """Return where a field is in the document."""
        return f"{self.path}.{key}" if self.path else key

    def row(self, index: int) -> str:
        """Return what a row is called: `task gcn`."""
        return f"{self.label} {self.names[index] if self.names else index}"


@dataclass(frozen=True)
class Field:
    """A number or name of each row, and the attribute, an array or tuple over the rows, that holds them.

    kind : what the key may hold. attribute : by default of the key's name. scale : units of the attribute in one of the
    document; 0 for what is no amount. default : of the attribute. omitted : not written where it is the default.
    null : what `null` stands for. point : whole amounts are written with a decimal point, too. get : returns what is
    written of an object, where that is not the attribute.
    """

    key: str
    kind: Any
    attribute: str = ""
    scale: int = field(default=0, kw_only=True)
    default: Any = field(default=REQUIRED, kw_only=True)
    omitted: bool = field(default=False, kw_only=True)
    null: int | None = field(default=None, kw_only=True)
    get: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self.attribute or self.key

    @property
    def keys(self) -> dict[str, Any]:
        """What the key may hold in a row."""
        return {self.key: self.held if self.default is REQUIRED else NotRequired[self.held]}

    @property
    def held(self) -> Any:
        """What the key may hold where it is there."""
        return self.kind if self.null is None else self.kind | None

    def of(self, source: Any) -> Any:
        """Return the attribute of an object that is written."""
        return getattr(source, self.name) if self.get is None else self.get(source)

    def loaded(self, values: Sequence[Any], table: Table, place: Place) -> Any:
        """Return the attribute from the values of all rows."""
        if self.null is not None:
            values = [self.null if value is None else value for value in values]
        if self.scale:
            return to_units(values, self.scale, table.at(self.key), place.error, (table.names,) if table.names else ())
        if self.kind is str:
            return tuple(values)
        return np.array(values, np.bool_ if self.kind is bool else np.int64)

    def dumped(self, values: Any, place: Place) -> list[Any]:
        """Return the attribute as the document has it, a value a row."""
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        if self.scale:
            return [from_units(value, self.scale) for value in listed]
        return listed if self.null is None else [None if value == self.null else value for value in listed]

    def read(self, rows: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
        """Return the attribute from rows."""
        if self.default is REQUIRED:
            return {self.name: self.loaded([row[self.key] for row in rows], table, place)}
        is_given = np.array([self.key in row for row in rows], np.bool_)
        values = self.loaded([row.get(self.key, 0) for row in rows], table, place)
        return {self.name: np.where(is_given, values, self.default)}

    def write(self, source: Any, place: Place) -> list[dict[str, Any]]:
        """Return the key in each row."""
        values = self.of(source)
        dumped = self.dumped(values, place)
        if not self.omitted:
            return [{self.key: value} for value in dumped]
        return [{} if value == self.default else {self.key: d} for d, value in zip(dumped, values, strict=True)]


@dataclass(frozen=True)
class Lookup(Field):
    """A name, and the attribute that holds its index in a list.

    known : returns the list, from the owner. unknown : how the message about another name ends; `{known}` are the first.
    """

    known: Callable[[Any], Sequence[str]] = field(kw_only=True)
    unknown: str = field(default="; the instance has {known}.", kw_only=True)

    def loaded(self, values: Sequence[Any], table: Table, place: Place) -> Any:
        """Return the indices.

        Raises
        ------
        SchedgapError
            naming the first name that is not in the list.
        """
        names = self.known(place.owner)
        name2index = {name: index for index, name in enumerate(names)}
        found = np.array([name2index.get(value, -1) for value in values], np.int64)
        if (index := first_true(found < 0)) is not None:
            where = f"{table.row(index)} has {self.key}" if table.label else f"{table.at(self.key)}.{index} is"
            known = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
            raise place.error(f"{where} '{values[index]:.60}'" + self.unknown.format(known=known))
        return found

    def dumped(self, values: Any, place: Place) -> list[Any]:
        """Return the names."""
        names = self.known(place.owner)
        return [names[index] for index in values.tolist()]


@dataclass(frozen=True)
class Amounts(Field):
    """An amount of each resource; the attribute is (N, R) int64. plural : what messages call the amounts."""

    kind: Any = list[Amount]
    plural: str = field(default="", kw_only=True)

    def loaded(self, values: Sequence[Any], table: Table, place: Place) -> Any:
        """Return the units.

        Raises
        ------
        SchedgapError
            for amounts of another number of resources.
        """
        resources = place.owner.resources
        for index, vector in enumerate(values):
            if len(vector) != len(resources):
                raise place.error(
                    f"{table.row(index)} has {len(vector)} {self.plural} for the {len(resources)} resources "
                    f"{', '.join(resources)}; give one each."
                )
        numbers = np.array(values, np.float64).reshape(len(values), len(resources))
        names = table.names or [str(index) for index in range(len(values))]
        return to_units(numbers, resource_scales(resources), table.at(self.key), place.error, (names, resources))

    def dumped(self, values: Any, place: Place) -> list[Any]:
        """Return lists of amounts."""
        scales = resource_scales(place.owner.resources).tolist()
        return [[from_units(v, scale) for v, scale in zip(row, scales, strict=True)] for row in values.tolist()]


class Part(Protocol):
    """Keys of a document, and what they mean."""

    @property
    def keys(self) -> Given:
        """What the keys may hold."""

    @property
    def read(self) -> Callable[[Given, Place], dict[str, Any]]:
        """Return attributes, from the whole document."""

    @property
    def write(self) -> Callable[[Any, Place], dict[str, Any]]:
        """Return those keys that are written of an object."""


@dataclass(frozen=True, slots=True)
class RowPart:
    """Keys of rows that are no plain field.

    keys : what they may hold. read : returns attributes, from all rows. write : returns the keys of each row.
    """

    keys: Given
    read: Callable[[Sequence[Any], Table, Place], dict[str, Any]]
    write: Callable[[Any, Place], Sequence[Given]]


def optional_names(attribute: str) -> RowPart:
    """Return the key `name` of rows, which all of them have, or none."""

    def read(rows: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
        named = ["name" in row for row in rows]
        if any(named) and not all(named):
            raise place.error(f"{table.path}.{named.index(False)} has no name, others have; name all of them or none.")
        return {attribute: tuple(row["name"] for row in rows) if any(named) else None}

    def write(source: Any, _: Place) -> list[Given]:
        return [{"name": name} for name in getattr(source, attribute) or ()]

    return RowPart({"name": NotRequired[str]}, read, write)


def record(name: str, keys: Given) -> Any:
    """Return the type of an object with these keys and no others."""
    make: Any = TypedDict
    made = make(name, dict(keys))
    made.__pydantic_config__ = STRICT
    return made


def list_of(kind: Any) -> Any:
    """Return the type of a list."""
    return GenericAlias(list, (kind,))


OneOrEach = Positive | Annotated[list[Positive], Constraint(min_length=1)]


def per_task(scale: int, first: tuple[str, str], *others: tuple[str, str]) -> RowPart:
    """Return the keys `tasks` and those given, each with its attribute; by default the others are as the first.

    The attribute `first_task`, (J + 1,), says which tasks are a job's.
    """
    fields = (first, *others)

    def read(rows: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
        def each(index: int, key: str) -> FloatArray:
            row = rows[index]
            given, main = row.get(key, row[first[0]]), row[first[0]]
            tasks = row.get("tasks", len(main) if isinstance(main, list) else 1)
            if not isinstance(given, list):
                return np.full(tasks, given, np.float64)
            if tasks != len(given):
                raise place.error(
                    f"{table.row(index)} has {tasks} tasks and {len(given)} numbers in {key}; "
                    "give one number, or one each."
                )
            return np.array(given, np.float64)

        amounts = {key: [each(index, key) for index in range(len(rows))] for key, _ in fields}
        sizes = [amount.size for amount in amounts[first[0]]]
        names = np.repeat(table.names or np.arange(len(rows)).astype(str), sizes).tolist()
        return {"first_task": np.cumsum([0, *sizes])} | {
            attribute: to_units(np.concatenate([*amounts[key], []]), scale, table.at(key), place.error, (names,))
            for key, attribute in fields
        }

    def write(source: Any, _: Place) -> Sequence[Given]:
        values = {key: (getattr(source, attribute) / scale).tolist() for key, attribute in fields}
        first_task = source.first_task.tolist()
        rows = []
        for begin, end in itertools.pairwise(first_task):
            row: dict[str, Any] = {"tasks": end - begin}
            for key in values:
                amounts = values[key][begin:end]
                if key == first[0] or amounts != values[first[0]][begin:end]:
                    row[key] = amounts[0] if len(set(amounts)) == 1 else amounts
            rows.append(row)
        return rows

    keys: dict[str, Any] = {"tasks": NotRequired[Annotated[int, Constraint(ge=1, le=10**8)]], first[0]: OneOrEach}
    return RowPart(keys | {key: NotRequired[OneOrEach] for key, _ in others}, read, write)
