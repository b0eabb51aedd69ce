"""`schedgap gap`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench import api
from schedgap.bench.cli.options import (
    AsJson,
    Audit,
    Depends,
    InstanceFile,
    Jobs,
    Memory,
    Plugins,
    Policies,
    Programs,
    Solutions,
    Stochastic,
    complete_method,
    given_plugins,
)
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.show import finish, show_gap
from schedgap.bench.programs.program import programs_among
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S
from schedgap.bench.suites.source import family_of_file
from schedgap.instances.errors import MethodError, SolutionError
from schedgap.instances.family import find_family


def gap(
    instance: InstanceFile,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", "-m", help="NAME or NAME[parameter=value,...]; repeatable.", autocompletion=complete_method
        ),
    ] = None,
    bound: Annotated[
        str | None,
        typer.Option(
            "--bound",
            help="Method to prove a bound with, beside those given; without it one is chosen where none of them does.",
            autocompletion=complete_method,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0, max=MAX_TIME_LIMIT_S, help="Seconds that each method may use.")
    ] = 60.0,
    memory: Memory = None,
    seed: Annotated[int, typer.Option("--seed", help="Base seed of stochastic methods.")] = 0,
    jobs: Jobs = None,
    plugin: Plugins = None,
    program: Programs = None,
    policy: Policies = None,
    depends: Depends = None,
    stochastic: Stochastic = False,
    solution: Solutions = None,
    solutions: Annotated[
        Path | None,
        typer.Option(
            "--solutions", help="New directory for the verified solutions and certificates, a JSON file a method."
        ),
    ] = None,
    audit: Audit = False,
    as_json: AsJson = False,
) -> None:
    """Run methods on one instance; print cost, proven bound and gap of each."""
    family = find_family(family_of_file(instance))
    loaded = family.read_instance(instance)
    plugins = given_plugins(plugin, program, policy, solution, depends=depends, stochastic=stochastic)
    if not method and not programs_among(plugins):
        raise MethodError("nothing is to be measured; give --method, --program, --policy or --solution.")
    if solutions is not None and solutions.exists():
        raise SolutionError(f"{solutions} exists and is not written over; give a new directory.")
    with ProgressBar(str(instance)) as bar:
        result = api.gap(
            loaded,
            method or (),
            family=family.name,
            bound=bound,
            time_limit_s=time_limit,
            seed=seed,
            jobs=jobs,
            plugins=plugins,
            memory_mib=memory,
            solutions=solutions,
            audit=audit,
            on_progress=bar.show,
        )
    if as_json:
        typer.echo(json.dumps(result.to_json(), allow_nan=False))
    else:
        show_gap(result)
    finish(result.records, result.audit)
