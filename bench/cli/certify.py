"""`schedgap certify`: whether a certificate proves its bound."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from schedgap.bench.certify.nodes import Nodes, check_file
from schedgap.bench.certify.problem import Problem, read_certificate
from schedgap.bench.certify.spells import OverTime
from schedgap.bench.cli.options import AsJson
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.suites.source import Source
from schedgap.instances.errors import InstanceError, SolutionError, one_line
from schedgap.instances.family import DEFAULT_FAMILY

NOT_PROVEN = 3
PLACEMENT, OVER_TIME = "placement", "reconfiguration"
# Import formats by the ending of a file's name; other files are JSON instances.
FORMATS = {".vbp": "vbp", ".txt": "bpplib"}


def certify(
    certificate: Annotated[Path, typer.Argument(help="A certificate file.")],
    instance: Annotated[
        Path | None,
        typer.Argument(help="Its instance: .json, .vbp or BPPLIB's .txt; by default named as in it, and beside it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a proof of a lower bound, by code of its own; exit 3 and the first gap of the proof if there is one."""
    given = read_certificate(certificate)
    file = instance or _beside(certificate, given["instance"])
    start = perf_counter()
    problem, finding = check_file(file, given)
    seconds = perf_counter() - start
    if "digest" not in given:
        # A packing set's file has no name of its own.
        if file.suffix not in FORMATS and problem.name != given["instance"]:
            raise SolutionError(
                f"{certificate.name}: is of instance '{given['instance']:.60}', {file.name} is '{problem.name!s:.60}'; give "
                "the instance that it was made for."
            )
    elif given["digest"] != (found := _digest(file, _family(problem))):
        raise SolutionError(
            f"{certificate.name}: is of an instance with digest {given['digest'][:12]}..., {file.name} has "
            f"{found[:12]}...; give the instance that it was made for."
        )
    is_proven = finding.reason is None
    if as_json:
        content = {"instance": problem.name, "proven": is_proven, "bound": float(given["bound"])}
        figures = {"nodes": finding.nodes, "leaves": finding.leaves, "contents": finding.contents}
        typer.echo(json.dumps({**content, **figures, "time_s": seconds, "reason": finding.reason}))
    elif is_proven:
        said = f"proven: no solution of {problem.name} is below {given['bound']}; {finding.nodes} nodes, "
        typer.echo(one_line(f"{said}{finding.leaves} leaves, {finding.contents} contents, {seconds:.2f} s"))
    else:
        typer.echo(one_line(f"not proven: {finding.reason}"))
    if not is_proven:
        raise typer.Exit(NOT_PROVEN)


def _family(problem: Problem | Nodes | OverTime) -> str:
    return PLACEMENT if isinstance(problem, Nodes) else OVER_TIME if isinstance(problem, OverTime) else DEFAULT_FAMILY


def _beside(certificate: Path, name: str) -> Path:
    files = [certificate.with_name(f"{name}{ending}") for ending in (".json", *FORMATS)]
    there = [file for file in files if Path(name).name == name and file.is_file()]
    if not there:
        raise InstanceError(f"{certificate}: no file of its instance '{name:.100}' is beside it; give its path, too.")
    return there[0]


def _digest(file: Path, family: str) -> str:
    """Return the digest of an instance as all other commands read it."""
    load_families()
    name = FORMATS.get(file.suffix, "")
    digest: str = Source(family, "importer" if name else "file", name, file).build().digest
    return digest
