"""`schedgap generate`, `import`, `verify`, `export`, `fetch`: instances, solutions and models as files."""

# ruff: noqa: TC001, TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedgap.bench.cli.options import AsJson, Force, InstanceFile, OutFile, Parameters

if TYPE_CHECKING:
    from schedgap.bench.source import Source


def generate(
    family: Annotated[str, typer.Argument(help="Family of problems, such as provisioning.")],
    generator: Annotated[str, typer.Argument(help="Name of a generator (`schedgap list instances`).")],
    out: OutFile,
    parameters: Parameters = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Generate a seeded instance and write it as JSON."""
    from schedgap.bench.source import Source

    source = Source(family, "generator", generator, None, _pairs(parameters or []))
    _write(source, out, force=force, as_json=as_json)


def import_trace(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="Format of the trace (`schedgap list traces`).")],
    trace: Annotated[Path, typer.Argument(help="The trace file.")],
    out: OutFile,
    parameters: Parameters = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn a trace into an instance."""
    from schedgap.bench.discover import load_families
    from schedgap.bench.source import Source
    from schedgap.instances.errors import InstanceError
    from schedgap.instances.family import FAMILIES

    load_families()
    readers = {name: family.name for family in FAMILIES.values() for name in family.importers}
    if format_name not in readers:
        raise InstanceError(f"there is no import format '{format_name}'; known are {', '.join(sorted(readers))}.")
    source = Source(readers[format_name], "importer", format_name, trace, _pairs(parameters or []))
    _write(source, out, force=force, as_json=as_json)


def verify(
    instance: InstanceFile,
    solution: Annotated[Path, typer.Argument(help="A solution file of it.")],
    as_json: AsJson = False,
) -> None:
    """Recompute feasibility and cost of a solution; exit 2 and the first violation if it is infeasible."""
    from schedgap.bench.discover import load_methods
    from schedgap.bench.source import family_of_file
    from schedgap.instances.family import find_family

    family = find_family(family_of_file(instance))
    # A formulation may be needed to find what an objective is measured against; it is proven by `verify` itself.
    load_methods([family.name])
    loaded = family.read_instance(instance)
    objective = family.verify(loaded, family.read_solution(loaded, solution)) / family.objective_scale
    if as_json:
        content = {"instance": loaded.name, "digest": loaded.digest, "feasible": True, "objective": objective}
        typer.echo(json.dumps(content))
    else:
        typer.echo(f"feasible, objective {objective:g} {family.objective_unit}")


def export(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("--formulation", help="Name of a formulation.")],
    file_format: Annotated[str, typer.Option("--format", help="mps or lp.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; the instance's name and the format by default.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a formulation of an instance as a model file for any other solver."""
    from schedgap.bench.discover import load_methods
    from schedgap.bench.source import family_of_file
    from schedgap.formulations.export import find_model_builder, write_model
    from schedgap.instances.family import find_family

    family = find_family(family_of_file(instance))
    load_methods([family.name])
    builder = find_model_builder(family.name, formulation)
    path = out or instance.with_name(f"{instance.stem}-{formulation}.{file_format}")
    _refuse_existing(path, force=force)
    model = builder(family.read_instance(instance))
    write_model(model, path, file_format)
    rows, columns = model.matrix.shape
    typer.echo(f"{path}: {columns} variables, {rows} rows, {model.matrix.nnz} entries")


def fetch(
    trace: Annotated[str, typer.Argument(help="Name of a public trace (`schedgap list traces`).")],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Directory; the user's cache by default.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="A mirror, in place of the public home.")] = None,
) -> None:
    """Download a public trace, check its SHA-256 and print where it is."""
    from schedgap.instances.traces import fetch as download

    typer.echo(str(download(trace, folder, base_url=base_url)))


def _pairs(texts: list[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise typer.BadParameter(f"'{text}' is not parameter=value")
        if key in pairs:
            raise typer.BadParameter(f"'{key}' is given twice, as '{pairs[key]}' and '{value}'")
        pairs[key] = value
    return pairs


def _refuse_existing(path: Path, *, force: bool) -> None:
    from schedgap.instances.errors import InstanceError

    if path.exists() and not force:
        raise InstanceError(f"{path} exists and is not written over; choose another name or give --force.")


def _write(source: Source, out: Path, *, force: bool, as_json: bool) -> None:
    from schedgap.bench.discover import load_families
    from schedgap.instances.family import find_family
    from schedgap.instances.files import arrays_beside

    load_families()
    family = find_family(source.family)
    _refuse_existing(out, force=force)
    # A large instance also writes its arrays beside the file.
    _refuse_existing(arrays_beside(out), force=force)
    instance = source.build()
    family.write_instance(instance, out)
    if as_json:
        typer.echo(json.dumps({"instance": instance.name, "digest": instance.digest, "path": str(out)}))
    else:
        typer.echo(f"{out}: {instance.name}, digest {instance.digest[:12]}")
    for note in getattr(instance, "notes", ()):
        typer.echo(note, err=True)
