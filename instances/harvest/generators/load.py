"""How busy jobs keep the VMs: the offered load of an instance, and jobs that arrive so as to offer a given one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.vms import Vms

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.generators.workloads import Jobs
    from schedgap.instances.harvest.model import HarvestInstance


def offered_load(instance: HarvestInstance) -> float:
    """Return the jobs' core-time as a share of what the VMs have while jobs arrive, infinite if all arrive at once.

    The VMs are those leased at the start. The time is from the first arrival to the last, and a mean interval more.
    """
    first, last, jobs = int(instance.arrival_ms[0]), int(instance.arrival_ms[-1]), instance.num_jobs
    vms = Vms(instance.first_event, instance.event_ms, instance.event_cores, instance.min_cores, instance.memory_mib)
    times, cores = total_cores(vms.only(instance.leased))
    have = float(np.diff(np.clip(np.append(times, last), first, last)) @ cores)
    work = float(np.repeat(instance.cores, np.diff(instance.first_task)) @ instance.runtime_ms)
    return work * (jobs - 1) / (jobs * have) if have else float("inf")


def total_cores(vms: Vms) -> tuple[IntArray, IntArray]:
    """Return moments, ascending, and the cores that all VMs together have from each on, until the next."""
    before = np.concatenate(([0], vms.event_cores[:-1]))
    before[vms.first_event[:-1]] = 0
    order = np.argsort(vms.event_ms, kind="stable")
    return vms.event_ms[order], np.cumsum((vms.event_cores - before)[order])


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
    times, cores = total_cores(vms)
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
