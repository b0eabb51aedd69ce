"""`schedgap check`: whether a method keeps what every method promises."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from schedgap.bench.api import Progress
from schedgap.bench.checks.contract import check_methods
from schedgap.bench.cli.options import (
    AsJson,
    Depends,
    Jobs,
    Plugins,
    Policies,
    Programs,
    Stochastic,
    complete_family,
    complete_method,
    given_plugins,
)
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.show import show_table
from schedgap.bench.programs.program import programs_among
from schedgap.bench.statistics.tables import Head
from schedgap.instances.errors import MethodError
from schedgap.instances.family import DEFAULT_FAMILY

NOT_KEPT = 1
HEADS = (Head("check", is_text=True), Head("result", is_text=True), Head("detail", is_text=True, is_prose=True))


def check(
    method: Annotated[
        str | None,
        typer.Argument(
            help="NAME or NAME[parameter=value,...]; that of the program, if there is one.",
            autocompletion=complete_method,
        ),
    ] = None,
    plugin: Plugins = None,
    program: Programs = None,
    policy: Policies = None,
    depends: Depends = None,
    stochastic: Stochastic = False,
    family: Annotated[
        str, typer.Option("--family", help="The method's family of problems.", autocompletion=complete_family)
    ] = DEFAULT_FAMILY,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Try a method on small instances and say which of a method's promises it keeps; exit code 1 if it breaks one."""
    plugins = given_plugins(plugin, program, policy, depends=depends, stochastic=stochastic)
    named = [each.name for each in programs_among(plugins)]
    method = method or next(iter(named), None)
    if method is None:
        raise MethodError("nothing is to be checked; give the name of a method, --program or --policy.")
    with ProgressBar(f"check {method}") as bar:
        (checked,) = check_methods(
            [method],
            family=family,
            plugins=plugins,
            jobs=jobs,
            on_progress=lambda done, total: bar.show(Progress(done, total, None)),
        )
    if as_json:
        typer.echo(json.dumps(checked.to_json(), allow_nan=False))
    else:
        rows = [(each.check, str(each.result), each.detail) for each in checked.checks]
        title = f"{checked.method} of family {checked.family} on {len(checked.instances)} instances"
        show_table(title, HEADS, rows)
    if not checked.is_passed:
        raise typer.Exit(NOT_KEPT)
