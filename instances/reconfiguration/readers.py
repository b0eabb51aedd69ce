"""Readers of job traces: CSV, Slurm, and a public pod list.

Jobs of a trace as a CSV file, the form in which Eva's traces are passed around.

A user's own machine types, from a CSV file.

Slurm's job accounting (`sacct --parsable2`) as jobs on rented machines that a plan may change.

Alibaba's cluster-trace-gpu-v2023 as the jobs of Eva's simulations (section 6.1).

The recipe is that of the authors' trace generator, bit for bit: legacy NumPy exponentials for the arrivals, Python's
generator for durations and workloads, both seeded alike. With the defaults it is the trace of Table 14. With the pods' own
durations, dealt anew with seed 2, the default of the authors' generator, No-Packing costs what Table 13 says: it is likely,
but published nowhere, that its jobs are these.
"""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, first_true
from schedgap.instances.csv_table import exact_units, read_rows, whole_number
from schedgap.instances.documents.openings import lines_of, open_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, fits_ec2
from schedgap.instances.provisioning.readers.alibaba import PodList, read_pods
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.reconfiguration.delays import (
    PHASES,
    in_whole_iterations,
    pairwise_throughput,
    shown_interference,
    trace_names,
    workload_names,
)
from schedgap.instances.reconfiguration.generators import column_rng
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance
from schedgap.instances.reconfiguration.trace import (
    AS_DRAWN,
    GAVEL_LONG,
    GAVEL_SHORT,
    GAVEL_SHORT_SHARE,
    Trace,
    arrivals,
    mix_parts,
    on_ec2,
    on_types,
    tasks_of_jobs,
    with_more_gpus,
)
from schedgap.instances.slurm import Job, Log, core_hours, kind_note, read_log, share_of
from schedgap.instances.units import DOLLAR, resource_scale

COLUMNS = ("job", "workload", "arrival_seconds", "duration_seconds", "gpu", "cpu", "ram_gib")
# Far above any machine, and a thousandfold of it still fits into 64 bits.
LARGEST = 2**40


