"""Slurm's job accounting (`sacct --parsable2`) as jobs that wait for fixed machines, or rent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.option_groups import flattened
from schedgap.instances.slurm import core_hours, kind_note, read_log
from schedgap.instances.waiting.readers.trace import OPTIONS, Log, LogOptions, from_log

if TYPE_CHECKING:
    from pathlib import Path

    from schedgap.instances.waiting.model import WaitingInstance


@flattened()
def slurm(path: Path | str, *, options: LogOptions = OPTIONS, eligible: bool = True) -> WaitingInstance:
    """Read what `sacct --parsable2` printed, plain or gzip: every run that held cores of one node is a job.

    eligible : a job comes, and its wait begins, when it was eligible to run (after `--begin`, dependencies and limits of
    arrays); false: when it was submitted. Other parameters as those of `swf`. The notes count what was left out, jobs
    on several nodes among it, and what was relaxed.

    Raises
    ------
    InstanceError
        naming file, line, column and value of what is malformed.
    """
    log = read_log(path)
    wide = [job for job in log.jobs if job.nodes > 1]
    kept = [job for job in log.jobs if job.nodes == 1]
    with_gpus = [job.job_id for job in kept if job.gpus]
    notes = list(log.notes)
    if wide:
        hours = f"left out, on several nodes, with {core_hours(wide):.1f} of {core_hours(log.jobs):.1f} core-hours"
        notes.append(kind_note(log.name, hours, [job.job_id for job in wide]))
    if with_gpus:
        notes.append(kind_note(log.name, "relaxed, GPUs are dropped", with_gpus))
    if kept:
        mean_s = sum(job.start_s - job.eligible_s for job in kept) / len(kept)
        notes.append(f"{log.name}: its {len(kept)} jobs waited {mean_s:.1f} s on average from eligible to start.")
    begin_s = min((job.submit_s for job in kept), default=0)
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
        ),
        options,
    )
