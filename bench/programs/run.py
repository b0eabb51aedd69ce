"""Asking a program in the process of its run.

Lines to a program and back, each within its time; whoever speaks out of turn has failed.

A program as an online policy: the simulator stays here, and of the future nothing crosses the pipe.

The protocol `schedgap/policy/1`: what the lines between harness and policy say. docs/protocol.md has it for programs.

Of an observation a program is told the fields that it asked for: all of them each time, or those only that have changed.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import msgspec
import numpy as np

from schedgap.bench.programs.exchange import solve
from schedgap.bench.programs.program import MIB, Kind, Program, ProgramFailure, Terms, ended, start
from schedgap.heuristics.player import Player, check_policy, play
from schedgap.instances.errors import MethodError
from schedgap.instances.family import FAMILIES, Family
from schedgap.instances.method import Outcome, Status

if TYPE_CHECKING:
    from schedgap.heuristics.player import Player


_CHUNK = 2**16
# What a program has left to exit by itself that was told that all is over, or that has closed a pipe.
GRACE_S, CLOSING_S = 2.0, 0.5
# What a program has for each answer, and for starting, however short the time limit is: it may not be told to hurry only.
LEAST_S, STARTING_S = 1.0, 10.0


# Programs that were told that all is over, and may take their time to exit.
_LEAVING: list[Conversation] = []


def see_off() -> None:
    """Wait for programs to exit whose conversations are over, which is none of their runs' time."""
    while _LEAVING:
        _LEAVING.pop().close()


class Conversation:
    """Context manager of a running program; `see_off` waits for its exit where nothing went wrong.

    told, heard : bytes so far. waited_s : seconds between questions and answers.
    """

    def __init__(self, program: Program, terms: Terms) -> None:
        self._process = start(program, program.command, terms, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # A program that is gone shall be a failure of its run, and not end this process.
        self._on_pipe = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        # Those that it leaves behind may hold its output: its own end is what ends the conversation.
        self._exited = os.pidfd_open(self._process.pid)
        for fd in (self._in, self._out):
            os.set_blocking(fd, False)
        self._answers, self._both = select.poll(), select.poll()
        for poll in (self._answers, self._both):
            poll.register(self._out, select.POLLIN)
            poll.register(self._exited, select.POLLIN)
        self._both.register(self._in, select.POLLOUT)
        self._terms = terms
        self.told = self.heard = 0
        self.waited_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        signal.signal(signal.SIGPIPE, self._on_pipe)
        if error is None:
            _LEAVING.append(self)
        else:
            self.close()

    def close(self) -> None:
        """Wait for the program to exit, and end it if it does not."""
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._exited)

    def ask(self, line: bytes, where: str, *, least_s: float = LEAST_S) -> bytes:
        """Send a line and return the line that answers it.

        where : the decision, as messages name it. least_s : what it may take where the time limit is shorter.

        Raises
        ------
        ProgramFailure
            if there is none within the time limit, or anything but one line.
        """
        begun = time.perf_counter()
        limit_s = self._terms.time_limit_s
        wait = _Wait(where, None if limit_s is None else max(limit_s, least_s))
        self._send(line, wait)
        answer = self._receive(wait)
        self.told += len(line)
        self.heard += len(answer)
        self.waited_s += time.perf_counter() - begun
        return answer

    def tell(self, line: bytes) -> None:
        """Send a last line, whether it is read or not."""
        with suppress(OSError):
            os.write(self._in, line)

    def _send(self, line: bytes, wait: _Wait) -> None:
        rest = memoryview(line)
        while rest:
            events = wait.poll(self._both, "take its line")
            if self._out in events:
                self._refuse_early(wait.where)
            if self._exited in events:
                raise self._gone(wait.where, "ended")
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._gone(wait.where, "closed its input") from None

    def _receive(self, wait: _Wait) -> bytes:
        content, most = bytearray(), self._terms.most_bytes
        while True:
            wait.poll(self._answers, "end its line by a line feed" if content else "answer")
            try:
                part = os.read(self._out, _CHUNK)
            except BlockingIOError:
                # It ended; what it had written before would be there.
                part = b""
            if not part:
                raise self._gone(
                    wait.where, "closed its output in the middle of a line" if content else "closed its output"
                )
            content += part
            end = part.find(b"\n")
            if end >= 0:
                if end != len(part) - 1:
                    raise _wrong(wait.where, "the program wrote more than one line; answer once")
                return bytes(content)
            if len(content) > most:
                raise _wrong(
                    wait.where,
                    f"its line is longer than {most / MIB:.4g} MiB, a sixteenth of the memory limit; end it by a line feed",
                )

    def _refuse_early(self, where: str) -> None:
        with suppress(BlockingIOError):
            if os.read(self._out, _CHUNK):
                raise _wrong(where, "the program wrote before it was asked")
            raise self._gone(where, "closed its output")

    def _gone(self, where: str, what: str) -> ProgramFailure:
        """Return the failure of a program that ended, or closed a pipe though it goes on."""
        try:
            return ended(self._process.wait(CLOSING_S), f"{where}: ")
        except subprocess.TimeoutExpired:
            return ProgramFailure(Status.CRASHED, f"{where}: the program {what}")


