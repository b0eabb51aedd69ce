"""A solution as plain numbers and arrays by name, and back, by the declared types of its class's fields.

What crosses a border between processes is this and nothing else: no code, no classes by name, no object that its
constructor has not checked.
"""

from __future__ import annotations

import dataclasses
import hashlib
import typing
from collections.abc import Callable, Mapping
from functools import cache
from operator import index
from typing import Any, TypeAlias

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray, locked_floats, locked_ints
from schedgap.instances.errors import SolutionError

# A whole number, an array of int64 or float64, None, or the same of a dataclass inside.
Fields: TypeAlias = "dict[str, int | np.ndarray[Any, Any] | Fields | None]"
_ARRAYS: tuple[tuple[Any, Callable[[Any], Any]], ...] = ((IntArray, locked_ints), (FloatArray, locked_floats))


def to_fields(solution: Any) -> Fields:
    """Return the fields of a solution; arrays are C-ordered int64 or float64.

    Raises
    ------
    SolutionError
        naming the field that holds something else.
    """
    types = _types(type(solution))  # type: ignore[arg-type]
    return {name: _packed(kind, optional, name, getattr(solution, name)) for name, kind, optional in types}


def from_fields(cls: Any, fields: Mapping[str, Any]) -> Any:
    """Return a new object of the class, checked by its constructor.

    Raises
    ------
    SolutionError
        naming the field that is missing, unknown, or of another type.
    """
    types = _types(cls)
    given, known = set(fields), {name for name, _, _ in types}
    if given != known:
        odd = sorted(given ^ known)[0]
        raise SolutionError(f"field '{odd:.60}' of {cls.__name__} is {'unknown' if odd in given else 'missing'}.")
    return cls(**{name: _unpacked(kind, optional, name, fields[name]) for name, kind, optional in types})


def fields_hash(solution: Any) -> str:
    """Return a hash of all that a solution says: of two that are equal, one verification must not differ from another."""
    digest = hashlib.sha256()
    _feed(digest, to_fields(solution))
    return digest.hexdigest()[:32]


def _feed(digest: Any, fields: Fields) -> None:
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            digest.update(f"{name}:{value.dtype.str}{value.shape}".encode())
            digest.update(value.data)
        elif isinstance(value, dict):
            digest.update(f"{name}(".encode())
            _feed(digest, value)
            digest.update(b")")
        else:
            digest.update(f"{name}={value}".encode())


@cache
def _types(cls: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Return the fields: name, type without None, and whether None is allowed.

    Raises
    ------
    TypeError
        for a type that cannot cross; this is a fault of the family.
    """
    hints = typing.get_type_hints(cls, localns={"IntArray": IntArray, "FloatArray": FloatArray})
    found = []
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        options = [each for each in typing.get_args(hint) if each is not type(None)]
        optional = type(None) in typing.get_args(hint)
        kind = options[0] if optional and len(options) == 1 else hint
        if kind is not int and not dataclasses.is_dataclass(kind) and all(kind != array for array, _ in _ARRAYS):
            raise TypeError(f"{cls.__name__}.{field.name} is a {hint}, which cannot cross between processes")
        found.append((field.name, kind, optional))
    return tuple(found)


def _packed(kind: Any, optional: bool, name: str, value: Any) -> Any:
    if value is None and optional:
        return None
    if kind is int:
        return _whole(name, value)
    for array, lock in _ARRAYS:
        if kind == array:
            return lock(value)
    if type(value) is not kind:
        raise SolutionError(f"field '{name}' is a {type(value).__name__:.60}; it must be a {kind.__name__}.")
    return to_fields(value)


def _unpacked(kind: Any, optional: bool, name: str, value: Any) -> Any:
    if value is None and optional:
        return None
    if kind is int:
        return _whole(name, value)
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise SolutionError(f"field '{name}' must hold fields of its own, not a {type(value).__name__}.")
        return from_fields(kind, value)
    wanted = np.dtype(np.int64 if kind == IntArray else np.float64)
    if not isinstance(value, np.ndarray) or value.dtype != wanted:
        raise SolutionError(f"field '{name}' must be an array of {wanted}.")
    return value


def _whole(name: str, value: Any) -> int:
    try:
        return index(value)
    except TypeError:
        raise SolutionError(f"field '{name}' is a {type(value).__name__:.60}; it must be a whole number.") from None
