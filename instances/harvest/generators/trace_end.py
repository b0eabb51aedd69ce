"""The end of the VMs' traces: late enough for the jobs, and with room for every task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.units import HOUR_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.generators.vms import Vms
    from schedgap.instances.harvest.generators.workloads import Jobs

# VMs change for as long as the work takes if so much of all possible cores is there for it, then for the time of so many of
# the longest tasks, and these hours more. Then their last sizes hold.
CORES_SHARE, LONGEST_TASKS, SLACK_HOURS = 0.3, 4, 12


def ending_large(vms: Vms, jobs: Jobs, end_ms: int, peak: IntArray) -> Vms:
    """Return VMs of which one fits every task in the end: if none does, one that ever can has its peak again from then on.

    peak : (V,) int64, the most cores that a VM can have. Without any that could, the VMs are returned as they are.
    """
    last = vms.event_cores[vms.first_event[1:] - 1]
    able = (vms.memory_mib >= jobs.task_memory_mib.max()) & (peak >= jobs.cores.max())
    if not able.any() or last[able].max() >= jobs.cores.max():
        return vms
    chosen = int(np.argmax(np.where(able, peak, -1)))
    at = int(vms.first_event[chosen + 1])
    return vms._replace(
        first_event=vms.first_event + (np.arange(vms.first_event.size) > chosen),
        event_ms=np.insert(vms.event_ms, at, end_ms),
        event_cores=np.insert(vms.event_cores, at, peak[chosen]),
    )


def end_ms_of(jobs: Jobs, vms: int, most_cores: int, load: float) -> int:
    """Return a moment at which the jobs are sure to be long done, unless they ask for more than the VMs have."""
    first, last = int(jobs.arrival_ms[0]), int(jobs.arrival_ms[-1])
    busy_ms = int(jobs.work() / (CORES_SHARE * most_cores * vms * min(1.0, load or 1.0)))
    longest_ms = LONGEST_TASKS * int(jobs.runtime_ms.max())
    return max(0 if load else last, first + busy_ms) + longest_ms + SLACK_HOURS * HOUR_MS
