"""`schedgap capacity`."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from schedgap.bench.capacity import Capacity, capacity_lines
from schedgap.bench.capacity import capacity as capacity_of
from schedgap.bench.capacity.text import first_lines
from schedgap.bench.cli.floor import CANNOT_BE_HAD
from schedgap.bench.cli.options import AsJson, Force, Jobs, Memory, refuse_existing
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.show import NOTHING_MEASURED, SOME_FAILED
from schedgap.bench.isolation.handle import prepare_spawner
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S
from schedgap.bench.suites.source import Source, family_of_file, names_schema
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import find_family
from schedgap.instances.placement import FAMILY, PlacementInstance
from schedgap.instances.placement.stranded import with_shape


def capacity(
    state: Annotated[
        list[Path],
        typer.Argument(
            help="What `kubectl get pods,nodes -A -o json` printed (files or a folder), KAI's snapshot (.zip), nodes.csv or "
            "its folder, or an instance file of placement."
        ),
    ],
    pod: Annotated[
        str, typer.Option("--pod", help="A pod of which more are asked for: cpu=4,gpu=1,memory=16Gi,model=A100.")
    ] = "",
    moves: Annotated[
        int | None,
        typer.Option(
            "--moves", min=0, help="So many pods that run may move; by default as the file says, else any number."
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", min=0, max=MAX_TIME_LIMIT_S, help="Seconds for all that is searched and proven."),
    ] = 60.0,
    memory: Memory = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="New directory: instance.json, plan.json, capacity.json, capacity.svg."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say what a running cluster could hold: what is stranded, what fits, and what no moves make fit, proven.

    Exit codes: 0 all that waits fits, or nothing waits, 2 wrong input, 3 a run failed, 4 it is not known whether all that
    waits fits, 5 it is proven not to, or that no pod of --pod fits.
    """
    if out is not None:
        refuse_existing(out, force=force)
    # A process that imports methods, while this one reads.
    prepare_spawner([FAMILY], given_limits(time_limit_s=time_limit, memory_mib=memory).threads)
    instance, shape = loaded(state), None
    if pod:
        instance, shape = with_shape(instance, pod)
    with ProgressBar(str(state[0]), step="point") as bar:
        found = capacity_of(
            instance,
            shape=shape,
            max_moves=moves,
            time_limit_s=time_limit,
            jobs=jobs,
            memory_mib=memory,
            on_progress=bar.show,
            on_first=None if as_json else _tell_first,
        )
    if out is not None:
        _write(found, out)
    typer.echo(json.dumps(found.to_json(), allow_nan=False) if as_json else "\n".join(capacity_lines(found)))
    raise typer.Exit(exit_code(found))


def _tell_first(known: Capacity) -> None:
    """Print what is known at once, for whoever waits; it is printed again with all that came later."""
    if sys.stderr.isatty():
        typer.echo("\n".join([*first_lines(known), ""]), err=True)


def exit_code(found: Capacity) -> int:
    """Return what scripts are told."""
    asked = found.more if found.is_given else found.pending
    if asked is not None:
        best, _ = asked.least()
        wanted = 1 if found.is_given else asked.asked
        if best.at_most < wanted:
            return CANNOT_BE_HAD
        if best.found < wanted:
            return SOME_FAILED if found.problems else NOTHING_MEASURED
    return SOME_FAILED if found.problems else 0


def loaded(state: list[Path]) -> PlacementInstance:
    """Return the instance of a state: a file of ours, or one that an importer of placement reads."""
    load_families()
    path = state[0]
    if path.suffix == ".csv" or (path / "nodes.csv").is_file():
        kind = "csv"
    elif path.suffix == ".zip" or (path / "snapshot.json").is_file():
        kind = "kai-snapshot"
    elif not path.is_dir() and names_schema(path):
        if (family := family_of_file(path)) != FAMILY:
            raise InstanceError(
                f"{path} is an instance of family {family}; give one of {FAMILY}, or a cluster's state."
            )
        kind = ""
    else:
        kind = "kubernetes"
    if not kind:
        if len(state) > 1:
            raise InstanceError(f"{len(state)} files are given, the first an instance; give one.")
        made = find_family(FAMILY).read_instance(path)
    else:
        made = Source(FAMILY, "importer", kind, path, more_paths=tuple(state[1:])).build()
    assert isinstance(made, PlacementInstance)
    return made


def _write(found: Capacity, folder: Path) -> None:
    # matplotlib takes long to import, and only this needs it.
    figure = import_module("schedgap.bench.report.capacity_figure")
    folder.mkdir(parents=True, exist_ok=True)
    family, planned = find_family(FAMILY), found.plan()
    # Of a plan, what it answers: what runs, and the pods that ask.
    family.write_instance(found.instance if planned is None else planned[0].instance, folder / "instance.json")
    if planned is not None:
        family.write_solution(planned[0].instance, planned[1].plan, folder / "plan.json")
    (folder / "capacity.json").write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / "capacity.svg").write_bytes(figure.capacity_svg(found))
