"""`schedgap list`: what there is to choose from."""

# ruff: noqa: TC001 - typer reads the annotations when the program runs.

from __future__ import annotations

import inspect
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.cli.options import AsJson, Plugins
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.host import package_version
from schedgap.bench.statistics.tables import console, plain_table
from schedgap.bench.suites.suite import read_suite, shipped_suites
from schedgap.formulations.backends.dispatch import BACKENDS
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY
from schedgap.instances.traces import TRACES

if TYPE_CHECKING:
    from pathlib import Path


class Kind(StrEnum):
    """What can be listed."""

    SUITES = "suites"
    METHODS = "methods"
    BACKENDS = "backends"
    INSTANCES = "instances"
    TRACES = "traces"


def list_things(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """List suites, methods, solver back ends, instance generators and formats, or public traces."""
    makers = {
        Kind.SUITES: _suites,
        Kind.METHODS: lambda: _methods(plugin or []),
        Kind.BACKENDS: _backends,
        Kind.INSTANCES: _instances,
        Kind.TRACES: _traces,
    }
    rows: list[dict[str, Any]] = makers[kind]()
    if as_json:
        typer.echo(json.dumps({str(kind): rows}))
        return
    for row in rows:
        _show_choices(row)
    titles = list(rows[0]) if rows else []
    console().print(plain_table("", titles, [[_shown(row[title]) for title in titles] for row in rows]))


def _suites() -> list[dict[str, Any]]:
    suites = (read_suite(name)[0] for name in shipped_suites())
    return [{"name": suite.name, "family": suite.family, "question": suite.question} for suite in suites]


def _methods(plugins: list[Path]) -> list[dict[str, Any]]:
    load_families()
    load_catalogue(sorted(FAMILIES), [str(path) for path in plugins])
    return [
        {
            "family": method.family,
            "name": method.name,
            "version": method.version,
            "proves": "optimum" if method.exact else "bound" if method.bounds else "",
            "parameters": dict(method.parameters),
            "choices": dict(method.choices),
            "summary": method.summary,
        }
        for _, method in sorted(REGISTRY.items())
    ]


def _backends() -> list[dict[str, Any]]:
    return [
        {
            "name": backend.name,
            "solver": backend.solver,
            "package": backend.package,
            "version": package_version(backend.package) or "not installed",
            "takes": ", ".join(kind for kind, can in (("LP", backend.lp), ("MIP", backend.mip)) if can),
        }
        for backend in BACKENDS.values()
    ]


def _instances() -> list[dict[str, Any]]:
    load_families()
    rows = []
    for family in FAMILIES.values():
        for kind, makers in (("generator", family.generators), ("import format", family.importers)):
            for name, maker in makers.items():
                parameters = inspect.signature(maker).parameters.values()
                rows.append(
                    {
                        "family": family.name,
                        "kind": kind,
                        "name": name,
                        "parameters": {p.name: p.default for p in parameters if p.default is not p.empty},
                        "summary": (inspect.getdoc(maker) or "").split("\n")[0],
                    }
                )
    return rows


def _traces() -> list[dict[str, Any]]:
    return [
        {
            "name": trace.name,
            "family": trace.family,
            "format": trace.importer,
            "file": trace.file_name,
            "about": trace.about,
        }
        for trace in TRACES.values()
    ]


def _show_choices(row: dict[str, Any]) -> None:
    """Show what a method's parameter may be behind its default: `backend=highs|scip|cbc`."""
    for name, choices in row.pop("choices", {}).items():
        default = row["parameters"][name]
        row["parameters"][name] = "|".join([default, *(choice for choice in choices if choice != default)])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    return str(value)