class _Wait:
    """One question and its answer: where they are, for messages, and until when. limit_s : None for no limit."""

    def __init__(self, where: str, limit_s: float | None) -> None:
        self.where = where
        self._limit_s = limit_s
        self._deadline = None if limit_s is None else time.perf_counter() + limit_s

    def poll(self, poll: select.poll, what: str) -> dict[int, int]:
        """Return the events that are there within what is left. what : that the program has to do meanwhile."""
        left_ms = None if self._deadline is None else max(0.0, self._deadline - time.perf_counter()) * 1000
        ready = dict(poll.poll(left_ms))
        if not ready:
            raise ProgramFailure(Status.TIMEOUT, f"{self.where}: the program did not {what} within {self._limit_s:g} s")
        return ready


def _wrong(where: str, what: str) -> ProgramFailure:
    return ProgramFailure(Status.INVALID, f"{where}: {what}")


def find_player(family: str) -> tuple[type[Player], type[Any]]:
    """Return a family's player, and the class of its observations.

    Raises
    ------
    MethodError
        if nothing is decided online in the family.
    """
    name = f"schedgap.heuristics.{family}"
    # A family of another package has both in the module of its instances.
    own: Any = sys.modules[FAMILIES[family].instance.__module__] if family in FAMILIES else None
    if hasattr(own, "Player") and hasattr(own, "Observation"):
        return own.Player, own.Observation
    try:
        module = importlib.import_module(f"{name}.player")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(name):
            raise
        raise MethodError(
            f"in family {family} nothing is decided over time, so it has no policies; give the program as a method, by "
            "--program, or another family."
        ) from None
    return module.Player, module.Observation


def play_program(program: Program, family: str, instance: Any, terms: Terms) -> Outcome:
    """Play a program over an instance.

    Raises
    ------
    ProgramFailure
        if it does not answer, or with what is no answer, or with actions that cannot be carried out.
    """
    player, observation = find_player(family)
    with Conversation(program, terms) as conversation:
        greeting = read_greeting(
            conversation.ask(hello(player, observation, terms), "greeting", least_s=STARTING_S), observation
        )
        teller = Teller(observation, greeting.fields, changes=greeting.observations == "changes")
        policy = _Remote(conversation, teller, player)
        try:
            check_policy(program.name, player, greeting.knows, greeting.options)
            playing = player(instance, frozenset(greeting.knows), **greeting.options)
            outcome = play(playing, policy.decide)
        except MethodError as error:
            raise ProgramFailure(Status.ERROR, str(error)) from None
        conversation.tell(END)
        return replace(outcome, details={**outcome.details, **_facts(conversation, greeting)})


def _facts(conversation: Conversation, greeting: Greeting) -> dict[str, float | str]:
    return {
        "knows": " ".join(sorted(greeting.knows)),
        "told_bytes": conversation.told,
        "heard_bytes": conversation.heard,
        "program_s": conversation.waited_s,
    }


class _Remote:
    """A policy at the other end of a pipe."""

    def __init__(self, conversation: Conversation, teller: Teller, player: type[Player]) -> None:
        self._conversation, self._teller, self._player = conversation, teller, player
        self._decision = 0

    def decide(self, observation: Any) -> Any:
        """Ask the program."""
        self._decision += 1
        line = self._teller.line(self._decision, observation)
        answer = self._conversation.ask(line, f"decision {self._decision}")
        return self._player.read(read_answer(answer, self._decision, self._player.document))


