"""Where an instance comes from: a generator, an import format or a file, with parameters given as text or values."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import Scalar
from schedgap.instances.documents.openings import open_given, read_given
from schedgap.instances.errors import InstanceError, about_file, did_you_mean, first_of
from schedgap.instances.family import FAMILIES, find_family
from schedgap.instances.method import read_value

_SCHEMA = re.compile(rb'"schema"\s*:\s*"schedgap/([a-z0-9-]+)/\d+"')


@dataclass(frozen=True, slots=True)
class Source:
    """How to make an instance.

    kind : `generator`, `importer` or `file`. name : of the first two. path : of the last two.
    more_paths : beside `path`, for an importer that takes several.
    """

    family: str
    kind: str
    name: str = ""
    path: Path | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    more_paths: tuple[Path, ...] = ()

    def build(self) -> Any:
        """Make the instance.

        Raises
        ------
        InstanceError
            for an unknown name or parameter, or a malformed file.
        """
        family = find_family(self.family)
        if self.kind == "file":
            assert self.path is not None
            return family.read_instance(self.path)
        known = family.generators if self.kind == "generator" else family.importers
        if self.name not in known:
            raise InstanceError(
                f"family {self.family} has no {self.kind} '{self.name}'; {did_you_mean(self.name, known)}"
                f"it has: {first_of(sorted(known))}."
            )
        maker = known[self.name]
        chosen = converted(maker, f"{self.kind} {self.name}", self.parameters)
        try:
            return maker(*self._paths(maker), **chosen)
        except (OverflowError, MemoryError, ValueError) as error:
            # What NumPy says of parameters that no array can have.
            given = ", ".join(f"{key}={value!s:.60}" for key, value in chosen.items())
            raise InstanceError(
                f"{self.kind} {self.name} makes no instance of {given} ({error!s:.100}); choose other values."
            ) from error

    def _paths(self, maker: Callable[..., Any]) -> tuple[Path, ...]:
        """Return the paths that an importer is called with: one, or any number where it takes `*paths`."""
        if self.kind == "generator":
            return ()
        paths = (*(() if self.path is None else (self.path,)), *self.more_paths)
        several = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(maker).parameters.values())
        if len(paths) != 1 and not several:
            raise InstanceError(f"importer {self.name} reads one file, {len(paths)} are given; give one.")
        return paths

    def described(self) -> dict[str, Scalar]:
        """Return the source as JSON scalars, for the record."""
        path = {} if self.path is None else {"path": str(self.path)}
        name = {} if self.kind == "file" else {"name": self.name}
        more = {f"path_{number}": str(path) for number, path in enumerate(self.more_paths, 2)}
        return {"kind": self.kind, **name, **path, **more, **self.parameters}


def converted(maker: Callable[..., Any], what: str, given: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return parameters with the types of the maker's defaults.

    Raises
    ------
    InstanceError
        for a parameter that it does not have, or a value of another type.
    """
    known = {p.name: p.default for p in inspect.signature(maker).parameters.values() if p.default is not p.empty}
    chosen: dict[str, Scalar] = {}
    for name, value in given.items():
        if name not in known:
            near = did_you_mean(name, known)
            raise InstanceError(f"{what} has no parameter '{name}'; {near}it has: {first_of(list(known))}.")
        chosen[name] = read_value(what, name, value, known[name], InstanceError)
    return chosen


def names_schema(path: Path) -> bool:
    """Return whether a file begins as one of ours, with a `schema`; it may be very large.

    Raises
    ------
    InstanceError
        if it cannot be read.
    """
    with about_file(path, "read", InstanceError, "give the path of a file"), open_given(path) as file:
        return _SCHEMA.search(file.read(4096)) is not None


def family_of_file(path: Path) -> str:
    """Return the family that an instance file names in its `schema`.

    Raises
    ------
    InstanceError
        if it cannot be read or names none.
    """
    load_families()
    known = ", ".join(f"schedgap/{name}/1" for name in sorted(FAMILIES))
    with about_file(path, "read", InstanceError, "give the path of an instance file"):
        text = read_given(path)
    match = _SCHEMA.search(text[:4096])
    if match is not None and match[1].decode() in FAMILIES:
        return match[1].decode()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InstanceError(f"{path}: no JSON ({error}); give an instance file.") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    named = re.fullmatch(r"schedgap/([a-z0-9-]+)/\d+", str(schema))
    if named is None or named[1] not in FAMILIES:
        found = "it names no schema" if schema is None else f"its schema is '{schema!s:.60}'"
        if isinstance(document, dict) and "kind" in document:
            found = f"its kind is '{document['kind']!s:.60}', so give `schedgap floor` a price list by --catalogue, or import it"
        raise InstanceError(f"{path}: {found}; known are {known}; --family FILE.py brings others.")
    return str(named[1])


def given_instance(given: Any) -> Any:
    """Return an instance as it is, or that of a file by its path.

    Raises
    ------
    InstanceError
        for a file that is none, or malformed.
    """
    if isinstance(given, str | Path):
        path = Path(given)
        return Source(family_of_file(path), "file", path=path).build()
    return given


def family_of(instances: Sequence[Any], asked: str | None = None) -> str:
    """Return the family that the instances' classes belong to. asked : the one that they must be of, None for any.

    Raises
    ------
    InstanceError
        for none, what is no instance, several families, and another one.
    """
    if not instances:
        raise InstanceError("there are no instances to measure on; give at least one, or a suite.")
    found = set()
    known = {family.instance: name for name, family in FAMILIES.items()}
    for instance in instances:
        if type(instance) not in known:
            raise InstanceError(f"{instance!r:.60} is no instance; give objects of a known family, or files of them.")
        found.add(known[type(instance)])
    if len(found) != 1:
        raise InstanceError(f"instances of {len(found)} families ({', '.join(sorted(found))}); give those of one.")
    family = found.pop()
    if asked not in (None, family):
        raise InstanceError(f"{instances[0].name} is of family {family}, '{asked!s:.60}' was asked for; give its own.")
    return family
