"""`schedgap floor`."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from schedgap.bench.cli.options import AsJson, Force, Jobs, Memory, pairs_of, refuse_existing
from schedgap.bench.cli.progress import ProgressBar
from schedgap.bench.cli.show import NOTHING_MEASURED, SOME_FAILED
from schedgap.bench.floor import Bill, Floor, floor_lines, floor_over, over_lines
from schedgap.bench.floor import floor as bracket
from schedgap.bench.isolation.handle import prepare_spawner
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.runs import MAX_TIME_LIMIT_S
from schedgap.bench.suites.source import Source, family_of_file
from schedgap.bench.suites.suite import given_limits
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import DEFAULT_FAMILY, find_family

# There is no plan: something is short, or a method says so.
CANNOT_BE_HAD = 5
# Whose instances have a past.
PAST_FAMILY = "reconfiguration"

State = Annotated[
    list[Path],
    typer.Argument(help="An instance file, or with --catalogue what `kubectl get pods,nodes -A -o json` printed."),
]
IsPast = Annotated[
    bool, typer.Option("--over", help="STATE is a past: a folder of snapshots, answers of Prometheus, or a log.")
]
Time = Annotated[
    float,
    typer.Option(
        "--time",
        "--time-limit",
        min=0,
        max=MAX_TIME_LIMIT_S,
        help="Seconds for the plan, half for other points; of each method with --over.",
    ),
]
Most = Annotated[
    float | None,
    typer.Option(
        "--disruption",
        "--moves",
        min=0,
        help="So much may be disrupted, in tasks that move; by default as the file says, else any.",
    ),
]
Prices = Annotated[Path | None, typer.Option("--catalogue", help="Price list; STATE then is a Kubernetes cluster.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="parameter=value of the reader of clusters (`schedgap list instances --long`); repeatable."
    ),
]
Front = Annotated[bool, typer.Option(help="Look at other limits on disruption, too.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="New directory: instance.json, plan.json, floor.json, floor.svg.")
]


def floor(
    state: State,
    over: IsPast = False,
    time: Time = 60.0,
    disruption: Most = None,
    catalogue: Prices = None,
    setting: Settings = None,
    front: Front = True,
    memory: Memory = None,
    jobs: Jobs = None,
    out: Out = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say what a running cluster pays above the least that anybody could, with a plan.

    With --over: what a cluster cost over days, and what it could have.

    Exit codes: 0 there is a plan, 2 wrong input, 3 a run failed, 4 no plan was found, 5 there is none: what is asked for
    cannot be had.
    """
    if out is not None:
        refuse_existing(out, force=force)
    asked = PAST_FAMILY if over else DEFAULT_FAMILY
    # A process that imports methods, while this one reads.
    prepare_spawner([asked], given_limits(time_limit_s=time, memory_mib=memory).threads)
    instance, family = _loaded(state, catalogue, setting or [], asked)
    found: Floor | Bill
    with ProgressBar(str(state[0]), step="" if over else "point") as bar:
        how: dict[str, Any] = {
            "family": family,
            "time_limit_s": time,
            "jobs": jobs,
            "memory_mib": memory,
            "on_progress": bar.show,
        }
        if over:
            found = floor_over(instance, **how)
        else:
            most = None if disruption is None else floored(disruption, family)
            found = bracket(instance, max_disruption=most, front=front, **how)
    if out is not None:
        _write(found, out)
    lines = over_lines(found) if isinstance(found, Bill) else floor_lines(found)
    typer.echo(json.dumps(found.to_json(), allow_nan=False) if as_json else "\n".join(lines))
    raise typer.Exit(exit_code(found))


def floored(disruption: float, family: str) -> int:
    """Return an amount of disruption in the units of a family's clusters, rounded down."""
    cluster = find_family(family).cluster
    return int(disruption) if cluster is None else math.floor(Fraction(disruption) * cluster.disruption_scale)


def exit_code(found: Floor | Bill) -> int:
    """Return what scripts are told."""
    if isinstance(found, Floor) and (found.shortage is not None or found.is_infeasible):
        return CANNOT_BE_HAD
    if found.problems:
        return SOME_FAILED
    return NOTHING_MEASURED if found.best_plan is None else 0


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


def _write(found: Floor | Bill, folder: Path) -> None:
    # matplotlib takes long to import, and only this needs it.
    from schedgap.bench.report.floor_figure import floor_svg, over_svg

    folder.mkdir(parents=True, exist_ok=True)
    found.family.write_instance(found.instance, folder / "instance.json")
    if found.best_plan is not None:
        found.write_plan(folder / "plan.json")
    (folder / "floor.json").write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
    (folder / "floor.svg").write_bytes(over_svg(found) if isinstance(found, Bill) else floor_svg(found))