def ask(program: Program, family: Family, instance: Any, terms: Terms) -> Outcome:
    """Return what a program gives for an instance.

    Raises
    ------
    ProgramFailure
        naming what it did wrong.
    """
    if program.kind is Kind.POLICY:
        return play_program(program, family.name, instance, terms)
    return solve(program, family, instance, terms)


SCHEMA = "schedgap/policy/1"
END = b'{"end":true}\n'
Name = Annotated[str, msgspec.Meta(max_length=200)]


class Greeting(msgspec.Struct, forbid_unknown_fields=True):
    """What a program answers to the first line.

    knows : of the knowledge that is offered. options : of the player's options. observations : `whole` or `changes`. fields :
    of an observation, those that it wants to be told; None for all.
    """

    schema: Literal["schedgap/policy/1"]
    knows: list[Name] = []
    options: dict[Name, Name | None] = {}
    observations: Literal["whole", "changes"] = "whole"
    fields: list[Name] | None = None


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a program answers at a decision: its number, and the actions, in the form of the family."""

    decision: int
    actions: msgspec.Raw


def hello(player: type[Player], observation: type[Any], terms: Terms) -> bytes:
    """Return the first line: what there is to decide, and what a policy may ask for."""
    return _line(
        {
            "schema": SCHEMA,
            "family": player.family,
            "knowledge": list(player.knowledge),
            "options": {name: list(values) for name, values in player.options.items()},
            "fields": field_names(observation),
            "seed": terms.seed,
            "time_limit_s": terms.time_limit_s,
            "threads": terms.threads,
        }
    )


def read_greeting(line: bytes, observation: type[Any]) -> Greeting:
    """Return what a program asks for.

    Raises
    ------
    ProgramFailure
        if it is no greeting, or asks for a field that observations have not.
    """
    greeting: Greeting = _read(line, Greeting, "its greeting")
    known = field_names(observation)
    for name in greeting.fields or ():
        if name not in known:
            raise ProgramFailure(
                Status.INVALID, f"its greeting asks for the field '{name}'; fields are {', '.join(known)}"
            )
    return greeting


def read_answer(line: bytes, decision: int, document: Any) -> Any:
    """Return the actions of an answer to a decision. document : their type, as the player has it.

    Raises
    ------
    ProgramFailure
        if it is none, or one to another decision.
    """
    answer = _read(line, Answer, f"decision {decision}: its answer")
    if answer.decision != decision:
        raise ProgramFailure(
            Status.INVALID, f"decision {decision}: it answers decision {answer.decision}; answer each once, in order"
        )
    return _read(answer.actions, document, f"decision {decision}: 'actions'")


def field_names(observation: type[Any]) -> list[str]:
    """Return the fields of a family's observations that are told; a policy's own memory is not."""
    return [field.name for field in dataclasses.fields(observation) if not str(field.type).startswith("dict")]


class Teller:
    """Makes the lines of observations. fields : to tell, None for all. changes : leave out what is as it was told last."""

    def __init__(self, observation: type[Any], fields: Collection[str] | None, *, changes: bool) -> None:
        self._names = [name for name in field_names(observation) if fields is None or name in fields]
        self._changes = changes
        self._told: dict[str, tuple[Any, bytes]] = {}

    def line(self, decision: int, observation: Any) -> bytes:
        """Return the line of a decision."""
        parts = b",".join(self._parts(observation))
        return b'{"decision":%d,"observation":{%b}}\n' % (decision, parts)

    def _parts(self, observation: Any) -> Iterable[bytes]:
        for name in self._names:
            value = getattr(observation, name)
            known = self._told.get(name)
            if known is None or not _same(known[0], value):
                known = self._told[name] = (value, b'"%b":%b' % (name.encode(), _encoder.encode(value)))
            elif self._changes:
                continue
            yield known[1]


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return old.shape == new.shape and bool((old == new).all())
    # Dataclasses of arrays are equal only if they are the same.
    return type(old) is type(new) and not dataclasses.is_dataclass(old) and bool(old == new)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"observations hold no {type(value).__name__}.")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def _line(content: Any) -> bytes:
    return _encoder.encode(content) + b"\n"


def _read(line: bytes | msgspec.Raw, kind: Any, what: str) -> Any:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProgramFailure(Status.INVALID, f"{what} is not as docs/protocol.md has it: {error!s:.200}") from None
