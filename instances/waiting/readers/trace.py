"""From the columns of a job log to an instance: what every reader does once it has read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.model import WaitingInstance
from schedgap.instances.waiting.prices import m5, waiting

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Columns of a log, (L,) each, in any order.

    dropped : lines that the reader was told to leave out. notes : what the reader has to say.
    """

    name: str
    submit_s: FloatArray
    runtime_s: FloatArray
    cores: FloatArray
    memory_mib: FloatArray
    dropped: BoolArray
    notes: tuple[str, ...] = ()


def from_log(
    log: Log, *, machine_cores: int, discount: float, jobs: int, skip: int, wait_price: float, max_wait_h: float
) -> WaitingInstance:
    """Return the instance of a log, with notes on what was left out and on jobs too large for a fixed machine.

    Raises
    ------
    InstanceError
        if no job is left, or for parameters out of range.
    """
    if jobs < 0 or skip < 0:
        raise InstanceError(f"jobs is {jobs} and skip is {skip}; give numbers that are not negative.")
    never_ran = ~log.dropped & ((log.runtime_s <= 0) | (log.cores <= 0))
    kept = np.flatnonzero(~log.dropped & ~never_ran)
    kept = kept[np.argsort(log.submit_s[kept], kind="stable")]
    kept = kept[skip : skip + jobs if jobs else None]
    if not kept.size:
        raise InstanceError(
            f"{log.name}: no job is left of {log.submit_s.shape[0]}, {never_ran.sum()} of which never ran; "
            "give another part of the log."
        )
    submit_us = np.rint(log.submit_s[kept] * SECOND_US).astype(np.int64)
    submit_us -= submit_us[0]
    runtime_us = np.maximum(1, np.rint(log.runtime_s[kept] * SECOND_US)).astype(np.int64)
    machines = m5(machine_cores, discount)
    cores = np.ceil(log.cores[kept]).astype(np.int64)
    memory_mib = np.ceil(log.memory_mib[kept]).astype(np.int64)
    large = int(((cores > machine_cores) | (memory_mib > machines["machine_memory_mib"])).sum())
    read = log.submit_s.shape[0]
    notes = [
        f"{log.name}: {count} of {whole} {what}."
        for count, whole, what in (
            (int(log.dropped.sum()), f"{read} jobs", "left out by their state"),
            (int(never_ran.sum()), f"{read} jobs", "left out, since they never ran"),
            (
                large,
                f"the {kept.size} jobs taken",
                f"are larger than a fixed machine of {machine_cores} cores and can only rent",
            ),
        )
        if count
    ]
    part = f"-{skip}+{kept.size}" if jobs or skip else ""
    return WaitingInstance(
        name=f"{log.name}{part}",
        submit_us=submit_us,
        runtime_us=runtime_us,
        cores=cores,
        memory_mib=memory_mib,
        horizon_us=max(1, int(submit_us[-1])),
        notes=(*log.notes, *notes),
        **machines,
        **waiting(wait_price, max_wait_h),
    )
