"""A run's answer between processes: a JSON header of a fixed schema, then the solution's arrays, byte after byte.

Whatever the run's process sent, reading it makes numbers, text and arrays, and nothing runs.

What a method tells before it is done, on its way to the supervisor: at once, or soon, and never so often that it costs.
"""

from __future__ import annotations

import json
import math
import operator
import os
import struct
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any, Self, TypeVar

import msgspec
import numpy as np

from schedgap.bench.isolation.messages import Message, send
from schedgap.bench.programs.program import ProgramFailure
from schedgap.bench.records.runs import MOST, REAL, SECONDS, WHOLE
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.fields import Fields, from_fields, to_fields
from schedgap.instances.method import Method, Status

T = TypeVar("T")
_LENGTH = struct.Struct("<Q")
_ARRAY = "array"
_DTYPES = {"i8": np.dtype("<i8"), "f8": np.dtype("<f8")}
# What a header may hold; a method's own facts are cut to this before they are sent.
MAX_TEXT = 10_000
MAX_DETAILS = 1000
MAX_POINTS = 1000

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class AnswerError(Exception):
    """What a run sent is no answer."""


class Failure(msgspec.Struct, tag_field="kind", tag="failure", forbid_unknown_fields=True, kw_only=True):
    """The method raised. status : `memory` or `error`."""

    status: Text
    reason: Text


class Report(msgspec.Struct, tag_field="kind", tag="report", forbid_unknown_fields=True, kw_only=True):
    """The method returned.

    status : what it claims. bound : text where it is no whole number of 63 bits. foreign : the class of what it
    returned, if that is no solution of the family. mutated : it changed its instance. The times are in seconds, as
    `records.Measurement` has them, by the clock of the run's process. trajectory : (seconds, objective, bound).
    certificate : as JSON, if it is to be kept.
    """

    status: Text
    bound: WHOLE | Text | None = None
    foreign: Text | None = None
    mutated: bool
    wall_s: SECONDS
    cpu_s: SECONDS
    compile_s: SECONDS
    warm: Text | None = None
    warm_s: SECONDS | None = None
    build_s: SECONDS | None = None
    solve_s: SECONDS | None = None
    extract_s: SECONDS | None = None
    solver: Text | None = None
    trajectory: Annotated[list[tuple[SECONDS, WHOLE | None, WHOLE | None]], msgspec.Meta(max_length=MAX_POINTS)] = []
    details: Annotated[dict[Text, bool | WHOLE | REAL | Text], msgspec.Meta(max_length=MAX_DETAILS)] = {}
    certificate: str | None = None


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    said: Failure | Report
    solution: dict[str, Any] | None = None


class _Told(msgspec.Struct, forbid_unknown_fields=True):
    """The header of a solution on its own, which a method told of before it was done."""

    solution: dict[str, Any]


_BOUND = struct.Struct("<q")


def pack(said: Failure | Report, solution: Any = None) -> bytes:
    """Return the answer as bytes. solution : of the family's class, None for none.

    Raises
    ------
    SolutionError
        if a field of the solution is not what its class declares.
    """
    return _joined({"said": msgspec.to_builtins(said)}, solution)


def pack_solution(solution: Any) -> bytes:
    """Return a solution on its own as bytes, or raise as `pack` does."""
    return _joined({}, solution)


def pack_bound(bound: int) -> bytes:
    """Return a bound of at most 63 bits as bytes."""
    return _BOUND.pack(bound)


def unpack_bound(data: bytes) -> int | None:
    """Return the bound; None if the bytes are none."""
    return _BOUND.unpack(data)[0] if len(data) == _BOUND.size else None


def _joined(header: dict[str, Any], solution: Any) -> bytes:
    arrays: list[np.ndarray[Any, Any]] = []
    fields = None if solution is None else _described(to_fields(solution), arrays)
    text = json.dumps({**header, "solution": fields}).encode()
    content = [array.astype(_DTYPES[_code(array)], copy=False).tobytes() for array in arrays]
    return b"".join([_LENGTH.pack(len(text)), text, *content])


