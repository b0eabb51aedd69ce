"""The rows of `schedgap list` that take longer than those of suites: what is imported here is not light."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.host import package_version
from schedgap.bench.schemas import schema_names
from schedgap.formulations.backends import pulp_models
from schedgap.formulations.backends.dispatch import BACKENDS, PULP, find_backend
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY
from schedgap.instances.traces import TRACES


def families(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the families of problems: this package's, those that are installed, and those of `--family`."""
    load_families()
    rows = []
    for family in FAMILIES.values():
        module = sys.modules[family.instance.__module__]
        is_ours = module.__name__.startswith("schedgap.")
        # Of ours the package says what it is, of others the file.
        about = sys.modules[str(module.__package__)].__doc__ if is_ours else module.__doc__
        rows.append(
            {
                "family": family.name,
                "unit": family.objective_unit,
                "from": "schedgap" if is_ours else str(module.__file__),
                "about": (about or "").strip().split("\n")[0],
            }
        )
    return rows


def methods(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the methods, plug-ins' too."""
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


def backends(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the solver back ends, our own and the solvers that PuLP finds here."""
    found = (find_backend(f"{PULP}{name}") for name in pulp_models.found_solvers())
    return [
        {
            "name": backend.name,
            "solver": backend.solver,
            "package": backend.package,
            "version": package_version(backend.package) or "not installed",
            "takes": ", ".join(kind for kind, can in (("LP", backend.lp), ("MIP", backend.mip)) if can),
        }
        for backend in (*BACKENDS.values(), *found)
    ]


def instances(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the generators of instances and the formats that can be read."""
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


def traces(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the public traces."""
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


def schemas(plugins: list[Path]) -> list[dict[str, Any]]:
    """Return the formats of files and lines that have a JSON Schema."""
    return [{"name": name, "about": about} for name, about in schema_names().items()]