def eva_csv(
    path: Path | str,
    *,
    jobs: int = 0,
    whole_iterations: bool = False,
    interference: str = "artifact",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "vcpu",
) -> ReconfigurationInstance:
    """Read jobs of one task, in order of arrival, from a CSV file with the columns of `COLUMNS`.

    A workload is one of Figure 1's or of the authors' names (`sage`, `seq`); a number behind it, as in `gcn[3]`, is
    left out: classes are numbered anew by their demands. Demands are whole GPUs, cores and GiB, on every family the same.

    jobs : the first so many; 0 for all. whole_iterations, interference, migration_delay, cpu : as for `openb`.

    Raises
    ------
    InstanceError
        naming file, line and field of anything malformed, and of a job that fits no machine type.
    """
    path = Path(path)
    lines, workload, numbers = _table(path)
    if not 0 <= jobs <= len(lines):
        raise InstanceError(f"jobs is {jobs}; {path.name} has {len(lines)}: give 0 for all, or one of 1..{len(lines)}.")
    kept = slice(0, jobs or len(lines))
    table = np.array(numbers, np.int64)[kept]
    demand = table[:, 2:] * np.array([1000, 1000, 1024])
    if (j := first_true(~fits_ec2(demand, cpu))) is not None:
        gpus, cores, gib = table[j, 2:].tolist()
        raise InstanceError(
            f"{path.name} line {lines[j]}: {gpus} GPUs, {cores} cores and {gib} GiB fit no machine type with {cpu} "
            "capacities; remove the line."
        )
    if (j := first_true(np.diff(table[:, 0]) < 0)) is not None:
        raise InstanceError(
            f"{path.name} line {lines[j + 1]}: arrives at {table[j + 1, 0]} s, the line before at {table[j, 0]} s; "
            "put the jobs in order of arrival."
        )
    labels = np.array(workload[kept], np.int64)
    trace = Trace(
        arrival_s=table[:, 0],
        work_s=in_whole_iterations(table[:, 1], labels) if whole_iterations else table[:, 1],
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=labels,
        num_tasks=np.ones(table.shape[0], np.int64),
    )
    parts = (
        path.name.removesuffix(".csv"),
        *(("iterations",) if whole_iterations else ()),
        *((f"{jobs}",) if jobs else ()),
    )
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _table(path: Path) -> tuple[list[int], list[int], list[list[int]]]:
    """Return line numbers, workloads and the numbers of each job: arrival, duration, GPUs, cores, GiB."""
    names = {name: w for w, name in enumerate(workload_names())}
    names |= {called: names[name] for called, name in trace_names().items()}
    lines: list[int] = []
    workload: list[int] = []
    numbers: list[list[int]] = []
    try:
        with io.TextIOWrapper(open_given(path), newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(lines_of(file))
            header = next(reader, [])
            if tuple(header) != COLUMNS:
                raise InstanceError(
                    f"{path.name} line 1: the columns are {','.join(header)[:80]}; give {','.join(COLUMNS)}."
                )
            for row in filter(None, reader):
                where = f"{path.name} line {reader.line_num}"
                if len(row) != len(COLUMNS):
                    raise InstanceError(
                        f"{where}: {len(row)} fields, the header has {len(COLUMNS)}; mend or remove the line."
                    )
                label = re.sub(r"\[\d+\]$", "", row[1])
                if label not in names:
                    raise InstanceError(f"{where}: workload is '{row[1]:.60}'; known are {', '.join(names)}.")
                lines.append(reader.line_num)
                workload.append(names[label])
                numbers.append([_whole(where, *pair) for pair in zip(COLUMNS[2:], row[2:], strict=True)])
    except OSError as error:
        raise InstanceError(f"{path}: cannot be read ({error.strerror}); give a CSV file of jobs.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InstanceError(f"{path}: cannot be read as a UTF-8 CSV file ({error!s:.100}).") from None
    if not lines:
        raise InstanceError(f"{path.name}: no jobs after the header.")
    return lines, workload, numbers


def _whole(where: str, column: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise InstanceError(
            f"{where}: {column} is '{text:.60}', not a whole number; give one, demands rounded up."
        ) from None
    least = 1 if column == "duration_seconds" else 0
    most = MAX_TIME_S - 1 if column.endswith("_seconds") else LARGEST
    if not least <= value <= most:
        raise InstanceError(f"{where}: {column} is {text:.60}; it must lie in {least}..{most}.")
    return value


# With the units in which they count.
NEEDED = {"price": DOLLAR, "cpu": resource_scale("cpu"), "ram_gib": resource_scale("ram_gib")}
OPTIONAL = ("gpu", "family", "count")
RESOURCES = ("gpu", "cpu", "ram_gib")


def machine_list(path: Path | str) -> dict[str, Any]:
    """Return the types as keyword arguments of `ProvisioningInstance`.

    The columns are `name`, `price` in dollars an hour, `cpu` and `ram_gib`, and may be `gpu`, `family` and `count`: how many
    there are, any number where it is empty.

    Raises
    ------
    InstanceError
        naming file, line and column of what is malformed.
    """
    path = Path(path)
    families: list[str] = []
    rows: dict[str, dict[str, int]] = {}
    stock: list[int] = []
    for line, fields in read_rows(path, ("name", *NEEDED), "list of machines"):
        known = ("name", *NEEDED, *OPTIONAL)
        unknown = [column for column in fields if column not in known]
        if unknown:
            raise InstanceError(f"{path.name} line 1: unknown column '{unknown[0]:.60}'; known are {', '.join(known)}.")
        if fields["name"] in rows or not fields["name"]:
            raise InstanceError(f"{path.name} line {line}: name is '{fields['name']:.60}'; give each type its own.")
        amounts = {column: exact_units(path, line, column, fields[column], scale) for column, scale in NEEDED.items()}
        amounts["gpu"] = exact_units(path, line, "gpu", fields.get("gpu") or "0", resource_scale("gpu"))
        rows[fields["name"]] = amounts
        families.append(fields.get("family") or "any")
        count = fields.get("count")
        stock.append(whole_number(path, line, "count", count) if count else ANY_NUMBER)
    if not rows:
        raise InstanceError(f"{path.name}: no machine type after the header; give at least one.")
    known_families = tuple(dict.fromkeys(families))
    return {
        "resources": RESOURCES,
        "families": known_families,
        "type_names": tuple(rows),
        "type2family": [known_families.index(family) for family in families],
        "capacity": [[row[resource] for resource in RESOURCES] for row in rows.values()],
        "price": [row["price"] for row in rows.values()],
        "stock": stock if max(stock) >= 0 else None,
    }


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
    trace, notes, left_out = _trace(log, types, jobs=jobs, eligible=eligible)
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
        left_out=left_out,
    )


LEFT_OUT = "left out,"


def _trace(
    log: Log, types: Mapping[str, Any], *, jobs: int, eligible: bool
) -> tuple[Trace, list[str], tuple[tuple[str, float], ...]]:
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
        f"{LEFT_OUT} with cores or GPUs that do not divide evenly among their nodes": np.flatnonzero(num_tasks == 0),
        f"{LEFT_OUT} larger than every machine type": np.flatnonzero((num_tasks > 0) & ~fits),
        "on several nodes, each with an equal part of the job": np.sort(kept[num_tasks[kept] > 1]),
    }
    notes: list[str] = []
    left_out: tuple[tuple[str, float], ...] = ()
    for kind, members in groups.items():
        if members.size:
            held = [log.jobs[j] for j in members]
            if LEFT_OUT in kind:
                left_out += share_of(kind.replace(LEFT_OUT, "jobs"), held, log)
            hours = f"{kind}, {core_hours(held):.1f} of {core_hours(log.jobs):.1f} core-hours"
            notes.append(kind_note(log.name, hours, [job.job_id for job in held]))
    return trace, notes, left_out


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


Durations = Literal["gavel", "trace"]
UNSHUFFLED = -1
# The order in which the authors' generator chooses from them.
RECIPE_WORKLOADS = ("a3c", "cyclegan", "gcn", "gpt2", "openfoam", "sage", "seq", "resnet18", "vit")


def openb(
    path: Path | str,
    *,
    durations: Durations = "gavel",
    shuffle_seed: int = UNSHUFFLED,
    mean_gap_s: float = 1200.0,
    jobs: int = 0,
    whole_iterations: bool = True,
    multi_gpu: float = AS_DRAWN,
    multi_task: float = 0.0,
    interference: str = "artifact",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "vcpu",
    seed: int = 3,
) -> ReconfigurationInstance:
    """Read the pod list: pods that did not fail and fit a machine type, in the file's order, are jobs of one task.

    durations : `gavel` (Table 14), or `trace`, from a pod's creation to its deletion (Table 13).
    shuffle_seed : durations are dealt to the pods anew, by `random.Random(shuffle_seed).shuffle`; -1, each has its own.
    whole_iterations : a job ends with its last whole iteration, as in the authors' simulations.
    mean_gap_s : of the Poisson arrivals (section 6.8). migration_delay : factor of all workload delays (section 6.5).
    jobs : the first so many; 0 for all.
    multi_gpu, multi_task : shares of jobs with 2, 4 or 8 GPUs (section 6.6; -1 for the trace's own) and with 2 or 4
        tasks (section 6.7), chosen by a random stream of their own.
    interference : see `pairwise_throughput` and `stored_sets`; the default `artifact` has what the authors' simulations
        used for pairs, and takes larger sets as their products, `artifact-sets` has also what they used for those.
    cpu : capacities of the machine types. The recipe is for the 6,274 pods that fit with `vcpu`; with `physical`, which
        the authors' simulations of the first 200 jobs used, the three that do not fit are left out.

    Raises
    ------
    InstanceError
        for a malformed file, or a parameter out of range.
    """
    _check(durations, shuffle_seed, seed)
    path, pods = Path(path), read_pods(path)
    kept = np.flatnonzero(fits_ec2(pods.demand, "vcpu") & np.array([phase != "Failed" for phase in pods.phases]))
    if not 0 <= jobs <= kept.size:
        raise InstanceError(f"{path.name}: jobs is {jobs}; give 0 for all, or one of 1..{kept.size}.")
    demand = pods.demand[kept]
    arrival_s = arrivals(np.random.RandomState(seed).standard_exponential(kept.size), mean_gap_s)
    drawn_s, workload = _recipe(demand, seed)
    work_s = _dealt(drawn_s if durations == "gavel" else _lived_s(path, pods, kept), shuffle_seed)
    if whole_iterations:
        work_s = in_whole_iterations(work_s, workload)
    taken = np.flatnonzero(fits_ec2(demand[: jobs or kept.size], cpu))
    if taken.size == 0:
        raise InstanceError(f"{path.name}: no pod is left that did not fail and fits a machine type with {cpu}.")
    demand = with_more_gpus(demand[taken], multi_gpu, cpu, column_rng("openb", "multi-gpu", seed))
    trace = Trace(
        arrival_s=arrival_s[taken],
        work_s=work_s[taken],
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=workload[taken],
        num_tasks=tasks_of_jobs(demand.shape[0], multi_task, column_rng("openb", "multi-task", seed)),
    )
    shown = durations if shuffle_seed == UNSHUFFLED else f"{durations}-shuffled{shuffle_seed}"
    parts = ("openb", shown, *(("iterations",) if whole_iterations else ()), *((f"{jobs}",) if jobs else ()))
    parts += (f"gap{mean_gap_s:g}", *mix_parts(multi_gpu, multi_task), f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _lived_s(path: Path, pods: PodList, kept: IntArray) -> IntArray:
    """Return the seconds from a pod's creation to its deletion, (J,), at least one: the trace's times are whole."""
    lived_s = pods.deletion_s[kept] - pods.creation_s[kept]
    if (lived_s < 0).any():
        pod = kept[np.argmax(lived_s < 0)]
        raise InstanceError(
            f"{path.name}: pod {pods.names[pod]} is deleted at {pods.deletion_s[pod]} s, before its creation at "
            f"{pods.creation_s[pod]} s; mend or remove it."
        )
    seconds: IntArray = np.maximum(1, lived_s)
    return seconds


def _check(durations: str, shuffle_seed: int, seed: int) -> None:
    if durations not in ("gavel", "trace"):
        raise InstanceError(f"durations is 'gavel' or 'trace', not '{durations:.60}'.")
    if shuffle_seed < UNSHUFFLED:
        raise InstanceError(
            f"shuffle_seed is {shuffle_seed}; give a seed that is not negative, or -1 to leave durations."
        )
    if not 0 <= seed < 2**32:
        raise InstanceError(f"seed is {seed}; the recipe's generators take 0..{2**32 - 1}.")


def _dealt(seconds: IntArray, seed: int) -> IntArray:
    """Return the seconds, (J,), in another order, or as they are if the seed is -1."""
    dealt = seconds.tolist()
    if seed != UNSHUFFLED:
        random.Random(seed).shuffle(dealt)
    return np.array(dealt, np.int64)


def _recipe(demand: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Return the drawn seconds, (J,), and the workloads, (J,): one for each distinct demand, in order of appearance."""
    rng = random.Random(seed)
    seconds = []
    for _ in range(demand.shape[0]):
        least, most = GAVEL_SHORT if rng.random() <= GAVEL_SHORT_SHARE else GAVEL_LONG
        seconds.append(int(10 ** rng.uniform(least, most) * 60))
    names = workload_names()
    choices = [names.index(trace_names()[name]) for name in RECIPE_WORKLOADS]
    chosen: dict[tuple[int, ...], int] = {}
    for vector in map(tuple, demand.tolist()):
        if vector not in chosen:
            chosen[vector] = rng.choice(choices)
    return np.array(seconds, np.int64), np.array([chosen[tuple(v)] for v in demand.tolist()], np.int64)
