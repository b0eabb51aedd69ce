"""What is said between the harness, its servers and the processes of runs.

A run's process tells its supervisor frames, each a kind, a length and a body. A server is asked objects, and what it answers is
data alone: whoever takes hold of its socket has code run nowhere.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import pickle
import struct
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum, StrEnum
from typing import Any, TypeAlias

import msgspec
from msgspec import structs

from schedgap.bench.isolation.clocks import MAX_COMPILE_S, Allowance
from schedgap.bench.plugins.discover import Home
from schedgap.bench.programs.program import Kind, Program, programs_among
from schedgap.bench.records.runs import PROCESS_GROUP, RUNEXEC, Limits, Measurement, Scalar, is_small
from schedgap.instances.picture import Picture


def compiled_kind(instance: Any) -> str:
    """Return what tells two instances of a family apart for compiled code: which fields are there, of what type."""
    fields = []
    for name in sorted(getattr(type(instance), "__slots__", ())):
        value = getattr(instance, name)
        dtype = getattr(value, "dtype", None)
        fields.append(f"{name}:{type(value).__name__}:{dtype}")
    return ",".join(fields)


def pickled(instance: Any) -> bytes:
    """Return the instance as bytes; arrays that are locked stay locked."""
    return pickle.dumps(instance, 5)


def in_memory(content: bytes) -> int:
    """Return a descriptor of a file in memory with this content, which nobody can change."""
    fd = os.memfd_create("instance", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    return fd


def loaded(fd: int) -> Any:
    """Return the object whose pickle a file holds."""
    with open(os.dup(fd), "rb") as file:
        file.seek(0)
        return pickle.load(file)


FRAME = struct.Struct("<cQ")


class Message(bytes, Enum):
    """What a frame says.

    READY : something untimed is over (starting, warming up): the clock of the hard wall starts anew. WANTED : so it is, and
    the instance is asked for, once.
    COMPILING, COMPILED : the clock stands still in between. CALLED, RETURNED : around the timed call.
    SOLUTION, BOUND : the best so far, with a body (see `answer`), as often as the method tells. ANSWER : the last frame, with
    a body.
    """

    READY = b"W"
    WANTED = b"I"
    COMPILING = b"C"
    COMPILED = b"c"
    CALLED = b"S"
    RETURNED = b"E"
    SOLUTION = b"F"
    BOUND = b"B"
    ANSWER = b"D"


# Frames of several threads come one after the other.
_SENDING = threading.Lock()


def send(pipe: int, message: Message, body: bytes = b"") -> None:
    """Write a frame."""
    view = memoryview(FRAME.pack(message.value, len(body)) + body)
    with _SENDING:
        while view:
            view = view[os.write(pipe, view) :]


# What a spawner is told: to fork a server, whose socket comes with it; to say this again once no server is left.
FORK, FREE = b"+", b"-"
# Starting an interpreter, or importing plug-ins, before the run's own clock starts.
START_S = 120.0
# What a server has to end what it runs, once nobody wants it any more: killing a tree takes its grace and more.
END_S = 20.0
# Larger instances are sent again for each run: dozens of servers that each kept one would fill the memory.
KEEP_BYTES = 2**27


class Cause(StrEnum):
    """Why the supervisor ended a run."""

    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    FILES = "files"
    PROCESSES = "processes"
    MESSAGES = "messages"


@dataclass(slots=True)
class Ending:
    """What the supervisor saw.

    answer : the child's last message, None if it sent none before it ended or was killed. solution, bound : the last of
    each that it told of before that. cause : why its result does not count; killed : whether it was ended for that, or was
    found out when it had ended.
    exit_code : as `os.waitstatus_to_exitcode`. peak_bytes : resident, of the tree. output : first and last KiB printed.
    By the clock here: elapsed_s : of the whole process. called_s : of the last timed call that it told of. paused_s :
    that it said it was compiling, by which its wall was moved. cpu_s : processor seconds of the tree. called_cpu_s : of these,
    in the last timed call, 0 where nothing counts all. reference_s : of a fixed piece of work just before (see
    `clocks.reference_s`). None is unknown. confined : see `Measurement`.
    """

    answer: bytes | None = None
    solution: bytes | None = None
    bound: int | None = None
    cause: Cause | None = None
    killed: bool = False
    exit_code: int = 0
    peak_bytes: int = 0
    output: bytes = b""
    elapsed_s: float | None = None
    called_s: float | None = None
    paused_s: float = 0.0
    cpu_s: float = math.inf
    called_cpu_s: float = 0.0
    reference_s: float | None = None
    confined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One run for a server.

    given : the parameters that were given. instance : a pickle of it, which goes another way than the rest (`in_memory`); None
    for the one that the server has. small : a pickle of the family's small version, to warm up on; None where the instance
    itself may be there by then.
    keep : answer with the verified solution and the certificate as contents of files, too. is_plugin : the method is not
    one of this package, and the run's process imports `plugins`, files with methods, and those that are installed; or it is
    one of the programs among them. families : whose methods an interpreter of its own loads. code : hash of all that is not of
    this package and runs with it, None where nothing is.
    warm : the child warms up by itself before the timed call.
    shrunk : the instance is the family's small version of one, for the effects on compiled code only.
    before : pickles of instances on which the method is called first, in the same process, untimed.
    isolation : how the run is kept apart. compile_s : how long it may compile beside its limits. most_s : how long its process
    may live, all that is beside its limits included. proves : the method is registered as one whose bounds count, or is a
    program; nothing that the run's process says decides that.
    """

    family: str
    method: str
    given: Mapping[str, Scalar]
    seed: int
    limits: Limits
    digest: str
    instance: bytes | None
    small: bytes | None = None
    keep: bool = False
    warm: bool = False
    shrunk: bool = False
    before: tuple[bytes, ...] = ()
    isolation: str = PROCESS_GROUP
    is_plugin: bool = False
    plugins: tuple[str | Program, ...] = ()
    families: tuple[str | Home, ...] = ()
    code: str | None = None
    compile_s: float = MAX_COMPILE_S
    most_s: float = math.inf
    proves: bool = True

    @property
    def program(self) -> Program | None:
        """Return the program that the method is, None if it is Python."""
        named = [each for each in programs_among(self.plugins) if each.name == self.method]
        return named[0] if self.is_plugin and named else None

    @property
    def is_foreign(self) -> bool:
        """Return whether the run's own process runs code of others."""
        return self.is_plugin and self.program is None

    @property
    def compiles(self) -> bool:
        """Return whether code of this package is compiled for the run: a policy is played by a simulator, other programs not."""
        return self.program is None or self.program.kind is Kind.POLICY

    @property
    def allowance(self) -> Allowance:
        """Return what the run's process may take beside its wall limit."""
        has_own_interpreter = self.isolation == RUNEXEC
        restarts = 1 + self.is_plugin + self.warm + bool(self.before) + has_own_interpreter
        starting = self.is_foreign or has_own_interpreter
        return Allowance(START_S if starting else 0.0, restarts, self.compile_s, self.most_s)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run gave.

    picture : of the verified solution, None where the family has none. solution : the verified solution as its file's
    content, if it was to be kept. certificate : likewise, of a bound that counts.
    """

    measurement: Measurement
    picture: Picture | None = None
    solution: bytes | None = None
    certificate: bytes | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Ask a server that does nothing else what a run gave. ending : how its process ended, as another server saw it."""

    request: Request
    ending: Ending


