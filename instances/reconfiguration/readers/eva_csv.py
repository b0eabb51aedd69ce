"""Jobs of a trace as a CSV file, the form in which Eva's traces are passed around."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.documents.openings import lines_of, open_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, fits_ec2
from schedgap.instances.reconfiguration.delays import in_whole_iterations, trace_names, workload_names
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance
from schedgap.instances.reconfiguration.trace import Trace, on_ec2

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
