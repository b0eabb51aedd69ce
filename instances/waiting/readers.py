"""Readers of job logs: CSV after LSF, Slurm, and the Standard Workload Format.

Job logs in the Standard Workload Format (Chapin et al. 1999; version 2.2 of the Parallel Workloads Archive).

A line a job with 18 numbers, -1 for unknown; `;` begins the header's comments. Plain text or gzip.
"""

from __future__ import annotations

import codecs
import math
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, first_true
from schedgap.instances.csv_table import read_rows
from schedgap.instances.documents.openings import lines_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import flattened
from schedgap.instances.slurm import core_hours, kind_note, read_log, share_of
from schedgap.instances.units import SECOND_US
from schedgap.instances.unpacked import unpacked
from schedgap.instances.waiting.model import FAMILY, MAX_TOTAL_US, MAX_UNITS, WaitingInstance
from schedgap.instances.waiting.verify import DISCOUNT, MIB_PER_CORE, m5, waiting, with_history

# The share of a log's core-hours that may be in jobs larger than a fixed machine whose size is chosen by the log.
MAY_NOT_FIT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Columns of a log, (L,) each, in any order.

    dropped : lines that the reader was told to leave out. place : file and line, or job, of an entry of the columns.
    notes : what the reader has to say. left_out : see `WaitingInstance`.
    """

    name: str
    submit_s: FloatArray
    runtime_s: FloatArray
    cores: FloatArray
    memory_mib: FloatArray
    dropped: BoolArray
    place: Callable[[int], str]
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What makes an instance of a log, whatever its format: the parameters that all readers have, which `swf` describes."""

    machine_cores: int = 0
    discount: float = DISCOUNT
    jobs: int = 0
    skip: int = 0
    split: float = 0.0
    wait_price: float = 0.0
    max_wait_h: float = -1.0


OPTIONS = LogOptions()


def from_log(log: Log, options: LogOptions) -> WaitingInstance:
    """Return the instance of a log, with notes on what was left out and on jobs too large for a fixed machine.

    In `options`, machine_cores is 0 for what `cores_for` chooses, and split as `with_history` has it. Raises `InstanceError`
    if no job is left, for numbers that 64 bits do not hold, or for parameters out of range.
    """
    never_ran = ~log.dropped & ((log.runtime_s <= 0) | (log.cores <= 0))
    kept = _taken(log, never_ran, options.jobs, options.skip)
    _check_sizes(log, kept)
    submit_us = np.rint(log.submit_s[kept] * SECOND_US).astype(np.int64)
    submit_us -= submit_us[0]
    runtime_us = np.maximum(1, np.rint(log.runtime_s[kept] * SECOND_US)).astype(np.int64)
    cores = np.ceil(log.cores[kept]).astype(np.int64)
    memory_mib = np.ceil(log.memory_mib[kept]).astype(np.int64)
    work: FloatArray = np.multiply(cores, runtime_us, dtype=np.float64)
    enough = cores_for(cores, memory_mib, work)
    machine_cores = options.machine_cores or enough
    machines = m5(machine_cores, options.discount)
    large = (cores > machine_cores) | (memory_mib > machines["machine_memory_mib"])
    read = log.submit_s.shape[0]
    notes = [
        f"{log.name}: {count} of {read} jobs left out{why}."
        for count, why in (
            (int(log.dropped.sum()), " by their state"),
            (int(never_ran.sum()), ", since they never ran"),
        )
        if count
    ]
    if large.any():
        advice = f"; machine_cores={enough} holds all but 1% of the core-hours" if enough > machine_cores else ""
        notes.append(
            f"{log.name}: {int(large.sum())} of the {kept.size} jobs taken, with {work[large].sum() / work.sum():.1%} of the "
            f"core-hours, are larger than a fixed machine of {machine_cores} cores and can only rent{advice}."
        )
    part = f"-{options.skip}+{kept.size}" if options.jobs or options.skip else ""
    instance = WaitingInstance(
        name=f"{log.name}{part}",
        submit_us=submit_us,
        runtime_us=runtime_us,
        cores=cores,
        memory_mib=memory_mib,
        horizon_us=max(1, int(submit_us[-1])),
        notes=(*log.notes, *notes),
        left_out=log.left_out,
        **machines,
        **waiting(options.wait_price, options.max_wait_h),
    )
    return with_history(instance, options.split)


