"""`schedgap export` and `schedgap schema`: what other programs read."""

# ruff: noqa: TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.cli.options import Force, InstanceFile, refuse_existing
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.schemas import json_schema
from schedgap.bench.suites.source import family_of_file
from schedgap.formulations.export import find_model_builder, write_model
from schedgap.instances.family import find_family


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
    family = find_family(family_of_file(instance))
    load_methods([family.name])
    builder = find_model_builder(family.name, formulation)
    path = out or instance.with_name(f"{instance.stem}-{formulation}.{file_format}")
    refuse_existing(path, force=force)
    model = builder(family.read_instance(instance))
    write_model(model, path, file_format)
    rows, columns = model.matrix.shape
    typer.echo(f"{path}: {columns} variables, {rows} rows, {model.matrix.nnz} entries")


def schema(
    name: Annotated[
        str, typer.Argument(help="Such as schedgap/provisioning/1; `schedgap list schemas` names them all.")
    ],
) -> None:
    """Print the JSON Schema of a file format, for editors and checkers."""
    typer.echo(json.dumps(json_schema(name), indent=1))
