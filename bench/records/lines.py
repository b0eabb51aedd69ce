"""Lines of the journal as records, in less than half the time of `Record.from_row`, which says what a line may hold.

A line as this version writes it is decoded and checked in one go; what rows share is recognised by its bytes, so that
it is parsed once. Any other line is left to `Record.from_row`.
"""

from __future__ import annotations

import json
from dataclasses import fields, make_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from schedgap.bench.records.kinds import KINDS, MOST, is_small
from schedgap.bench.records.measurement import Measurement
from schedgap.bench.records.record import LACKING, OLDER, RUN_SCHEMA, Record, Shared
from schedgap.bench.records.runs import Run, hashed, json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
_RUN_FIELDS, _MEASUREMENT_FIELDS = fields(Run), fields(Measurement)
_FIELDS = (*_RUN_FIELDS, *_MEASUREMENT_FIELDS)
_LAST = ("host", "ended_at", "isolation")
_NAMES = ("key", *(field.name for field in _FIELDS), *_LAST)
_RUN = slice(1, 1 + len(_RUN_FIELDS))
_MEASUREMENT = slice(_RUN.stop, _RUN.stop + len(_MEASUREMENT_FIELDS))
_TEXTS = [field.name for field in _FIELDS if field.type in ("str", "str | None")]
_MAPPINGS = ("source", "parameters", "given")
# Recognised by their bytes, and checked once.
_TYPES: Mapping[str, Any] = {**KINDS, **dict.fromkeys((*_MAPPINGS, "limits"), msgspec.Raw)}
_SHARED_TEXTS = tuple(map(_NAMES.index, (*_TEXTS, "host", "isolation")))
_SOURCE, _PARAMETERS, _GIVEN, _LIMITS = map(_NAMES.index, (*_MAPPINGS, "limits"))


class Lines:
    """Reads lines and keeps once what they have in common; `shared` is for those that `Record.from_row` reads."""

    def __init__(self) -> None:
        self.shared = Shared()
        self._limits = _Parsed(KINDS["limits"], self.shared.limits)
        self._mappings = _Parsed(KINDS["parameters"], self.shared.mapping)
        self._texts: dict[str | None, str | None] = {}
        self._written = _Written()

    def record(self, line: bytes) -> Record | None:
        """Return the record of a line as this version writes it, None of any other: that may hold one all the same."""
        # Bytes that are no text would pass where nothing is made of them.
        if not line.isascii():
            return None
        try:
            return self._made(_DECODER.decode(line))
        except (msgspec.MsgspecError, RecursionError, TypeError, ValueError):
            return None

    def _made(self, line: Any) -> Record | None:
        """Return the record of a decoded line, which has an attribute for each field; None if its key is another's."""
        if not -MOST < (line.objective or 0) < MOST or not -MOST < (line.bound or 0) < MOST:
            return None
        limits, written_limits = self._limits[bytes(line.limits)]
        parameters, written_parameters = self._mappings[bytes(line.parameters)]
        written = self._written
        key = hashed(
            written[line.backend],
            written[line.backend_version],
            written[line.digest],
            written[line.family],
            written_limits,
            written[line.method],
            written_parameters,
            written[line.plugin],
            # As `json_text` writes whole numbers.
            str(line.seed),
            str(line.version),
        )
        if line.key != key:
            return None
        values = list(msgspec.structs.astuple(line))
        for place in _SHARED_TEXTS:
            text = values[place]
            values[place] = self._texts.setdefault(text, text)
        values[_SOURCE], _ = self._mappings[bytes(line.source)]
        values[_GIVEN], _ = self._mappings[bytes(line.given)]
        values[_LIMITS], values[_PARAMETERS] = limits, parameters
        return _record(key, _run(*values[_RUN]), _measurement(*values[_MEASUREMENT]), *values[_MEASUREMENT.stop :])


class _Written(dict[str | None, str]):
    """Texts as `json_text` writes them."""

    def __missing__(self, text: str | None) -> str:
        written = self[text] = json_text(text)
        return written


class _Parsed(dict[bytes, Any]):
    """What pieces of JSON stand for, and how `json_text` writes them, by their bytes.

    kind : of all pieces. make : of what a piece says.
    """

    def __init__(self, kind: Any, make: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__()
        self._kind, self._make = kind, make

    def __missing__(self, content: bytes) -> Any:
        said = msgspec.convert(json.loads(content), self._kind)
        if not is_small(said):
            raise ValueError(content)
        made = self[content] = self._make(said), json_text(said)
        return made


def _line_type(schema: str, lacking: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Return the type of a schema's lines. lacking : what an older schema may lack, and what it means by that."""
    columns = [(name, _TYPES.get(name, Any), *([lacking[name]] if name in lacking else [])) for name in _NAMES]
    return msgspec.defstruct("Line", columns, tag_field="schema", tag=schema, kw_only=True, gc=False)


def _filling(cls: type[T]) -> Callable[..., T]:
    """Return what makes a frozen dataclass of its values, in order, in a third of the time of its own constructor.

    That one sets each slot by a call, since assignment is forbidden; here a twin with the same slots is filled, and
    becomes one. For classes that neither check nor convert.
    """
    twin: Any = make_dataclass(cls.__name__, [(field.name, Any) for field in fields(cls)], slots=True)  # type: ignore[arg-type]

    def filled(*values: Any) -> T:
        made = twin(*values)
        made.__class__ = cls
        return made  # type: ignore[no-any-return]

    return filled


_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    _line_type(RUN_SCHEMA, LACKING) | _line_type("schedgap/run/1", OLDER["schedgap/run/1"])
)
_run, _measurement, _record = _filling(Run), _filling(Measurement), _filling(Record)
