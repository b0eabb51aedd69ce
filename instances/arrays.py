"""Locked arrays and content hashes, since frozen dataclasses do not freeze the arrays that they hold; and their `repr`.

And arrays of records: the state of what is compiled.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedgap.instances.errors import InstanceError, SchedgapError

T = TypeVar("T")
IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

# The first number that int64 does not hold; floats hold it exactly.
LIMIT = 2**63


def locked_ints(values: ArrayLike) -> IntArray:
    """Return `values` as a read-only C-ordered int64 array; a copy unless it is already one that nobody can write.

    Raises
    ------
    ValueError
        for values that are not whole, or that 64 bits do not hold: NumPy converts these to others without a word.
    """
    source = np.asarray(values)
    if source.dtype.kind not in "iubf":
        # Whole numbers beyond 64 bits are objects to NumPy.
        raise ValueError(f"expected whole numbers of 64 bits, got {source.dtype}")
    if source.dtype.kind == "f" and source.size and not np.array_equal(source, np.rint(source)):
        raise ValueError(f"expected whole numbers, got {source.dtype} with fractions")
    if source.dtype.kind not in "ib" and source.size and not -LIMIT <= source.min() <= source.max() < LIMIT:
        raise ValueError(f"expected whole numbers of 64 bits, got {source.min()} to {source.max()}")
    if source.dtype == np.int64 and source.flags.c_contiguous and not source.flags.writeable and source.base is None:
        return source
    array: IntArray = locked(np.array(source, dtype=np.int64, order="C", copy=True))
    return array


def locked_bools(values: ArrayLike) -> BoolArray:
    """Return `values` as a read-only C-ordered bool array; a copy unless it is already one that nobody can write."""
    source = np.asarray(values)
    if source.dtype == np.bool_ and source.flags.c_contiguous and not source.flags.writeable and source.base is None:
        return source
    array: BoolArray = locked(np.array(source, dtype=np.bool_, order="C", copy=True))
    return array


def locked(array: Any) -> Any:
    """Return an array that nobody else holds, made read-only."""
    array.setflags(write=False)
    return array


def locked_floats(values: ArrayLike) -> FloatArray:
    """Return `values` as a read-only C-ordered float64 array, a copy."""
    array: FloatArray = locked(np.array(values, dtype=np.float64, order="C", copy=True))
    return array


def whole(value: Any) -> int:
    """Return a whole number as one of Python's: NumPy's wrap where these do not, and have another digest.

    Raises
    ------
    ValueError
        for anything else.
    """
    try:
        return int(operator.index(value))
    except TypeError:
        raise ValueError(f"expected a whole number, got {value!r:.60}") from None


def lock(
    owner: object,
    keys: Iterable[str],
    make: Callable[[Any], Any] = locked_ints,
    error: type[SchedgapError] = InstanceError,
) -> None:
    """Put locked arrays into fields of a frozen dataclass that is being made. make : returns that of what was given.

    Raises
    ------
    SchedgapError
        of the class `error`, naming the owner and the field that `make` refuses.
    """
    for key in keys:
        try:
            object.__setattr__(owner, key, make(getattr(owner, key)))
        except (TypeError, ValueError, OverflowError) as problem:
            name = getattr(owner, "name", "")
            raise error(f"{name and f'{name}: '}{key}: {problem}.") from None


def first_true(flags: BoolArray | np.bool_) -> int | None:
    """Return the place of the first flag that is set, (N,), or None."""
    return int(np.argmax(flags)) if flags.any() else None


def grouped(rows: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return the group of each row, (N,), groups in the order in which they come up, and the first row of each.

    rows : (N,) or (N, ...), equal ones are a group. O(N log N).
    """
    axis = 0 if rows.ndim > 1 else None
    _, first, which = np.unique(rows, axis=axis, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[which.reshape(-1)], first[order]


def ranges(first: IntArray | int, count: IntArray) -> IntArray:
    """Return the numbers of ranges, one range after the other. first : (N,), or of all ranges. count : (N,), of numbers."""
    numbers: IntArray = np.arange(int(count.sum())) + np.repeat(first - (np.cumsum(count) - count), count)
    return numbers


def content_hash(parts: Iterable[object]) -> str:
    """Return the SHA-256 (hex) of a sequence of strings, numbers, None and int64 arrays, the same on every machine."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            little = np.ascontiguousarray(part, dtype="<i8")
            digest.update(f"array{little.shape}".encode())
            digest.update(little.data)
        else:
            text = repr(part).encode()
            digest.update(f"{len(text)}:".encode())
            digest.update(text)
    return digest.hexdigest()


class Brief:
    """Has what it is, its name and its counts (`num_tasks`: `4 tasks`) as `repr`; without counts, its arrays' shapes.

    For dataclasses with `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        kind = type(self)
        counts = ((key[4:].replace("_", " "), getattr(self, key)) for key in dir(kind) if key.startswith("num_"))
        facts = [f"{count} {what}" for what, count in counts if isinstance(count, int)]
        if not facts:
            held = ((key, getattr(self, key)) for key in kind.__match_args__)  # type: ignore[attr-defined]
            facts = [f"{key} {value.shape}" for key, value in held if isinstance(value, np.ndarray)]
        name = getattr(self, "name", "")
        return f"<{kind.__name__}{name and f' {name:.80}'}: {', '.join(facts)}>"


class Records(Generic[T]):
    """The type of what `records` returns: an array of records in compiled code, of columns too in Python."""

    shape: tuple[int]

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Records[T]: ...

    def __getitem__(self, place: Any) -> Any: ...

    def __getattr__(self, field: str) -> NDArray[Any]: ...  # type: ignore[empty-body]


def record(kind: type, **values: float) -> Any:
    """Return an array of one record, whose fields are read as `clock[0].now`, with the values given."""
    return records(kind, 1, **values)


def records(kind: type, number: int, **columns: ArrayLike) -> Any:
    """Return an array of records, (N,): compiled code passes it as one array, which compiles far faster than one a field.

    kind : a class that names the fields, with their types: int, float, or one of NumPy's. columns : values of fields, copied; 0
    where none are given. Fields are read as `tasks[task].saved`, and columns, in Python, as `tasks.saved`: no
    field may have the name of an attribute of all arrays, as `size` and `base`.
    """
    if taken := [name for name in kind.__annotations__ if hasattr(np.recarray, name)]:
        raise TypeError(f"{kind.__name__}.{taken[0]}: every array has something of that name; give the field another.")
    array: Any = np.recarray(number, np.dtype(list(kind.__annotations__.items()), align=True))
    array.fill(0)
    for name, values in columns.items():
        array[name] = values
    return array


def longer(array: Any, length: int) -> Any:
    """Return a copy of an array of records that is so long, or as long as it was; what is new is 0."""
    copy = np.recarray(max(length, array.shape[0]), array.dtype)
    copy.fill(0)
    copy[: array.shape[0]] = array
    return copy
