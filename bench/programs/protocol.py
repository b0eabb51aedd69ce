"""The protocol `schedgap/policy/1`: what the lines between harness and policy say. docs/protocol.md has it for programs.

Of an observation a program is told the fields that it asked for: all of them each time, or those only that have changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np

from schedgap.bench.programs.program import ProgramFailure, Terms
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.heuristics.player import Player

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
