"""Slurm's job accounting (`sacct --parsable2`) as jobs on rented machines that a plan may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.delays import PHASES, pairwise_throughput, shown_interference
from schedgap.instances.reconfiguration.readers.machines import RESOURCES, machine_list
from schedgap.instances.reconfiguration.trace import Trace, on_types
from schedgap.instances.slurm import Job, Log, core_hours, kind_note, read_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

WORKLOAD = "job"


def slurm(
    path: Path | str,
    *,
    machines: str = "",
    jobs: int = 0,
    eligible: bool = True,
    interference: str = "none",
    move_s: int = 0,
    start_s: int = 0,
    acquire_s: int = 0,
    setup_s: int = 0,
    period_s: int = 300,
) -> ReconfigurationInstance:
    """Read what `sacct --parsable2` printed, plain or gzip: every run is a job, one on several nodes has a task for each.

    machines : path of a CSV file with the columns `name`, `price` ($/h), `cpu`, `ram_gib`, and if wanted `gpu`, `family`,
    `count`: there are so many of a type, and no job waits for one.
    jobs : the first so many; 0 for all. eligible : jobs arrive when they were eligible to run; false: when submitted.
    interference : `none`, or the throughput of any two jobs beside each other. move_s : to save the state of a job that
    is moved, and as long again to fetch it. start_s : until a started job progresses. acquire_s, setup_s : from a
    machine's order until it is paid, and from then until it runs jobs. period_s : between two plans.

    Raises
    ------
    InstanceError
        naming file, line, column and value of what is malformed.
    """
    if not machines:
        raise InstanceError(
            "format slurm: machines is ''; give machines=PATH, a CSV file of name, price, cpu, ram_gib."
        )
    if interference.startswith(("figure1", "artifact")):
        raise InstanceError(f"interference is '{interference}', of Eva's workloads; give none, or one number for all.")
    types = machine_list(machines)
    log = read_log(path)
    trace, notes = _trace(log, types, jobs=jobs, eligible=eligible)
    throughput = pairwise_throughput(interference, named="")
    delays = dict.fromkeys(PHASES, 0) | {"upload_s": move_s, "fetch_s": move_s, "init_s": start_s}
    return on_types(
        "-".join((log.name, *((f"{jobs}",) if jobs else ()), shown_interference(interference))),
        trace,
        types,
        (WORKLOAD,),
        None if throughput is None else throughput[:1, :1],
        acquire_s=np.full(len(types["type_names"]), acquire_s),
        setup_s=np.full(len(types["type_names"]), setup_s),
        **{phase: np.array([seconds]) for phase, seconds in delays.items()},
        period_s=period_s,
        notes=(*log.notes, *notes),
    )


def _trace(log: Log, types: Mapping[str, Any], *, jobs: int, eligible: bool) -> tuple[Trace, list[str]]:
    """Return the jobs that fit a machine type, in order of arrival, and what is to be said of the others."""
    demand, num_tasks = _demand(log.jobs)
    capacity: IntArray = np.array(types["capacity"], np.int64)
    fits: BoolArray = np.any((demand[:, None, :] <= capacity).all(axis=2), axis=1)
    come_s = np.array([job.eligible_s if eligible else job.submit_s for job in log.jobs], np.int64)
    kept = np.flatnonzero((num_tasks > 0) & fits)
    kept = kept[np.argsort(come_s[kept], kind="stable")]
    if not 0 <= jobs <= kept.size or not kept.size:
        raise InstanceError(
            f"{log.name}: jobs is {jobs}, and {kept.size} of {len(log.jobs)} fit a machine type; give 0 for all that "
            "fit, or add a type."
        )
    kept = kept[: jobs or kept.size]
    trace = Trace(
        arrival_s=come_s[kept] - min(log.jobs[j].submit_s for j in kept),
        work_s=np.array([log.jobs[j].elapsed_s for j in kept], np.int64),
        demand=np.repeat(demand[kept, None], len(types["families"]), axis=1),
        workload=np.zeros(kept.size, np.int64),
        num_tasks=num_tasks[kept],
    )
    groups = {
        "left out, cores or GPUs do not divide evenly among their nodes": np.flatnonzero(num_tasks == 0),
        "left out, larger than every machine type": np.flatnonzero((num_tasks > 0) & ~fits),
        "on several nodes, each with an equal part of the job": np.sort(kept[num_tasks[kept] > 1]),
    }
    notes = []
    for kind, members in groups.items():
        if members.size:
            held = [log.jobs[j] for j in members]
            hours = f"{kind}, {core_hours(held):.1f} of {core_hours(log.jobs):.1f} core-hours"
            notes.append(kind_note(log.name, hours, [job.job_id for job in held]))
    return trace, notes


def _demand(jobs: tuple[Job, ...]) -> tuple[IntArray, IntArray]:
    """(J, R), (J,) int64: what a task needs, in integer units, and how many tasks a job has.

    A job's cores and GPUs are those of its nodes together: where they do not divide evenly there are no tasks.
    """
    nodes = np.array([job.nodes for job in jobs], np.int64)
    held = np.array([(job.gpus, job.cores) for job in jobs], np.int64)
    memory = np.array([job.memory_mib for job in jobs], np.int64)
    even = (held % nodes[:, None] == 0).all(axis=1)
    # As `RESOURCES` has them: thousandths, thousandths, MiB.
    demand = np.column_stack((held // nodes[:, None] * 1000, -(-memory // nodes)))
    assert demand.shape[1] == len(RESOURCES)
    return demand, np.where(even, nodes, 0)
