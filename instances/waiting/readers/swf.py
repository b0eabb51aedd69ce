"""Job logs in the Standard Workload Format (Chapin et al. 1999; version 2.2 of the Parallel Workloads Archive).

A line a job with 18 numbers, -1 for unknown; `;` begins the header's comments. Plain text or gzip.
"""

from __future__ import annotations

import codecs
import math
import zlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import FloatArray, first_true
from schedgap.instances.documents.openings import lines_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import flattened
from schedgap.instances.unpacked import unpacked
from schedgap.instances.waiting.readers.job_lists import OPTIONS, Log, LogOptions, from_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedgap.instances.waiting.model import WaitingInstance

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

    Raises
    ------
    InstanceError
        naming file and line of what is no number, or of a line that has not 18 fields.
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