def _taken(log: Log, never_ran: BoolArray, jobs: int, skip: int) -> IntArray:
    """Return the lines of the jobs that are taken, in order of submission."""
    if jobs < 0 or skip < 0:
        raise InstanceError(f"jobs is {jobs} and skip is {skip}; give numbers that are not negative.")
    kept = np.flatnonzero(~log.dropped & ~never_ran)
    kept = kept[np.argsort(log.submit_s[kept], kind="stable")]
    kept = kept[skip : skip + jobs if jobs else None]
    if not kept.size:
        raise InstanceError(
            f"{log.name}: no job is left of {log.submit_s.shape[0]}, {never_ran.sum()} of which never ran; "
            "give another part of the log."
        )
    return kept


def _check_sizes(log: Log, kept: IntArray) -> None:
    """Refuse what no instance holds, while it is still what the log has."""
    for what, values, limit, unit in (
        ("is submitted at", log.submit_s, MAX_TOTAL_US // SECOND_US, "s"),
        ("runs for", log.runtime_s, MAX_TOTAL_US // SECOND_US, "s"),
        ("needs", log.cores, MAX_UNITS, "cores"),
        ("needs", log.memory_mib, MAX_UNITS, "MiB"),
    ):
        if (i := first_true(values[kept] > limit)) is not None:
            raise InstanceError(
                f"{log.place(int(kept[i]))}: the job {what} {values[kept[i]]:.15g} {unit}, more than {limit}; mend or "
                "remove it."
            )


def cores_for(cores: IntArray, memory_mib: IntArray, work: FloatArray) -> int:
    """Return the smallest power of two of cores, with the memory of a fixed machine, that holds all but 1% of the work.

    cores, memory_mib, work : (J,).
    """
    needed = np.maximum(cores, -(-memory_mib // MIB_PER_CORE))
    order = np.argsort(needed, kind="stable")
    done = np.cumsum(work[order])
    most = int(needed[order][np.searchsorted(done, (1 - MAY_NOT_FIT) * done[-1])])
    return 1 << (most - 1).bit_length()


COLUMNS = ("submit_time", "runtime", "num_cores", "total_MB_req")
# Not all that Python reads is a number to others: `1_0`, `nan`, digits of other scripts.
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@flattened()
def lsf_csv(path: Path | str, *, options: LogOptions = OPTIONS) -> WaitingInstance:
    """Read a CSV file (plain or gzip) with the columns `submit_time`, `runtime` (s), `num_cores`, `total_MB_req`.

    Other columns are ignored, lines may be in any order. Parameters as those of `swf`. Raises `InstanceError` naming file,
    column and line of what is missing or no number.
    """
    path = Path(path)
    # A line takes 40 bytes; a million take 7 s, as those of `swf` do.
    lines, numbers = array("q"), array("d")
    for line, fields in read_rows(path, COLUMNS, "job log"):
        lines.append(line)
        numbers.extend([_number(path, line, name, fields[name]) for name in COLUMNS])
    submit_s, runtime_s, cores, memory_mib = np.array(numbers).reshape(-1, len(COLUMNS)).T
    log = Log(
        name=path.name.removesuffix(".gz").removesuffix(".csv"),
        submit_s=submit_s,
        runtime_s=runtime_s,
        cores=cores,
        memory_mib=np.maximum(memory_mib, 0),
        dropped=np.zeros(len(lines), np.bool_),
        place=lambda job: f"{path.name} line {lines[job]}",
    )
    return from_log(log, options)


def _number(path: Path, line: int, name: str, text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number) or (number < 0 and name == "submit_time"):
        found = f"'{text:.60}'" if text.strip() else "empty"
        raise InstanceError(f"{path.name} line {line}: {name} is {found}; give a number, from 0 on for times.")
    return number


@flattened()
def slurm(path: Path | str, *, options: LogOptions = OPTIONS, eligible: bool = True) -> WaitingInstance:
    """Read what `sacct --parsable2` printed, plain or gzip: every run that held cores of one node is a job.

    eligible : a job comes, and its wait begins, when it was eligible to run (after `--begin`, dependencies and limits of
    arrays); false: when it was submitted. Other parameters as those of `swf`. The notes count what was left out, jobs
    on several nodes among it, and what was relaxed.

    Raises `InstanceError` naming file, line, column and value of what is malformed.
    """
    log = read_log(path)
    wide = [job for job in log.jobs if job.nodes > 1]
    kept = [job for job in log.jobs if job.nodes == 1]
    with_gpus = [job.job_id for job in kept if job.gpus]
    notes = list(log.notes)
    if not kept:
        raise InstanceError(
            f"{log.name}: all {len(wide)} jobs that ran were on several nodes, which family {FAMILY} leaves out; "
            "--family reconfiguration machines=PATH takes them, a task a node."
        )
    if wide:
        hours = f"left out, on several nodes, with {core_hours(wide):.1f} of {core_hours(log.jobs):.1f} core-hours"
        notes.append(kind_note(log.name, hours, [job.job_id for job in wide]))
    if with_gpus:
        notes.append(kind_note(log.name, "relaxed, GPUs are dropped", with_gpus))
    mean_s = sum(job.start_s - job.eligible_s for job in kept) / len(kept)
    notes.append(f"{log.name}: its {len(kept)} jobs waited {mean_s:.1f} s on average from eligible to start.")
    begin_s = min(job.submit_s for job in kept)
    come_s = [(job.eligible_s if eligible else job.submit_s) - begin_s for job in kept]
    return from_log(
        Log(
            name=log.name,
            submit_s=np.array(come_s, np.float64),
            runtime_s=np.array([job.elapsed_s for job in kept], np.float64),
            cores=np.array([job.cores for job in kept], np.float64),
            memory_mib=np.array([job.memory_mib for job in kept], np.float64),
            dropped=np.zeros(len(kept), np.bool_),
            place=lambda job: f"{log.name} job {kept[job].job_id}",
            notes=tuple(notes),
            left_out=share_of("jobs on several machines", wide, log),
        ),
        options,
    )


NUM_FIELDS = 18
# Columns, from 0: 0 job number, 1 submit time, 3 run time, 4 allocated processors, 6 used memory (KB a processor), 7 requested
# processors, 9 requested memory (KB a processor), 10 status.
NUMBER, SUBMIT, RUNTIME, ALLOCATED, USED_MEMORY, REQUESTED, REQUESTED_MEMORY, STATUS = 0, 1, 3, 4, 6, 7, 9, 10
FAILED, CANCELLED = 0, 5
# A part of a run that was swapped out: to be continued, or the last one of a job that completed, or failed.
PARTS = (2, 3, 4)
# Lines that are converted at a time.
BLOCK = 10_000
# Bytes of a line; a block of numbers is as wide as the longest of them.
MOST_LINE = 1000


@flattened()
def swf(
    path: Path | str, *, options: LogOptions = OPTIONS, failed: bool = True, cancelled: bool = True
) -> WaitingInstance:
    """Read a log as an instance; the first submission is at time 0, jobs are put in order of submission.

    machine_cores : of a fixed machine, with 4 GiB a core; 0 for the smallest power of two that all jobs fit but those with
    1% of the core-hours. jobs, skip : take so many jobs after leaving out so many; 0 for all. split : the share of these
    jobs, in order of submission, that become the history of an instance of the others; 0 for none. failed, cancelled :
    keep jobs of these states that ran. Allocated processors count, requested ones where the former are unknown; likewise
    memory, which is 0 where neither is known. Jobs without a positive runtime or processors never ran and are left out, and
    lines of parts of a run beside that of the whole job; the instance's notes say how many.

    Raises `InstanceError` naming file and line of what is no number, or of a line that has not 18 fields.
    """
    path = Path(path)
    name = path.name.removesuffix(".gz").removesuffix(".swf")
    table = _table(path)
    is_part = np.isin(table[:, STATUS], PARTS)
    is_part &= (table[:, NUMBER] >= 0) & np.isin(table[:, NUMBER], table[~is_part, NUMBER])
    rows = np.flatnonzero(~is_part)
    table = table[rows]

    def place(job: int) -> str:
        return _place(path, int(rows[job]))

    # Later parts of a run have none.
    if (i := first_true(table[:, SUBMIT] < 0)) is not None:
        raise InstanceError(f"{place(i)}: submitted at {table[i, SUBMIT]:.15g}; times are numbers from 0 on.")
    cores = np.where(table[:, ALLOCATED] > 0, table[:, ALLOCATED], table[:, REQUESTED])
    memory_kib = np.where(table[:, USED_MEMORY] > 0, table[:, USED_MEMORY], table[:, REQUESTED_MEMORY])
    status = table[:, STATUS]
    dropped = np.zeros(table.shape[0], np.bool_)
    if not failed:
        dropped |= status == FAILED
    if not cancelled:
        dropped |= status == CANCELLED
    # What is too large even for floats is refused as all that is too large.
    with np.errstate(over="ignore"):
        memory_mib = np.maximum(memory_kib, 0) * np.maximum(cores, 1) / 1024
    log = Log(
        name=name,
        submit_s=table[:, SUBMIT],
        runtime_s=table[:, RUNTIME],
        cores=cores,
        memory_mib=memory_mib,
        dropped=dropped,
        place=place,
        notes=(f"{name}: {is_part.sum()} lines left out, parts of runs of jobs that have a line each.",)
        if is_part.any()
        else (),
    )
    return from_log(log, options)


def _table(path: Path) -> FloatArray:
    """(L, 18) float64: the numbers of all lines that are no comments, read in blocks: a line takes 144 bytes."""
    blocks: list[FloatArray] = []
    try:
        with unpacked(path) as file:
            jobs = _jobs(path, lines_of(file))
            while block := list(islice(jobs, BLOCK)):
                blocks.append(_numbers(path, block))
    except (OSError, EOFError, zlib.error) as error:
        raise InstanceError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); give an SWF file, plain or gzip."
        ) from None
    if not blocks:
        raise InstanceError(f"{path.name}: no job in it; give an SWF file.")
    return np.concatenate(blocks)


def _jobs(path: Path, file: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line of a job."""
    for number, line in enumerate(file, start=1):
        if len(line) > MOST_LINE:
            raise InstanceError(f"{path.name} line {number}: {len(line)} bytes long; give an SWF file.")
        fields = line.removeprefix(codecs.BOM_UTF8).split()
        if not fields or fields[0].startswith(b";"):
            continue
        if len(fields) != NUM_FIELDS:
            raise InstanceError(
                f"{path.name} line {number}: {len(fields)} fields, SWF has {NUM_FIELDS}; mend or remove the line."
            )
        yield number, fields


def _place(path: Path, job: int) -> str:
    """Return file and line of a job; the file is read again, as far as there."""
    with unpacked(path) as file:
        return f"{path.name} line {next(islice(_jobs(path, file), job, None))[0]}"


def _numbers(path: Path, block: list[tuple[int, list[bytes]]]) -> FloatArray:
    texts = np.array([fields for _, fields in block])
    try:
        table = texts.astype(np.float64)
    except ValueError:
        table = np.full((1, NUM_FIELDS), np.nan)
    # NumPy takes 1_0 for 10, as Python does.
    return table if np.isfinite(table).all() and b"_" not in texts.tobytes() else _slowly(path, block)


def _slowly(path: Path, block: list[tuple[int, list[bytes]]]) -> FloatArray:
    """Convert line by line, to name the first that cannot be."""
    for number, fields in block:
        for column, field in enumerate(fields, start=1):
            try:
                value = math.nan if b"_" in field else float(field)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                shown = field.decode(errors="replace")
                raise InstanceError(
                    f"{path.name} line {number}: field {column} is '{shown:.60}', SWF has numbers only."
                )
    return np.array([[float(field) for field in fields] for _, fields in block])
