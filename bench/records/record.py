"""One row of the journal: a run, how it ended, where and when; `docs/bench.md` documents the fields."""

from __future__ import annotations

import marshal
import math
from dataclasses import asdict, dataclass, fields, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.measurement import Measurement
from schedgap.bench.records.runs import Limits, Run
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_SCHEMA = "schedgap/run/2"
# What an older schema lacks, and what it meant by that.
OLDER: Mapping[str, Mapping[str, Any]] = {"schedgap/run/1": {"stochastic": False, "reference_s": None, "measures": {}}}
# How runs are kept apart from the harness and from each other.
PROCESS_GROUP = "process-group"
RUNEXEC = "runexec"
_RUN = itemgetter(*(field.name for field in fields(Run)))
_MEASUREMENT = itemgetter(*(field.name for field in fields(Measurement)))
# The newest that writes equal content of equal types as equal bytes, whoever else refers to it.
MARSHAL_VERSION = 2
# What verdicts and figures are computed from: of another type, it would be compared as what it is not.
_WHOLE, _WHOLE_TYPES = ("objective", "bound"), frozenset({int, type(None)})
_REAL, _REAL_TYPES = ("wall_s", "reference_s"), frozenset({int, float, type(None)})
_STATUSES = {str(status): status for status in Status}


class Shared:
    """What many rows have in common, kept once; without it a large journal would not fit into memory."""

    def __init__(self) -> None:
        self._mappings: dict[bytes, Mapping[str, Any]] = {}
        self._limits: dict[bytes, Limits] = {}
        self._texts: dict[str, str] = {}

    def mapping(self, value: dict[str, Any]) -> Mapping[str, Any]:
        """Return the first mapping of the same content; `True`, `1` and `1.0` are equal and yet not the same."""
        return self._mappings.setdefault(marshal.dumps(value, MARSHAL_VERSION), value)

    def limits(self, value: dict[str, Any]) -> Limits:
        """Return the limits that a mapping tells of."""
        content = marshal.dumps(value, MARSHAL_VERSION)
        known = self._limits.get(content)
        if known is None:
            known = self._limits[content] = Limits(**value)
        return known

    def text(self, value: str) -> str:
        """Return the first equal text."""
        return self._texts.setdefault(value, value)


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded run. host : names the file `hosts/HOST.json` beside the journal. ended_at : UTC, ISO 8601."""

    key: str
    run: Run
    measurement: Measurement
    host: str
    ended_at: str
    isolation: str = PROCESS_GROUP

    @property
    def status(self) -> Status:
        """Return how the run ended."""
        return self.measurement.status

    def to_row(self) -> dict[str, Any]:
        """Return the record as a flat JSON object."""
        return {
            "schema": RUN_SCHEMA,
            "key": self.key,
            **asdict(self.run),
            **asdict(self.measurement),
            "host": self.host,
            "ended_at": self.ended_at,
            "isolation": self.isolation,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], shared: Shared | None = None) -> Record:
        """Return the record of a JSON object; `KeyError`, `TypeError` or `ValueError` if it is none.

        Rows of an older schema get what they lack; they stay as they are in their file.
        shared : of the rows read before, so that what they have in common is kept once.
        """
        shared = shared or Shared()
        full = dict(row)
        schema = full["schema"]
        if schema != RUN_SCHEMA:
            full = {**OLDER[schema], **full}
        full["limits"] = shared.limits(full["limits"])
        full["digest"] = shared.text(full["digest"])
        full["source"] = shared.mapping(full["source"])
        full["parameters"] = shared.mapping(full["parameters"])
        full["given"] = shared.mapping(full["given"])
        full["status"] = _STATUSES.get(full["status"]) or Status(full["status"])
        full["trajectory"] = tuple(map(tuple, full["trajectory"]))
        for name in _WHOLE:
            if type(full[name]) not in _WHOLE_TYPES:
                raise TypeError(f"{name} is {full[name]!r}, not a whole number")
        for name in _REAL:
            value = full[name]
            if type(value) not in _REAL_TYPES:
                raise TypeError(f"{name} is {value!r}, not a number")
            if value is not None and not math.isfinite(value):
                raise ValueError(f"{name} is {value!r}")
        return cls(
            full["key"],
            Run(*_RUN(full)),
            Measurement(*_MEASUREMENT(full)),
            full["host"],
            full["ended_at"],
            full["isolation"],
        )

    def invalidated(self, reason: str) -> Record:
        """Return the record with the status `invalid`."""
        return replace(self, measurement=replace(self.measurement, status=Status.INVALID, reason=reason))

    def renamed(self, key: str, label: str) -> Record:
        """Return the record under another key, with another label of the method."""
        return replace(self, key=key, run=replace(self.run, label=label))
