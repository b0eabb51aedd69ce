"""Options that several commands share, and what a shell completes of them: names of suites, families and methods."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from schedgap.bench.programs.program import Kind, Program, parse_program
from schedgap.bench.records.runs import MAX_MEMORY_MIB
from schedgap.bench.suites.shipped import shipped_suites, suite_rows
from schedgap.instances.errors import InstanceError, MethodError, one_line

Plugins = Annotated[
    list[Path] | None, typer.Option("--plugin", help="Python file with methods of your own; repeatable.")
]
Programs = Annotated[
    list[str] | None,
    typer.Option("--program", help="NAME=COMMAND: a program that reads an instance and prints a solution; repeatable."),
]
Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", help="NAME=COMMAND: a program that is asked at each decision, over a pipe; repeatable."),
]
Depends = Annotated[
    list[str] | None,
    typer.Option("--depends", help="NAME=FILE: a file of a program that its command does not name; repeatable."),
]
Stochastic = Annotated[bool, typer.Option("--stochastic", help="The programs' answers depend on SCHEDGAP_SEED.")]
Solutions = Annotated[
    list[str] | None,
    typer.Option("--solution", help="PATH or NAME=PATH: a solution that was made elsewhere; repeatable."),
]
Memory = Annotated[
    int | None,
    typer.Option("--memory", min=1, max=MAX_MEMORY_MIB, help="MiB that each run may use; 4096 by default."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Runs at a time; one a processor by default.")]
Audit = Annotated[
    bool,
    typer.Option("--audit", help="Solve each model that has several back ends by another one too, and compare."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
InstanceFile = Annotated[Path, typer.Argument(help="An instance file.")]
OutFile = Annotated[Path, typer.Option("--out", "-o", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Write over an existing file.")]
Parameters = Annotated[list[str] | None, typer.Argument(help="parameter=value ...")]


def given_plugins(
    plugins: list[Path] | None,
    programs: list[str] | None = None,
    policies: list[str] | None = None,
    solutions: list[str] | None = None,
    *,
    depends: list[str] | None = None,
    stochastic: bool = False,
) -> list[Path | Program]:
    """Return what `--plugin`, `--program`, `--policy` and `--solution` name.

    depends : NAME=FILE. stochastic : all programs are.

    Raises
    ------
    MethodError
        as `Program.make`, and for files of a program that is not there.
    """
    files: dict[str, list[str]] = {}
    for text in depends or ():
        name, _, file = text.partition("=")
        files.setdefault(name, []).append(file)
    kinds = ((Kind.METHOD, programs), (Kind.POLICY, policies), (Kind.SOLUTION, solutions))
    found = [
        parse_program(text, kind, depends=files.get(text.partition("=")[0], ()), stochastic=stochastic)
        for kind, texts in kinds
        for text in texts or ()
    ]
    for name in files.keys() - {program.name for program in found}:
        raise MethodError(
            f"--depends: no program is called '{name:.60}'; give NAME=FILE, with the name of a --program."
        )
    return [*(plugins or ()), *found]


def pairs_of(texts: list[str]) -> dict[str, Any]:
    """Return the values of `parameter=value` by parameter; each may be given once."""
    pairs: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise typer.BadParameter(one_line(f"'{text}' is not parameter=value"))
        if key in pairs:
            raise typer.BadParameter(one_line(f"'{key}' is given twice, as '{pairs[key]}' and '{value}'"))
        pairs[key] = value
    return pairs


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise `InstanceError` where a file is there already."""
    if path.exists() and not force:
        raise InstanceError(f"{path} exists and is not written over; choose another name or give --force.")


def complete_suite(incomplete: str) -> list[str]:
    """Return the shipped suites that begin so."""
    return [name for name in shipped_suites() if name.startswith(incomplete)]


def complete_family(incomplete: str) -> list[str]:
    """Return the families that begin so; each has a suite."""
    return sorted({row["family"] for row in suite_rows() if row["family"].startswith(incomplete)})


def complete_method(incomplete: str) -> list[str]:
    """Return the methods of all families that begin so; this imports them, which takes a second or two."""
    rows = import_module("schedgap.bench.cli.listed").methods([])
    return sorted({row["name"] for row in rows if row["name"].startswith(incomplete)})
