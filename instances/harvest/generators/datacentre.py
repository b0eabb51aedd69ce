"""Seeded generators of SlackSched's experiments: what a data centre's on-demand VMs leave of its servers, and jobs for it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.parameters import GOAL, Goal, check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.generators.pools import POOL, Pool, PoolParameters, draw_pool
from schedgap.instances.harvest.generators.replay import MAX_DAYS, SERVER_CORES, replay
from schedgap.instances.harvest.generators.vms import Batches
from schedgap.instances.harvest.generators.wind import WIND, WindOptions
from schedgap.instances.harvest.generators.workloads import (
    CHANGES,
    Jobs,
    WorkloadChanges,
    draw_jobs,
    end_ms_of,
    ending_large,
    loaded,
    named_workload,
)
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.method import flattened
from schedgap.instances.units import DAY_MS

# Enough for 64 harvest VMs, or as many cores of spot VMs, of which only one is on a server.
SERVERS = 500
# Whole days, and not fewer: so the VMs of a seed are the same for most workloads.
LEAST_DAYS = 3


@flattened()
def datacentre(
    preset: str = "C2",
    vms: int = 64,
    *,
    seed: int = 0,
    servers: int = SERVERS,
    days: float = 0.0,
    workload: str = "light",
    changes: WorkloadChanges = CHANGES,
    pool: PoolParameters = POOL,
    wind: WindOptions = WIND,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Draw SlackSched's experiments: what on-demand VMs leave of a data centre's servers, and jobs of tasks for it.

    preset : the cluster, such as C2. vms : at the start. servers : of the cluster. days : that VMs change, after which they stay
    as they are; if 0, at least 3, and until the jobs must long be done. workload : `light` or `heavy`.

    Raises `InstanceError` for a parameter out of range.
    """
    return replayed(preset, preset, vms, seed, servers, days, workload, changes, pool, wind, goal)


def replayed(
    name: str,
    preset: str,
    vms: int,
    seed: int,
    servers: int,
    days: float,
    workload: str,
    changes: WorkloadChanges,
    pool: PoolParameters,
    wind: WindOptions,
    goal: Goal,
    arrivals: Batches | None = None,
) -> HarvestInstance:
    """Draw what `datacentre` says. name : begins the instance's. arrivals : batches of a trace, else drawn ones."""
    usual = named_workload(workload)
    chosen = changes.applied(usual)
    sizes = vm_sizes(pool.min_sizes, SERVER_CORES, chosen.core_sizes())
    check_ranges(("servers", servers, 1, 1_000_000), ("vms", vms, 1, servers), ("days", days, 0, MAX_DAYS))
    jobs = draw_jobs(chosen, seed)
    length = days or max(LEAST_DAYS, -(-end_ms_of(jobs, vms, SERVER_CORES, chosen.load) // DAY_MS))
    if length > MAX_DAYS:
        raise InstanceError(
            f"the jobs need {length:g} days to be sure to be done, and {MAX_DAYS} are the most; give shorter or fewer tasks, "
            "more vms, or days after which no VM changes."
        )
    full = replay(preset, servers=servers, days=length, seed=seed, arrivals=arrivals)
    free = wind.applied(full, length, seed)
    found = draw_pool(free, full, vms, seed, pool, sizes)
    parts = unusual({"servers": (servers, SERVERS), "days": (days, 0.0), "load": (chosen.load, usual.load)})
    parts += [*pool.unlike(POOL), *wind.unusual(), *goal.unusual()]
    parts += [Path(wind.wind_csv).stem] if wind.wind and wind.wind_csv else []
    name = "-".join([name, str(vms), workload, *chosen.unlike(usual), *parts, f"s{seed}"])
    return on_pool(name, found, jobs, free.end_ms, chosen.load, goal)


def on_pool(
    name: str,
    pool: Pool,
    jobs: Jobs,
    end_ms: int,
    load: float,
    goal: Goal,
    vm_names: tuple[str, ...] | None = None,
) -> HarvestInstance:
    """Return the instance of a pool and jobs, which offer a load if it is above 0. end_ms : of the VMs' changes."""
    peak = np.maximum.reduceat(pool.vms.event_cores, pool.vms.first_event[:-1])
    vms = ending_large(pool.vms, jobs, end_ms, peak)
    return HarvestInstance(
        name=name,
        allocation=pool.allocation,
        max_leases=pool.max_leases,
        base_price=pool.base_price,
        extra_price=pool.extra_price,
        leased=pool.leased,
        buffer=pool.buffer,
        vm_names=vm_names,
        **asdict(goal),
        **vms._asdict(),
        **(loaded(jobs, vms.only(pool.leased), load) if load else jobs)._asdict(),
    )
