"""`schedgap floor`."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedgap.bench.cli.ending import NOTHING_MEASURED, SOME_FAILED
from schedgap.bench.cli.options import AsJson, Force, Jobs, Memory, pairs_of, refuse_existing
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.floor import floor as bracket
from schedgap.bench.floor import floor_lines
from schedgap.bench.isolation.spawners import prepare_spawner
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S
from schedgap.bench.suites.source import Source, family_of_file
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import DEFAULT_FAMILY, find_family

if TYPE_CHECKING:
    from schedgap.bench.floor import Floor

# There is no plan: something is short, or a method says so.
CANNOT_BE_HAD = 5


def floor(
    state: Annotated[
        list[Path],
        typer.Argument(help="An instance file, or with --catalogue what `kubectl get pods,nodes -A -o json` printed."),
    ],
    time: Annotated[
        float, typer.Option("--time", min=0, max=MAX_TIME_LIMIT_S, help="Seconds for the plan; half for other points.")
    ] = 60.0,
    disruption: Annotated[
        float | None,
        typer.Option(
            "--disruption",
            "--moves",
            min=0,
            help="So much may be disrupted, in tasks that move; by default as the file says, else any.",
        ),
    ] = None,
    catalogue: Annotated[
        Path | None, typer.Option("--catalogue", help="Price list; STATE then is a Kubernetes cluster.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="parameter=value of the reader of clusters (`schedgap list instances --long`); repeatable."
        ),
    ] = None,
    front: Annotated[bool, typer.Option(help="Look at other limits on disruption, too.")] = True,
    memory: Memory = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="New directory: instance.json, plan.json, floor.json, floor.svg."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say what a running cluster pays above the least that anybody could, with a plan.

    Exit codes: 0 there is a plan, 2 wrong input, 3 a run failed, 4 no plan was found, 5 there is none: what is asked for
    cannot be had.
    """
    if out is not None:
        refuse_existing(out, force=force)
    # A process that imports methods, while this one reads.
    prepare_spawner([DEFAULT_FAMILY], given_limits(time_limit_s=time, memory_mib=memory).threads)
    instance, family = _loaded(state, catalogue, setting or [])
    with ProgressBar(str(state[0]), step="point") as bar:
        found = bracket(
            instance,
            family=family,
            time_limit_s=time,
            max_disruption=None if disruption is None else floored(disruption, family),
            front=front,
            jobs=jobs,
            memory_mib=memory,
            on_progress=bar.show,
        )
    _answer(found, out, as_json=as_json)
    raise typer.Exit(exit_code(found))


def floored(disruption: float, family: str) -> int:
    """Return an amount of disruption in the units of a family's clusters, rounded down."""
    cluster = find_family(family).cluster
    return int(disruption) if cluster is None else math.floor(Fraction(disruption) * cluster.disruption_scale)


def _answer(found: Floor, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        _write(found, out)
    typer.echo(json.dumps(found.to_json(), allow_nan=False) if as_json else "\n".join(floor_lines(found)))


def exit_code(found: Floor) -> int:
    """Return what scripts are told."""
    if found.shortage is not None or found.is_infeasible:
        return CANNOT_BE_HAD
    if found.problems:
        return SOME_FAILED
    return NOTHING_MEASURED if found.chosen.plan is None else 0


def _loaded(state: list[Path], catalogue: Path | None, settings: list[str]) -> tuple[object, str]:
    """Return the instance and its family's name."""
    if catalogue is None:
        if len(state) > 1 or settings:
            raise InstanceError("several files, and --set, are for a cluster; name its price list by --catalogue.")
        family = family_of_file(state[0])
        return find_family(family).read_instance(state[0]), family
    parameters = pairs_of([f"catalogue={catalogue}", *settings])
    load_families()
    source = Source(DEFAULT_FAMILY, "importer", "kubernetes", state[0], parameters, tuple(state[1:]))
    return source.build(), DEFAULT_FAMILY


def _write(found: Floor, folder: Path) -> None:
    # matplotlib takes long to import, and only this needs it.
    from schedgap.bench.report.floor_figure import floor_svg

    folder.mkdir(parents=True, exist_ok=True)
    found.family.write_instance(found.instance, folder / "instance.json")
    if found.chosen.plan is not None:
        assert found.family.cluster is not None
        found.family.cluster.write_plan(found.instance, found.chosen.plan, list(found.drain), folder / "plan.json")
    (folder / "floor.json").write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / "floor.svg").write_bytes(floor_svg(found))