@dataclass(frozen=True, slots=True)
class Describe:
    """Ask a server what methods plug-ins register, without importing them itself. limit_s : what importing may take."""

    plugins: tuple[str, ...]
    limit_s: float = START_S


@dataclass(frozen=True, slots=True)
class Described:
    """Answer to `Describe`. content : as `described.pack` made it in a process of the plug-ins' own; None if it failed.

    reason : why it failed.
    """

    content: bytes | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Answer to a request that cannot be done here at all; no run is recorded for it."""

    reason: str


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Ask a server to warm itself up for a method, so that the children that it forks are warm from the start."""

    request: Request


@dataclass(frozen=True, slots=True)
class WarmedUp:
    """Answer to `WarmUp`.

    warm_s : how long it took. again_s : how long the same call took once more. threads : of the server now; with one
    it may fork safely.
    """

    warm_s: float
    again_s: float
    threads: int


Question: TypeAlias = "Request | WarmUp | Judge | Describe"
Answered: TypeAlias = Ending | WarmedUp | Answer | Described | Refusal
# Before each message between harness and server.
LENGTH = struct.Struct("<Q")


class _Judged(msgspec.Struct, array_like=True):
    """An `Answer`; measurement and picture are JSON, as in files: numbers may have any size there."""

    measurement: bytes
    picture: bytes | None
    solution: bytes | None
    certificate: bytes | None


def packed(answer: Answered) -> bytes:
    """Return a server's answer as bytes."""
    said: Any = answer
    if isinstance(answer, Answer):
        picture = None if answer.picture is None else json.dumps(asdict(answer.picture)).encode()
        measurement = json.dumps(structs.asdict(answer.measurement)).encode()
        said = _Judged(measurement, picture, answer.solution, answer.certificate)
    return msgspec.msgpack.encode((type(answer).__name__, said))


def unpacked(data: bytes, kinds: tuple[type[Any], ...]) -> Any:
    """Return a server's answer, of one of these kinds.

    Raises
    ------
    ValueError
        for anything else.
    """
    name, said = msgspec.msgpack.decode(data, type=tuple[str, msgspec.Raw])
    kind = next((each for each in kinds if each.__name__ == name), None)
    if kind is None:
        raise ValueError(f"it says '{name:.60}'")
    if kind is not Answer:
        return msgspec.msgpack.decode(said, type=kind)
    judged = msgspec.msgpack.decode(said, type=_Judged)
    picture = None if judged.picture is None else msgspec.json.decode(judged.picture, type=Picture)
    return Answer(_measurement_of(json.loads(judged.measurement)), picture, judged.solution, judged.certificate)


def _measurement_of(row: Any) -> Measurement:
    if not isinstance(row, dict) or tuple(row) != Measurement.__struct_fields__ or not is_small(row):
        raise ValueError("it holds no measurement")
    return msgspec.convert(row, Measurement)
