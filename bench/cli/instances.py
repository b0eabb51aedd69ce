"""`schedgap generate`, `import`, `fetch`, `verify`: instances, traces and solutions as files.

`schedgap export` and `schedgap schema`: what other programs read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from schedgap.bench.cli.options import (
    AsJson,
    Force,
    InstanceFile,
    OutFile,
    Parameters,
    complete_family,
    pairs_of,
    refuse_existing,
)
from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.bench.schemas import json_schema
from schedgap.bench.statistics.tables import number
from schedgap.bench.suites.source import Source, family_of_file
from schedgap.formulations.export import find_model_builder, write_model
from schedgap.formulations.imported import imported, read_answer
from schedgap.instances.documents.json_files import arrays_beside
from schedgap.instances.errors import InstanceError, SolutionError, did_you_mean, first_of, one_line
from schedgap.instances.family import DEFAULT_FAMILY, FAMILIES, find_family
from schedgap.instances.traces import fetch as download


def generate(
    family: Annotated[
        str, typer.Argument(help="Family of problems, such as provisioning.", autocompletion=complete_family)
    ],
    generator: Annotated[str, typer.Argument(help="Name of a generator (`schedgap list instances`).")],
    out: OutFile,
    parameters: Parameters = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Generate a seeded instance and write it as JSON."""
    source = Source(family, "generator", generator, None, pairs_of(parameters or []))
    _write(source, out, force=force, as_json=as_json)


def import_trace(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="Format (`schedgap list instances`).")],
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]... [parameter=value | --parameter value]...", help="The files, and parameters."),
    ] = None,
    *,
    out: OutFile,
    family: Annotated[
        str,
        typer.Option(
            "--family",
            help="Of the instance, where several read the format; provisioning if it does.",
            autocompletion=complete_family,
        ),
    ] = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn a trace, tables of machines and tasks, or the state of a cluster into an instance.

    `import solution ANSWER INSTANCE formulation=NAME` turns a solver's answer to an exported model into a solution.
    """
    paths, pairs = _split(given or [])
    if format_name == SOLUTION:
        _solution(paths, pairs_of(pairs), out, force=force, as_json=as_json)
        return
    path, more = (paths[0], tuple(paths[1:])) if paths else (None, ())
    source = Source(_reading(format_name, family), "importer", format_name, path, pairs_of(pairs), more)
    _write(source, out, force=force, as_json=as_json)


# The format of `import` that brings no instance.
SOLUTION = "solution"


def _solution(paths: list[Path], parameters: Mapping[str, Any], out: Path, *, force: bool, as_json: bool) -> None:
    """Write the solution that a solver's answer to an exported model means."""
    if len(paths) != 2 or parameters.keys() != {"formulation"}:
        raise SolutionError(
            f"import {SOLUTION} takes the solver's answer, the instance and formulation=NAME, as it was exported; give these."
        )
    refuse_existing(out, force=force)
    family = find_family(family_of_file(paths[1]))
    load_methods([family.name])
    loaded = family.read_instance(paths[1])
    answer = read_answer(paths[0])
    solution = imported(family, str(parameters["formulation"]), loaded, answer)
    objective = family.verify(loaded, solution) / family.objective_scale
    family.write_solution(loaded, solution, out)
    if as_json:
        content = {"instance": loaded.name, "digest": loaded.digest, "objective": objective, "path": str(out)}
        typer.echo(json.dumps(content | {"solver": answer.solver, "model_objective": answer.objective}))
        return
    said = "nothing" if answer.objective is None else f"{answer.objective:.15g} in the model's unit"
    typer.echo(f"{out}: feasible, objective {number(objective)} {family.unit_of(loaded)}; {answer.solver} says {said}")


def _split(given: list[str]) -> tuple[list[Path], list[str]]:
    """Return the files and the `parameter=value` of an import; `--parameter value` is another way to write the latter."""
    paths, pairs, rest = [], [], iter(given)
    for text in rest:
        if text.startswith("--"):
            key, separator, value = text.removeprefix("--").partition("=")
            given_value = value if separator else next(rest, None)
            if given_value is None:
                raise typer.BadParameter(one_line(f"'{text}' has no value"))
            pairs.append(f"{key.replace('-', '_')}={given_value}")
        elif text.startswith("-") and len(text) > 1:
            raise typer.BadParameter(one_line(f"there is no option '{text}'"))
        elif "=" in text and not Path(text).exists():
            pairs.append(text)
        else:
            paths.append(Path(text))
    return paths, pairs


def fetch(
    trace: Annotated[str, typer.Argument(help="Name of a public trace (`schedgap list traces`).")],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Directory; the user's cache by default.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="A mirror, in place of the public home.")] = None,
) -> None:
    """Download a public trace, check its SHA-256 and print where it is."""
    typer.echo(str(download(trace, folder, base_url=base_url)))


def verify(
    instance: InstanceFile,
    solution: Annotated[Path, typer.Argument(help="A solution file of it.")],
    as_json: AsJson = False,
) -> None:
    """Recompute feasibility and cost of a solution; exit 2 and the first violation if it is infeasible."""
    family = find_family(family_of_file(instance))
    loaded = family.read_instance(instance)
    objective = family.verify(loaded, family.read_solution(loaded, solution)) / family.objective_scale
    if as_json:
        content = {"instance": loaded.name, "digest": loaded.digest, "feasible": True, "objective": objective}
        typer.echo(json.dumps(content))
    else:
        typer.echo(f"feasible, objective {number(objective)} {family.unit_of(loaded)}")


def _reading(format_name: str, family: str) -> str:
    """Return the family that is meant by a format: the one that is asked for, the default one, or the only one that reads it."""
    load_families()
    if family:
        return family
    readers = sorted(each.name for each in FAMILIES.values() if format_name in each.importers)
    if not readers:
        formats = sorted({name for each in FAMILIES.values() for name in each.importers})
        raise InstanceError(
            f"there is no import format '{format_name}'; {did_you_mean(format_name, formats)}known are {first_of(formats)}; "
            "`schedgap list instances` has all."
        )
    if DEFAULT_FAMILY in readers:
        return DEFAULT_FAMILY
    if len(readers) > 1:
        raise InstanceError(f"format '{format_name}' is read by {', '.join(readers)}; choose one by --family.")
    return readers[0]


def _write(source: Source, out: Path, *, force: bool, as_json: bool) -> None:
    load_families()
    family = find_family(source.family)
    refuse_existing(out, force=force)
    # A large instance also writes its arrays beside the file.
    refuse_existing(arrays_beside(out), force=force)
    instance = source.build()
    family.write_instance(instance, out)
    if as_json:
        typer.echo(json.dumps({"instance": instance.name, "digest": instance.digest, "path": str(out)}))
    else:
        typer.echo(one_line(f"{out}: {instance.name}, digest {instance.digest[:12]}"))
    for note in getattr(instance, "notes", ()):
        typer.echo(one_line(note), err=True)


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
    stated = family.read_instance(instance)
    model = builder(stated)
    note = f"{family.unit_of(stated)}: the objective times {model.objective_scale / family.objective_scale!r}"
    write_model(model, path, file_format, note)
    rows, columns = model.matrix.shape
    typer.echo(f"{path}: {columns} variables, {rows} rows, {model.matrix.nnz} entries; {note}")


def schema(
    name: Annotated[
        str, typer.Argument(help="Such as schedgap/provisioning/1; `schedgap list schemas` names them all.")
    ],
) -> None:
    """Print the JSON Schema of a file format, for editors and checkers."""
    typer.echo(json.dumps(json_schema(name), indent=1))
