"""Documents: JSON files, stated as a sequence of parts that read, check and write themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Literal, NotRequired, TypeVar

import numpy as np
from pydantic import TypeAdapter

from schedgap.instances.documents.array_files import arrays_beside, write_arrays
from schedgap.instances.documents.fields import REQUIRED, Given, Part, Place, record
from schedgap.instances.documents.json_files import (
    from_units,
    naming_file,
    read_document,
    refuse_other_instance,
    to_units,
    write_document,
)
from schedgap.instances.errors import InstanceError, SchedgapError, SolutionError

if TYPE_CHECKING:
    from collections.abc import Callable

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
