"""Jobs that arrive so as to offer the VMs a given load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.offered_load import total_cores

if TYPE_CHECKING:
    from schedgap.instances.harvest.generators.vms import Vms
    from schedgap.instances.harvest.generators.workloads import Jobs


def loaded(jobs: Jobs, vms: Vms, load: float, grid_ms: int = 1) -> Jobs:
    """Return the jobs with the times between arrivals stretched evenly so that the offered load is as given.

    Raises
    ------
    InstanceError
        if there are no times between arrivals.
    """
    count, first = jobs.arrival_ms.size, int(jobs.arrival_ms[0])
    if count == 1:
        raise InstanceError(
            f"load is {load:g} for a single job, which has no rate of arrivals; give more jobs, or no load."
        )
    times, cores = total_cores(vms.first_event, vms.event_ms, vms.event_cores)
    edges = np.append(np.maximum(times, first), max(int(times[-1]), first))
    have = np.concatenate(([0.0], np.cumsum(np.diff(edges) * cores.astype(np.float64))))
    need = jobs.work() * (count - 1) / (count * load)
    # Beyond the last event, the last sizes hold for ever.
    beyond = max(0.0, need - float(have[-1])) / max(1.0, float(cores[-1]))
    last = float(np.interp(need, have, edges)) + beyond
    gaps = jobs.arrival_ms - first
    if not gaps[-1]:
        raise InstanceError(f"load is {load:g} and all jobs arrive at once; let interarrival_min be positive.")
    stretched = np.ceil(np.rint(gaps * ((last - first) / float(gaps[-1]))) / grid_ms) * grid_ms
    return jobs._replace(arrival_ms=first + stretched.astype(np.int64))
