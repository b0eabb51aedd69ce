"""One row of the journal: a run, how it ended, where and when; `docs/bench.md` documents the fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from schedgap.bench.measurement import Measurement
from schedgap.bench.runs import Limits, Run
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_SCHEMA = "schedgap/run/2"
# What an older schema lacks, and what it meant by that.
OLDER: Mapping[str, Mapping[str, Any]] = {"schedgap/run/1": {"stochastic": False, "reference_s": None, "measures": {}}}
# How runs are kept apart from the harness and from each other.
PROCESS_GROUP = "process-group"
_RUN_FIELDS = tuple(field.name for field in fields(Run))
_MEASUREMENT_FIELDS = tuple(field.name for field in fields(Measurement))


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
    def from_row(cls, row: dict[str, Any]) -> Record:
        """Return the record of a JSON object; `KeyError`, `TypeError` or `ValueError` if it is none.

        Rows of an older schema get what they lack; they stay as they are in their file.
        """
        row = {**OLDER.get(row["schema"], {}), **row}
        run = {name: row[name] for name in _RUN_FIELDS}
        run["limits"] = Limits(**run["limits"])
        measurement = {name: row[name] for name in _MEASUREMENT_FIELDS}
        measurement["status"] = Status(measurement["status"])
        measurement["trajectory"] = tuple(map(tuple, measurement["trajectory"]))
        return cls(row["key"], Run(**run), Measurement(**measurement), row["host"], row["ended_at"], row["isolation"])

    def invalidated(self, reason: str) -> Record:
        """Return the record with the status `invalid`."""
        return replace(self, measurement=replace(self.measurement, status=Status.INVALID, reason=reason))
