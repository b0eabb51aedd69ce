"""`schedgap run` and `schedgap gap`."""

# ruff: noqa: TC001, TC003 - typer reads the annotations when the program runs.

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedgap.bench.cli.options import AsJson, Audit, InstanceFile, Jobs, Plugins
from schedgap.bench.records.runs import MAX_MEMORY_MIB, MAX_TIME_LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedgap.bench.checks.audit import Audit as Opinion
    from schedgap.bench.records.record import Record

SOME_FAILED = 3
NOTHING_MEASURED = 4


class Executor(StrEnum):
    """Where runs are done."""

    PROCESS = "process"
    DASK = "dask"
    RAY = "ray"


class Isolation(StrEnum):
    """How runs are kept apart."""

    PROCESS_GROUP = "process-group"
    RUNEXEC = "runexec"


class Retry(StrEnum):
    """Which recorded runs to do again."""

    NONE = "none"
    ERRORS = "errors"
    FAILED = "failed"


def run(
    suite: Annotated[
        str, typer.Argument(help="Name of a shipped suite (`schedgap list suites`) or path of a TOML file.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Directory of the journal; runs/SUITE by default.")] = None,
    jobs: Jobs = None,
    plugin: Plugins = None,
    trace: Annotated[Path | None, typer.Option("--trace", help="Trace file for suites that can use one.")] = None,
    retry: Annotated[
        Retry,
        typer.Option(
            "--retry",
            help="Recorded runs to do again: none, errors (crashed, error), failed (and timeout, memory, invalid).",
        ),
    ] = Retry.ERRORS,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Do all runs again, although they are recorded; later rows replace earlier ones."),
    ] = False,
    executor: Annotated[
        Executor, typer.Option("--executor", help="process: on this machine; dask, ray: on the cluster at --address.")
    ] = Executor.PROCESS,
    address: Annotated[
        str | None, typer.Option("--address", help="Of the cluster, such as tcp://HOST:8786 for dask.")
    ] = None,
    audit: Audit = False,
    isolation: Annotated[
        Isolation,
        typer.Option("--isolation", help="How runs are kept apart; runexec: by BenchExec, where it is installed."),
    ] = Isolation.PROCESS_GROUP,
    as_json: AsJson = False,
) -> None:
    """Run a suite, or what is missing of it, and print its table."""
    from schedgap.bench.api import run_suite
    from schedgap.bench.cli.progress import ProgressBar

    with ProgressBar(f"suite {suite}") as bar:
        result = run_suite(
            suite,
            out=out,
            jobs=jobs,
            plugins=plugin or (),
            trace=trace,
            retry=retry.value,
            fresh=fresh,
            executor=executor.value,
            address=address,
            audit=audit,
            isolation=isolation.value,
            on_progress=bar.show,
        )
    if as_json:
        typer.echo(json.dumps(result.to_json(), allow_nan=False))
    else:
        from schedgap.bench.statistics.suite_tables import show_suite

        show_suite(result)
        _show_audit(result.audit)
    _finish(result.records, result.audit)


def gap(
    instance: InstanceFile,
    method: Annotated[list[str], typer.Option("--method", "-m", help="NAME or NAME[parameter=value,...]; repeatable.")],
    bound: Annotated[
        str | None, typer.Option("--bound", help="Method to prove the bound with, if none of the methods does.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0, max=MAX_TIME_LIMIT_S, help="Seconds that each method may use.")
    ] = 60.0,
    memory: Annotated[
        int | None,
        typer.Option("--memory", min=1, max=MAX_MEMORY_MIB, help="MiB that each run may use; 4096 by default."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Base seed of stochastic methods.")] = 0,
    jobs: Jobs = None,
    plugin: Plugins = None,
    solutions: Annotated[
        Path | None,
        typer.Option("--solutions", help="New directory for the verified solutions, one JSON file a method."),
    ] = None,
    audit: Audit = False,
    as_json: AsJson = False,
) -> None:
    """Run methods on one instance; print cost, proven bound and gap of each."""
    from schedgap.bench import api
    from schedgap.bench.cli.progress import ProgressBar
    from schedgap.bench.source import family_of_file
    from schedgap.instances.errors import SolutionError
    from schedgap.instances.family import find_family

    family = find_family(family_of_file(instance))
    loaded = family.read_instance(instance)
    if solutions is not None and solutions.exists():
        raise SolutionError(f"{solutions} exists and is not written over; give a new directory.")
    with ProgressBar(str(instance)) as bar:
        result = api.gap(
            loaded,
            method,
            family=family.name,
            bound=bound,
            time_limit_s=time_limit,
            seed=seed,
            jobs=jobs,
            plugins=plugin or (),
            memory_mib=memory,
            solutions=solutions,
            audit=audit,
            on_progress=bar.show,
        )
    if as_json:
        typer.echo(json.dumps(result.to_json(), allow_nan=False))
    else:
        from schedgap.bench.statistics.tables import show_gap

        show_gap(result, family.objective_unit)
        _show_audit(result.audit)
    _finish(result.records, result.audit)


def _show_audit(opinion: Opinion | None) -> None:
    if opinion is not None:
        typer.echo(opinion.line())


def _finish(records: Iterable[Record], opinion: Opinion | None = None) -> None:
    """Say on stderr what failed, and leave with the exit code that design and scripts agree on."""
    from schedgap.bench.records.measurement import FAILED
    from schedgap.bench.statistics.summary import is_measured
    from schedgap.bench.statistics.tables import failures

    known: list[Any] = list(records)
    for line in failures(known):
        typer.echo(line, err=True)
    disagreements = () if opinion is None else opinion.disagreements
    for line in (*disagreements, *(() if opinion is None else opinion.not_compared)):
        typer.echo(f"audit: {line}", err=True)
    if not is_measured(known):
        typer.echo("nothing was measured: no run ended with a result.", err=True)
        raise typer.Exit(NOTHING_MEASURED)
    if disagreements or any(record.status in FAILED for record in known):
        raise typer.Exit(SOME_FAILED)
