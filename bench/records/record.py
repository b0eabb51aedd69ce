"""One row of the journal: a run, how it ended, where and when; `docs/bench.md` documents the fields."""

from __future__ import annotations

import marshal
from dataclasses import asdict, dataclass, fields, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.kinds import checked
from schedgap.bench.records.measurement import Measurement
from schedgap.bench.records.runs import Limits, Run
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_SCHEMA = "schedgap/run/2"
# What rows of this schema may lack: methods of ours have no plug-in, and older versions wrote fewer fields.
LACKING: Mapping[str, Any] = {"plugin": None, "solution_hash": None, "takes_limit": None, "confined": ()}
# What an older schema lacks, and what it meant by that.
OLDER: Mapping[str, Mapping[str, Any]] = {
    "schedgap/run/1": {"stochastic": False, "reference_s": None, "measures": {}, **LACKING},
}
# How runs are kept apart from the harness and from each other.
PROCESS_GROUP = "process-group"
RUNEXEC = "runexec"
ISOLATIONS = (PROCESS_GROUP, RUNEXEC)
_RUN = itemgetter(*(field.name for field in fields(Run)))
_MEASUREMENT = itemgetter(*(field.name for field in fields(Measurement)))
# The newest that writes equal content of equal types as equal bytes, whoever else refers to it.
MARSHAL_VERSION = 2


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


@dataclass(frozen=True, slots=True, repr=False)
class Record:
    """A recorded run. host : names the file `hosts/HOST.json` beside the journal. ended_at : UTC, ISO 8601."""

    key: str
    run: Run
    measurement: Measurement
    host: str
    ended_at: str
    isolation: str = PROCESS_GROUP

    def __repr__(self) -> str:
        run, found = self.run, self.measurement
        family = FAMILIES.get(run.family)
        scale, unit = (1, "") if family is None else (family.objective_scale, f" {family.objective_unit}")
        figures = {"objective": found.objective, "bound": found.bound}
        facts = [str(found.status)]
        facts += [f"{name} {value / scale:,.6g}{unit}" for name, value in figures.items() if value is not None]
        facts += [] if found.wall_s is None else [f"{found.wall_s:.3g} s"]
        return f"<Record {run.label:.80} on {run.instance:.80}: {', '.join(facts)}>"

    @property
    def status(self) -> Status:
        """Return how the run ended."""
        return self.measurement.status

    def to_row(self) -> dict[str, Any]:
        """Return the record as a flat JSON object."""
        run = asdict(self.run)
        for name in ("plugin", "takes_limit"):
            if run[name] is None:
                del run[name]
        return {
            "schema": RUN_SCHEMA,
            "key": self.key,
            **run,
            **asdict(self.measurement),
            "host": self.host,
            "ended_at": self.ended_at,
            "isolation": self.isolation,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], shared: Shared | None = None) -> Record:
        """Return the record of a JSON object; `KeyError`, `TypeError` or `ValueError` if it is none, or has another's key.

        Rows of an older schema get what they lack; they stay as they are in their file.
        shared : of the rows read before, so that what they have in common is kept once.
        """
        shared = shared or Shared()
        full = dict(row)
        schema = full["schema"]
        full = {**(LACKING if schema == RUN_SCHEMA else OLDER[schema]), **full}
        checked(full)
        full["limits"] = shared.limits(full["limits"])
        full["digest"] = shared.text(full["digest"])
        full["source"] = shared.mapping(full["source"])
        full["parameters"] = shared.mapping(full["parameters"])
        full["given"] = shared.mapping(full["given"])
        full["status"] = Status(full["status"])
        full["trajectory"] = tuple(map(tuple, full["trajectory"]))
        full["confined"] = tuple(full["confined"])
        run = Run(*_RUN(full))
        if run.key != full["key"]:
            raise ValueError(f"its key is {full['key']!r:.60}, its own parts make it '{run.key}'")
        return cls(
            full["key"],
            run,
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
