"""`schedgap floor`."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedgap.bench.cli.options import AsJson, Force, Jobs, Memory, pairs_of, refuse_existing
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.show import NOTHING_MEASURED, SOME_FAILED
from schedgap.bench.floor import floor as bracket
from schedgap.bench.floor import floor_lines, floor_over, over_lines
from schedgap.bench.isolation.handle import prepare_spawner
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S
from schedgap.bench.suites.source import Source, family_of_file
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import DEFAULT_FAMILY, find_family

if TYPE_CHECKING:
    from schedgap.bench.floor import Floor, Past

# There is no plan: something is short, or a method says so.
CANNOT_BE_HAD = 5
# Whose instances have a past.
PAST_FAMILY = "reconfiguration"


def floor(
    state: Annotated[
        list[Path],
        typer.Argument(help="An instance file, or with --catalogue what `kubectl get pods,nodes -A -o json` printed."),
    ],
    over: Annotated[
        bool,
        typer.Option(
            "--over", help="STATE is a past: a folder of snapshots, answers of Prometheus, or a log. What did it cost?"
        ),
    ] = False,
    time: Annotated[
        float,
        typer.Option(
            "--time",
            min=0,
            max=MAX_TIME_LIMIT_S,
            help="Seconds for the plan; half for other points. With --over, of each method.",
        ),
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
    prepare_spawner(
        [PAST_FAMILY if over else DEFAULT_FAMILY], given_limits(time_limit_s=time, memory_mib=memory).threads
    )
    instance, family = _loaded(state, catalogue, setting or [], PAST_FAMILY if over else DEFAULT_FAMILY)
    if over:
        with ProgressBar(str(state[0])) as bar:
            past = floor_over(
                instance, family=family, time_limit_s=time, jobs=jobs, memory_mib=memory, on_progress=bar.show
            )
        if out is not None:
            _write_past(past, out)
        typer.echo(json.dumps(past.to_json(), allow_nan=False) if as_json else "\n".join(over_lines(past)))
        raise typer.Exit(SOME_FAILED if past.problems else NOTHING_MEASURED if past.plan.price is None else 0)
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


def _loaded(state: list[Path], catalogue: Path | None, settings: list[str], family: str) -> tuple[object, str]:
    """Return the instance and its family's name. family : of what is read with a price list."""
    if catalogue is None:
        if len(state) > 1 or settings:
            raise InstanceError("several files, and --set, are for a cluster; name its price list by --catalogue.")
        own = family_of_file(state[0])
        return find_family(own).read_instance(state[0]), own
    parameters = pairs_of([f"catalogue={catalogue}", *settings])
    load_families()
    source = Source(family, "importer", "kubernetes", state[0], parameters, tuple(state[1:]))
    return source.build(), family


def _write_past(found: Past, folder: Path) -> None:
    # As below.
    from schedgap.bench.report.floor_figure import over_svg

    folder.mkdir(parents=True, exist_ok=True)
    found.family.write_instance(found.instance, folder / "instance.json")
    if found.solution is not None:
        found.family.write_solution(found.instance, found.solution, folder / "plan.json")
    (folder / "floor.json").write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / "floor.svg").write_bytes(over_svg(found))


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
