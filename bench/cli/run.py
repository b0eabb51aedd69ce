"""`schedgap run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from schedgap.bench.api import run_suite
from schedgap.bench.cli.options import (
    AsJson,
    Audit,
    Depends,
    Jobs,
    Plugins,
    Policies,
    Programs,
    Stochastic,
    complete_suite,
    given_plugins,
)
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.runs import show_forecast
from schedgap.bench.cli.show import finish, show_suite
from schedgap.bench.forecast import Retry, forecast
from schedgap.bench.statistics.headlines.gap import contradictions_to_published


def run(
    suite: Annotated[
        str,
        typer.Argument(
            help="Name of a shipped suite (`schedgap list suites`) or path of a TOML file.",
            autocompletion=complete_suite,
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Directory of the journal; runs/SUITE by default.")] = None,
    jobs: Jobs = None,
    plugin: Plugins = None,
    program: Programs = None,
    policy: Policies = None,
    depends: Depends = None,
    stochastic: Stochastic = False,
    trace: Annotated[Path | None, typer.Option("--trace", help="Trace file for suites that can use one.")] = None,
    retry: Annotated[
        Retry,
        typer.Option(
            "--retry",
            help="Recorded runs to do again: none, errors (crashed, error), failed (and timeout, memory, invalid).",
        ),
    ] = "errors",
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Do all runs again, although they are recorded; later rows replace earlier ones."),
    ] = False,
    executor: Annotated[
        Literal["process", "dask", "ray", "slurm"],
        typer.Option("--executor", help="process: on this machine; dask, ray, slurm: on the cluster at --address."),
    ] = "process",
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Of the cluster, such as tcp://HOST:8786 for dask; options of sbatch for slurm: partition=short,time=60.",
        ),
    ] = None,
    audit: Audit = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "-k",
            metavar="EXPR",
            help="Only runs with EXPR in the name of method, instance or group (A|B: either; * and ? as in file names); "
            "repeatable: all must match. The others stay missing.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and how long it may take; run and write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table; failures are told.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell of each run when it has ended.")] = False,
    isolation: Annotated[
        Literal["process-group", "runexec"],
        typer.Option("--isolation", help="How runs are kept apart; runexec: by BenchExec, where it is installed."),
    ] = "process-group",
    shard: Annotated[
        str | None,
        typer.Option("--shard", metavar="K/N", help="Do one of N equal parts only, such as 3/40; join all by `merge`."),
    ] = None,
    solutions: Annotated[
        Path | None,
        typer.Option("--solutions", help="Directory for the verified solutions and certificates of the runs done now."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a suite, or what is missing of it, and print its table."""
    asked: dict[str, Any] = {
        "out": out,
        "jobs": jobs,
        "plugins": given_plugins(plugin, program, policy, depends=depends, stochastic=stochastic),
        "trace": trace,
        "retry": retry,
        "fresh": fresh,
        "only": only or (),
        "audit": audit,
        "isolation": isolation,
        "shard": shard,
    }
    if dry_run:
        expected = forecast(suite, **asked)
        if as_json:
            typer.echo(json.dumps(expected.to_json(), allow_nan=False))
        else:
            show_forecast(expected)
        return
    with ProgressBar(f"suite {suite}", quiet=quiet, verbose=verbose) as bar:
        where: dict[str, Any] = {"executor": executor, "address": address, "solutions": solutions}
        result = run_suite(suite, on_progress=bar.show, **where, **asked)
    if as_json:
        typer.echo(json.dumps(result.to_json(), allow_nan=False))
    elif result.records and not quiet:
        show_suite(result)
    if shard is not None and not result.records and not result.undone:
        # More shards than runs: this one has nothing to do, and that is no fault.
        return
    finish(result.records, result.audit, result.undone, contradictions_to_published(result.suite, result.records))