def unpack(data: bytes, solution_class: type[Any]) -> tuple[Failure | Report, Any]:
    """Return what was said and the solution, None without one.

    Raises
    ------
    AnswerError
        if the bytes are no answer.
    SolutionError
        if there is a solution that its class refuses.
    """
    header, rest = _split(data, _Header)
    return header.said, rest.solution(header.solution, solution_class)


def unpack_solution(data: bytes, solution_class: type[Any]) -> Any:
    """Return what `pack_solution` packed, or raise as `unpack` does."""
    header, rest = _split(data, _Told)
    return rest.solution(header.solution, solution_class)


def certificate_of(data: bytes, name: str, digest: str) -> dict[str, Any] | None:
    """Return the certificate of an answer, with the instance that it is of; None without one.

    Raises
    ------
    AnswerError
        if it is none.
    """
    said = _split(data, _Header)[0].said
    if isinstance(said, Failure) or said.certificate is None:
        return None
    try:
        given = json.loads(said.certificate)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"its certificate is no JSON ({error!s:.100})") from None
    if not isinstance(given, dict) or given.keys() != {"bound", "proof"}:
        raise AnswerError("its certificate has other fields than bound and proof")
    return {"schema": "schedgap/certificate/1", "instance": name, "digest": digest, **given}


def _split(data: bytes, kind: type[T]) -> tuple[T, _Rest]:
    if len(data) < _LENGTH.size:
        raise AnswerError("it is cut off")
    (length,) = _LENGTH.unpack_from(data)
    if length > len(data) - _LENGTH.size:
        raise AnswerError("it is cut off")
    view = memoryview(data)[_LENGTH.size :]
    try:
        header = msgspec.json.decode(view[:length], type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise AnswerError(f"{error!s:.200}") from None
    return header, _Rest(view[length:])


def plain_number(value: Any) -> Any:
    """Return a number that a header can hold, and text for anything else: the other side says what is wrong with it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # A class of its own has other methods.
        whole = int.__int__(value)
        return whole if whole.bit_length() <= 63 else f"a number of {whole.bit_length()} bits"
    if isinstance(value, float) and abs(real := float.__float__(value)) <= MOST:
        return real
    return plain_text(value)


def plain_text(value: Any) -> str:
    """Return a value as text that any file can hold."""
    try:
        text = str(value)
    except BaseException:
        # Whatever a method's own class raises, an exit too.
        text = f"a {type(value).__name__} that cannot be printed"
    return text[:MAX_TEXT].encode("utf-8", "backslashreplace").decode()[:MAX_TEXT]


def _described(fields: Fields, arrays: list[np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Return the fields with `{"array": dtype, "shape": ...}` for arrays, which are appended to `arrays` in order."""
    described: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            arrays.append(value)
            described[name] = {_ARRAY: _code(value), "shape": list(value.shape)}
        else:
            described[name] = _described(value, arrays) if isinstance(value, dict) else value
    return described


def _code(array: np.ndarray[Any, Any]) -> str:
    return f"{array.dtype.kind}{array.dtype.itemsize}"


class _Rest:
    """The bytes behind the header, taken array by array."""

    def __init__(self, view: memoryview) -> None:
        self._view = view

    @property
    def left(self) -> int:
        """Bytes that no array has taken."""
        return len(self._view)

    def solution(self, described: dict[str, Any] | None, solution_class: type[Any]) -> Any:
        """Return the solution of which nothing is left over, None without one."""
        fields = None if described is None else self.filled(described)
        if self.left:
            raise AnswerError(f"{self.left} bytes follow it")
        return None if fields is None else from_fields(solution_class, fields)

    def filled(self, described: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with their arrays."""
        return dict(self._filled(described))

    def _filled(self, described: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, value in described.items():
            if isinstance(value, dict):
                yield name, self._array(value) if _ARRAY in value else self.filled(value)
            elif value is None or (isinstance(value, int) and not isinstance(value, bool)):
                yield name, value
            else:
                raise AnswerError(f"field '{name:.60}' of its solution is {value!r:.60}")

    def _array(self, described: dict[str, Any]) -> np.ndarray[Any, Any]:
        code, shape = described.get(_ARRAY), described.get("shape")
        dtype = _DTYPES.get(code) if isinstance(code, str) else None
        if dtype is None or not isinstance(shape, list) or len(shape) > 4:
            raise AnswerError(f"{described!r:.100} describes no array")
        if not all(type(length) is int and 0 <= length <= self.left for length in shape):
            raise AnswerError(f"an array of shape {shape!r:.100} is longer than what was sent")
        size = math.prod(shape) * dtype.itemsize
        if size > self.left:
            raise AnswerError(f"an array of {size} bytes is longer than the {self.left} that were sent")
        array = np.frombuffer(self._view[:size], dtype).reshape(shape)
        self._view = self._view[size:]
        return array


# What is told sooner after a frame waits, so that an end by force loses no more of a search than this.
EVERY_S = 0.2
UNDECLARED = "it returns a bound and is not registered as a method that proves any; add bounds=True to its @method(...)"


class Telling:
    """Context manager around one call of a method, and the `found` that it is given.

    What is due is written before the call of `found` returns, what is not by a thread when it is, only the last of it. All
    frames are written by threads of ours: what a method's own signal handler raises never cuts one off. Other processes of
    the method tell nothing.
    """

    def __init__(self, pipe: int, method: Method) -> None:
        self._pipe, self._method = pipe, method
        self._solution_class = find_family(method.family).solution
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._sender: threading.Thread | None = None
        self._solution: Any = None
        self._bound: int | None = None
        self._highest: int | None = None
        self._due = 0.0
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """Send what still waits, and nothing more: the run may fail yet, though the method has returned."""
        with self._lock:
            self._is_closed = True
        self._ending.set()
        while (sender := self._sender) is not None:
            sender.join()

    def __call__(self, solution: Any = None, bound: int | None = None) -> None:
        """Tell of a solution, a bound or both.

        Raises
        ------
        MethodError
            for what is no solution of the family, or no whole number of 63 bits.
        ProgramFailure
            for a bound of a method that is not registered as one that proves any.
        """
        bound = self._checked(solution, bound)
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._is_closed:
                return
            if solution is not None:
                self._solution = solution
            if bound is not None and (self._highest is None or bound > self._highest):
                self._bound = self._highest = bound
            if self._sender is not None or (self._solution is None and self._bound is None):
                return
            wait_s = self._due - time.monotonic()
            sender = self._start(wait_s)
        if wait_s <= 0 and sender is not None:
            sender.join()

    def _checked(self, solution: Any, bound: Any) -> int | None:
        name, kind = self._method.name, self._solution_class
        if solution is not None and type(solution) is not kind:
            raise MethodError(
                f"method {name} tells that it found a {type(solution).__name__:.60}; found() takes a {kind.__name__}."
            )
        if bound is None:
            return None
        if not self._method.bounds:
            raise ProgramFailure(Status.INVALID, UNDECLARED)
        try:
            whole = operator.index(bound)
        except TypeError:
            whole = None
        if whole is None or whole.bit_length() > 63:
            raise MethodError(
                f"method {name} tells the bound {bound!s:.60}; found() takes a whole number of at most 63 bits."
            )
        return whole

    def _start(self, wait_s: float) -> threading.Thread | None:
        """Have all that waits sent in so many seconds; what cannot be told is no reason to end a search."""
        self._sender = None
        with suppress(RuntimeError):
            sender = threading.Thread(target=self._send, args=(wait_s,), daemon=True)
            sender.start()
            self._sender = sender
        return self._sender

    def _send(self, wait_s: float) -> None:
        if wait_s > 0:
            self._ending.wait(wait_s)
        with self._lock:
            solution, bound, self._solution, self._bound = self._solution, self._bound, None, None
        try:
            if bound is not None:
                send(self._pipe, Message.BOUND, pack_bound(bound))
            if solution is not None:
                send(self._pipe, Message.SOLUTION, pack_solution(solution))
        except (MemoryError, OSError, SchedgapError):
            traceback.print_exc()
        finally:
            with self._lock:
                self._due = time.monotonic() + EVERY_S
                self._sender = None
                if self._solution is not None or self._bound is not None:
                    self._start(EVERY_S)
