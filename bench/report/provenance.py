"""Where the figures come from: the command, the hosts, the versions of methods and solvers, the limits."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from schedgap.bench.report.figures.budget import Budget, clipped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.suites.results import Results


@dataclass(frozen=True, slots=True)
class HostView:
    """A host by its ID: how many runs it did, and facts as pairs of name and text."""

    identity: str
    runs: int
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MethodView:
    """What exactly ran: version, back end, all parameters, limits; texts."""

    label: str
    version: str
    backend: str
    parameters: str
    limits: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """command : that does the same again; empty if the directory does not say."""

    command: str
    directory: str
    seed: int | None
    since: str
    until: str
    isolation: str
    hosts: tuple[HostView, ...]
    methods: tuple[MethodView, ...]
    left_out: int


def build_provenance(results: Results, budget: Budget) -> Provenance:
    """Return where the figures come from."""
    records = results.records
    ended = sorted(record.ended_at for record in records)
    runs: dict[str, int] = {}
    for record in records:
        runs[record.host] = runs.get(record.host, 0) + 1
    room = max(1, budget.rows // 10)
    hosts = [HostView(name, count, _facts(results.hosts.get(name), budget)) for name, count in runs.items()]
    methods = _methods(records, budget)
    return Provenance(
        clipped(shlex.join(results.command), 10 * budget.text),
        str(results.directory),
        results.suite.seed if results.suite is not None else None,
        _moment(ended[0]),
        _moment(ended[-1]),
        ", ".join(sorted({record.isolation for record in records})),
        tuple(hosts[:room]),
        tuple(methods[:room]),
        max(0, len(hosts) - room) + max(0, len(methods) - room),
    )


def _facts(facts: Mapping[str, Any] | None, budget: Budget) -> tuple[tuple[str, str], ...]:
    """Return what is known of a host, all fields that its file has."""
    if facts is None:
        return (("facts", "its file is missing in hosts/"),)
    shown = [(key.replace("_", " "), _words(value)) for key, value in facts.items() if key != "schema"]
    return tuple((name, clipped(text, budget.text)) for name, text in shown)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return "unknown" if value is None else str(value)


def _methods(records: Sequence[Record], budget: Budget) -> list[MethodView]:
    """Return a view of each method; of two where version, back end or limits differ between runs."""
    runs = {(r.run.label, r.run.version, r.run.backend, r.run.backend_version, r.run.limits): r.run for r in records}
    return [
        MethodView(
            clipped(run.label, budget.text),
            str(run.version),
            "" if run.backend is None else f"{run.backend} {run.backend_version or ''}".strip(),
            clipped(", ".join(f"{key} {_words(value)}" for key, value in run.parameters.items()), budget.text),
            ", ".join(f"{key} {value:g}" for key, value in asdict(run.limits).items() if value is not None),
        )
        for run in runs.values()
    ]


def _moment(text: str) -> str:
    """Return an ISO 8601 moment to the minute."""
    return text[:16].replace("T", " ") + " UTC"
