"""JSON Schemas of the files and lines that others write or read, made of the models by which they are checked.

A schema tells what may stand where; that names are known, columns equally long and amounts whole is checked by the reader
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import TypeAdapter

from schedgap.bench.certify import problem as certificates
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs import exchange as answers
from schedgap.bench.programs import run as protocol
from schedgap.bench.records import host
from schedgap.bench.records.journal import KINDS, VERDICT_SCHEMA
from schedgap.bench.records.runs import LACKING, RUN_SCHEMA
from schedgap.bench.statistics import history
from schedgap.bench.suites import bounds, results, suite
from schedgap.instances.documents import DOCUMENTS
from schedgap.instances.errors import InstanceError, did_you_mean, first_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Of formats that are no instance and no solution.
ABOUT = {
    certificates.SCHEMA: "a proof of a lower bound",
    suite.SCHEMA: "a suite, which is written as TOML",
    RUN_SCHEMA: "a run: a line of a journal",
    VERDICT_SCHEMA: "claims that contradict each other: a line of a journal",
    results.PLAN_SCHEMA: "the plan of a suite's runs, beside their journal",
    host.HOST_SCHEMA: "a machine that did runs, and its software",
    history.SCHEMA: "an entry of a history: a line",
    bounds.SCHEMA: "what is proven of a suite's instances, with which candidates of a search are scored",
    answers.SCHEMA: "what a program prints that solves an instance",
    protocol.SCHEMA: "what a program prints that is asked at each decision, a line each",
}


def schema_names() -> dict[str, str]:
    """Return the name of each format, and what is written in it."""
    load_families()
    files = {name: "a solution" if "-solution/" in name else "an instance" for name in sorted(DOCUMENTS)}
    return files | ABOUT


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format, such as `schedgap/provisioning/1`.

    Raises
    ------
    InstanceError
        naming the formats there are.
    """
    known = schema_names()
    if name not in known:
        near = did_you_mean(name, known)
        raise InstanceError(
            f"there is no schema '{name}'; {near}known are {first_of(list(known))}; `schedgap list schemas` has all."
        )
    made = DOCUMENTS[name].adapter.json_schema() if name in DOCUMENTS else _of_the_harness(name)
    return {"$schema": DIALECT, **made, "title": name, "description": known[name]}


def _of_the_harness(name: str) -> dict[str, Any]:
    if name == certificates.SCHEMA:
        return certificates.ADAPTER.json_schema()
    if name == suite.SCHEMA:
        return suite.Suite.model_json_schema()
    if name == bounds.SCHEMA:
        return bounds.ADAPTER.json_schema()
    if name == results.PLAN_SCHEMA:
        return TypeAdapter(results.PlanDocument).json_schema()
    kinds: Mapping[str, list[Any]] = {
        RUN_SCHEMA: [_row(name, KINDS)],
        VERDICT_SCHEMA: [_row(name, {"keys": list[str], "reason": str})],
        host.HOST_SCHEMA: [host.HostFacts],
        history.SCHEMA: [history.Entry],
        answers.SCHEMA: [_readable(answers.Answer)],
        protocol.SCHEMA: [protocol.Greeting, _readable(protocol.Answer)],
    }
    rows, shared = msgspec.json.schema_components(kinds[name], ref_template="#/$defs/{name}")
    return {**(rows[0] if len(rows) == 1 else {"anyOf": list(rows)}), "$defs": shared}


def _row(name: str, kinds: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Return the type of a journal's rows; further fields are for later versions."""
    columns = [(key, kind, *([LACKING[key]] if key in LACKING else [])) for key, kind in kinds.items()]
    return msgspec.defstruct("Row", columns, tag_field="schema", tag=name, kw_only=True)


def _readable(model: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return the type of a program's line with what is read later as anything, a bound as a number."""
    columns: list[Any] = []
    for field in msgspec.structs.fields(model):
        kind = float | None if field.name == "bound" else Any if field.type is msgspec.Raw else field.type
        given = None if isinstance(field.default, msgspec.Raw) else field.default
        columns.append((field.name, kind) if field.required else (field.name, kind, given))
    return msgspec.defstruct(model.__name__, columns, forbid_unknown_fields=True, kw_only=True)
